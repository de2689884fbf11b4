import { describe, expect, it } from 'vitest';
import { asStarted } from '../../src/machine/processes/child.ts';
import { whichProgram } from '../../src/machine/programs/discovery.ts';
import { searchPath } from '../../src/machine/programs/search-path.ts';
import { fakeHost, programs, type Files } from './fake-host.ts';
import { find, pathOf, program } from './find-program.ts';
import { npmCmd, pnpmShim, tscCmd, yarnClassic } from './recorded/windows-shims.ts';

describe('discovery on Windows', () => {
  const nodejs = 'C:\\Program Files\\nodejs';
  const roaming = 'C:\\Users\\ada\\AppData\\Roaming';
  const windows = (files: Files, env: Record<string, string> = {}) =>
    fakeHost({ platform: 'win32', env: { APPDATA: roaming, ...env }, home: 'C:\\Users\\ada', files });

  it('ATTACK 45: never takes a git.exe planted in the project', async () => {
    const host = windows(programs('C:\\project\\git.exe', 'C:\\project\\git.cmd', 'C:\\Git\\cmd\\git.exe'), {
      Path: '.;;project;C:\\Git\\cmd',
    });
    const path = await searchPath(host);
    expect(await find(program('git'), host, path)).toMatchObject({
      program: 'C:\\Git\\cmd\\git.exe',
      others: [],
    });
    expect(await whichProgram('git', host, path)).toMatchObject({
      installed: { program: 'C:\\Git\\cmd\\git.exe', others: [] },
    });
    expect(await find(program('git'), host, pathOf('C:\\Windows'))).toBe('no git in one folder');
  });

  it('follows PATHEXT in a folder, in any case, and leaves alone what cannot be started', async () => {
    const host = windows(
      programs('C:\\a\\tool', 'C:\\a\\tool.PS1', 'C:\\a\\tool.js', 'C:\\a\\TOOL.EXE', 'C:\\a\\tool.cmd'),
      {
        PATHEXT: '.JS;.CMD;.EXE',
      },
    );
    expect(await find(program('tool'), host, pathOf('C:\\a'))).toMatchObject({
      program: 'C:\\a\\tool.cmd',
      others: [{ path: 'C:\\a\\TOOL.EXE' }],
    });
    expect(await find(program('tool'), { ...host, env: {} }, pathOf('C:\\a'))).toMatchObject({
      program: 'C:\\a\\TOOL.EXE',
    });
    expect(await find(program('tool.exe'), host, pathOf('C:\\a'))).toMatchObject({
      program: 'C:\\a\\TOOL.EXE',
    });
  });

  it('ATTACK 92: starts node.exe with the script of npm, not npm.cmd', async () => {
    const script = `${nodejs}\\node_modules\\npm\\bin\\npm-cli.js`;
    const files: Files = {
      ...programs(`${nodejs}\\node.exe`, `${nodejs}\\npm`, script),
      [`${nodejs}\\npm.cmd`]: { head: npmCmd },
    };
    expect(await find(program('npm'), windows(files), pathOf(nodejs))).toMatchObject({
      program: `${nodejs}\\node.exe`,
      leading: [script],
    });

    const newer = `${roaming}\\npm\\node_modules\\npm\\bin\\npm-cli.js`;
    expect(
      await find(program('npm'), windows({ ...files, ...programs(newer) }), pathOf(nodejs)),
    ).toMatchObject({
      program: `${nodejs}\\node.exe`,
      leading: [newer],
    });
  });

  it('ATTACK 92: starts node.exe with the scripts that npm and pnpm install', async () => {
    const folder = `${roaming}\\npm`;
    const tsc = `${folder}\\node_modules\\typescript\\bin\\tsc`;
    const pnpm = 'C:\\Users\\ada\\AppData\\Local\\pnpm\\global\\5\\node_modules\\eslint\\bin\\eslint.js';
    const files: Files = {
      ...programs(`${nodejs}\\node.exe`, tsc, pnpm),
      [`${folder}\\tsc.cmd`]: { head: tscCmd },
      'C:\\Users\\ada\\AppData\\Local\\pnpm\\eslint.CMD': { head: pnpmShim },
    };
    const path = pathOf(folder, 'C:\\Users\\ada\\AppData\\Local\\pnpm', nodejs);
    expect(await find(program('tsc'), windows(files), path)).toMatchObject({
      program: `${nodejs}\\node.exe`,
      leading: [tsc],
    });
    expect(await find(program('eslint'), windows(files), path)).toMatchObject({
      program: `${nodejs}\\node.exe`,
      leading: [pnpm],
    });
  });

  it('leaves any other batch file as it is', async () => {
    const files: Files = {
      'C:\\a\\mvn.cmd': { head: '@echo off\r\n"%JAVA_HOME%\\bin\\java.exe" %*\r\n' },
      'C:\\a\\yarn.cmd': { head: yarnClassic },
      // Its script is gone.
      'C:\\a\\tsc.cmd': { head: tscCmd },
    };
    for (const name of ['mvn', 'yarn', 'tsc']) {
      expect(await find(program(name), windows(files), pathOf('C:\\a'))).toMatchObject({
        program: `C:\\a\\${name}.cmd`,
        leading: [],
      });
    }
  });

  it('recognises the batch files of pyenv', async () => {
    const shims = 'C:\\Users\\ada\\.pyenv\\pyenv-win\\shims';
    const host = windows(programs(`${shims}\\pip.bat`));
    expect(await find(program('pip'), host, pathOf(shims))).toMatchObject({ shim: 'pyenv' });
  });

  it('finds known places below the variables of Windows', async () => {
    const host = windows(programs('C:\\Program Files\\Git\\cmd\\git.exe'), {
      PROGRAMFILES: 'C:\\Program Files',
    });
    const facts = program('git', { elsewhere: { win32: ['%ProgramFiles%\\Git\\cmd\\git.exe'] } });
    expect(await find(facts, host, pathOf())).toMatchObject({
      program: 'C:\\Program Files\\Git\\cmd\\git.exe',
    });
  });
});

it.each(['"&calc.exe', '%PATH%', 'a!b', 'a\nb', '100%'])(
  'ATTACK 92: hands no %j to a Windows batch file',
  (argument) => {
    expect(() => asStarted('C:\\Program Files\\nodejs\\npm.cmd', ['run', argument], 'win32')).toThrow(
      /batch file/,
    );
  },
);

it('ATTACK 92: quotes for cmd.exe what is handed to a Windows batch file', () => {
  expect(asStarted('C:\\Program Files\\x\\npm.cmd', ['run', 'a b', 'c&d', 'e^f', 'g\\'], 'win32')).toEqual({
    file: expect.stringMatching(/\\System32\\cmd\.exe$/),
    args: [
      '/d',
      '/e:on',
      '/v:off',
      '/s',
      '/c',
      '""C:\\Program Files\\x\\npm.cmd" "run" "a b" "c&d" "e^f" "g\\\\""',
    ],
    verbatim: true,
  });
  expect(asStarted('C:\\x\\git.exe', ['%PATH%'], 'win32')).toMatchObject({
    args: ['%PATH%'],
    verbatim: false,
  });
});
