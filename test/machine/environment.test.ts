import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { childEnvironment } from '../../src/machine/programs/child-environment.ts';
import { thisHost, type Host } from '../../src/machine/host.ts';
import { searchPath } from '../../src/machine/programs/search-path.ts';
import { fakeHost, programs } from './fake-host.ts';
import { temporaryFolder } from '../support/repository.ts';

const foldersOf = async (...given: Parameters<typeof searchPath>) =>
  (await searchPath(...given)).folders.map(({ folder, source }) => `${folder} <- ${source}`);

describe.skipIf(process.platform === 'win32')('the search path of this computer', () => {
  let home: string;
  let host: Host;
  const folder = (name: string, mode = 0o755) => {
    const path = join(home, name);
    mkdirSync(path, { recursive: true });
    chmodSync(path, mode);
    return path;
  };
  const withPath = (...entries: string[]): Host => ({ ...host, env: { PATH: entries.join(':') } });
  beforeEach(() => {
    home = temporaryFolder();
    host = { ...thisHost(), home, env: {} };
  });

  it('merges our own PATH, the login shell’s and known folders in this order, each folder once', async () => {
    const [first, second, cargo] = [folder('first'), folder('second'), folder('.cargo/bin')];
    const found = await foldersOf(withPath(first, '/usr/bin'), {
      shell: '/bin/zsh',
      path: `/usr/bin:${second}:${first}/`,
    });
    expect(found.slice(0, 3)).toEqual([
      `${first} <- PATH`,
      '/usr/bin <- PATH',
      `${second} <- login shell (/bin/zsh)`,
    ]);
    expect(found).toContain(`${cargo} <- known folder`);
  });

  it('ATTACK 45: leaves out entries that are relative or can be written by everyone', async () => {
    const [open, sticky] = [folder('open', 0o777), folder('sticky', 0o1777)];
    const { folders, skipped } = await searchPath(
      withPath('', '.', 'bin', '~/bin', open, sticky, join(home, 'gone')),
    );
    expect(folders.every(({ source }) => source !== 'PATH')).toBe(true);
    expect(
      skipped.map(({ folder: path, why }) => `${path}: ${why.split(/[ ,]/).slice(0, 2).join(' ')}`),
    ).toEqual([
      ': depends on',
      '.: depends on',
      'bin: depends on',
      '~/bin: depends on',
      `${open}: everyone can`,
      `${sticky}: everyone can`,
      `${join(home, 'gone')}: does not`,
    ]);
  });

  it('ATTACK 47: leaves out the folders of a project', async () => {
    const binaries = folder('app/node_modules/.bin');
    const tools = folder('app/tools');
    const venv = folder('app/.venv/bin');
    writeFileSync(join(home, 'app/.venv/pyvenv.cfg'), '');
    const own = folder('.local/bin');
    const path = withPath(binaries, tools, venv, own);

    const without = await searchPath(path);
    expect(without.skipped.map(({ folder: skipped }) => skipped)).toEqual([binaries]);

    const inProject = await searchPath(path, undefined, [join(home, 'app')]);
    expect(inProject.skipped.map(({ folder: skipped }) => skipped)).toEqual([binaries, tools, venv]);
    expect(inProject.skipped[2]?.why).toContain('lies in the project');

    // With the home folder as root, what a person installed there for themselves still counts.
    symlinkSync(home, `${home}-link`);
    const inHome = await searchPath({ ...path, home: `${home}-link` }, undefined, [home]);
    rmSync(`${home}-link`);
    expect(inHome.skipped.map(({ folder: skipped }) => skipped)).toEqual([binaries, venv]);
  });

  it('looks first where a terminal would, when its own PATH is that of a desktop host', async () => {
    const [tools, own] = [folder('tools'), folder('own')];
    const shell = { shell: '/bin/zsh', path: `${tools}:/usr/bin:/bin` };
    const bare = await foldersOf(withPath('/usr/local/bin', '/usr/bin', '/bin'), shell);
    expect(bare[0]).toBe(`${tools} <- login shell (/bin/zsh)`);
    // What somebody has put there, an activated environment, wins.
    expect((await foldersOf(withPath(own, '/usr/bin', '/bin'), shell))[0]).toBe(`${own} <- PATH`);
  });

  it('takes each version that managers keep, the newest first', async () => {
    for (const version of ['v9.1.0', 'v20.11.1', 'v22.3.0']) folder(`.nvm/versions/node/${version}/bin`);
    const java = folder('.sdkman/candidates/java/current/bin');
    const found = await foldersOf(host);
    expect(found).toContain(`${java} <- known folder`);
    expect(
      found.filter((one) => one.includes('.nvm')).map((one) => /\/(v[\d.]+)\/bin/.exec(one)?.[1]),
    ).toEqual(['v22.3.0', 'v20.11.1', 'v9.1.0']);
  });
});

describe('the search path of other platforms', () => {
  it('reads the Path of Windows: any case, semicolons, quotes, and only full paths', async () => {
    const host = fakeHost({
      platform: 'win32',
      env: {
        Path: '"C:\\Program Files\\Git\\cmd";c:\\program files\\git\\cmd\\;\\tools;C:tools;.;C:\\Windows',
        APPDATA: 'C:\\R',
      },
      home: 'C:\\Users\\ada',
      files: programs(
        'C:\\Program Files\\Git\\cmd\\git.exe',
        'C:\\Windows\\py.exe',
        'C:\\R\\npm\\tsc.cmd',
        'C:\\Users\\ada\\scoop\\shims\\jq.exe',
      ),
    });
    const { folders, skipped } = await searchPath(host);
    expect(folders).toEqual([
      { folder: 'C:\\Program Files\\Git\\cmd', source: 'PATH' },
      { folder: 'C:\\Windows', source: 'PATH' },
      { folder: 'C:\\R\\npm', source: 'known folder' },
      { folder: 'C:\\Users\\ada\\scoop\\shims', source: 'known folder' },
    ]);
    expect(skipped.map(({ folder }) => folder)).toEqual(['\\tools', 'C:tools', '.']);
  });

  it('finds Homebrew where a macOS host was started with launchd’s PATH', async () => {
    const host = fakeHost({
      platform: 'darwin',
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
      home: '/Users/ada',
      files: programs('/usr/bin/git', '/bin/ls', '/opt/homebrew/bin/node', '/Users/ada/.volta/bin/node'),
    });
    expect(await foldersOf(host)).toEqual([
      '/usr/bin <- PATH',
      '/bin <- PATH',
      '/Users/ada/.volta/bin <- known folder',
      '/opt/homebrew/bin <- known folder',
    ]);
  });
});

describe('the environment of a child', () => {
  const path = {
    folders: [
      { folder: '/a', source: 'PATH' },
      { folder: '/b', source: 'cargo' },
    ],
    skipped: [],
    stamp: '',
  };
  const hostWith = (env: Record<string, string>, platform: Host['platform'] = 'linux') =>
    fakeHost({ platform, env, home: '/home/ada', files: {} });

  it('ATTACK 95: has only listed variables and those of the operator, and no secrets of ours', () => {
    const env = {
      HOME: '/h',
      LC_ALL: 'C',
      XDG_RUNTIME_DIR: '/r',
      https_proxy: 'p',
      AWS_SECRET_ACCESS_KEY: 's',
      GITHUB_TOKEN: 't',
      JAVA_HOME: '/j',
    };
    const child = childEnvironment(hostWith(env), path, ['JAVA_HOME'], { LANG: 'C.UTF-8' });
    expect(child).toMatchObject({
      HOME: '/h',
      LC_ALL: 'C',
      XDG_RUNTIME_DIR: '/r',
      https_proxy: 'p',
      JAVA_HOME: '/j',
      LANG: 'C.UTF-8',
    });
    expect(child['PATH']).toBe('/a:/b');
    expect(Object.keys(child).filter((name) => /SECRET|TOKEN/.test(name))).toEqual([]);
  });

  it('ATTACK 97: answers in advance what programs would ask a person', () => {
    expect(
      childEnvironment(hostWith({ GIT_PAGER: 'less', TERM: 'xterm' }), path, ['GIT_PAGER', 'TERM'], {}),
    ).toMatchObject({
      GIT_TERMINAL_PROMPT: '0',
      GIT_EDITOR: ':',
      GIT_PAGER: 'cat',
      PAGER: 'cat',
      SSH_ASKPASS_REQUIRE: 'never',
      GCM_INTERACTIVE: 'never',
      npm_config_yes: 'true',
      CI: '1',
      DEBIAN_FRONTEND: 'noninteractive',
      PIP_NO_INPUT: '1',
      NO_COLOR: '1',
      TERM: 'dumb',
    });
  });

  it('ATTACK 45: keeps Windows from looking in the working directory', () => {
    const child = childEnvironment(
      hostWith(
        { SYSTEMROOT: 'C:\\Windows', 'ProgramFiles(x86)': 'C:\\P', Node_Options: 'evil', java_home: 'C:\\J' },
        'win32',
      ),
      {
        folders: [
          { folder: 'C:\\a', source: 'PATH' },
          { folder: 'C:\\b', source: 'PATH' },
        ],
        skipped: [],
        stamp: '',
      },
      ['JAVA_HOME'],
      {},
    );
    expect(child).toMatchObject({
      NoDefaultCurrentDirectoryInExePath: '1',
      SYSTEMROOT: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\P',
      java_home: 'C:\\J',
      PATH: 'C:\\a;C:\\b',
    });
    expect(Object.values(child)).not.toContain('evil');
  });

  it('has a home folder where we were started without one', () => {
    expect(childEnvironment(hostWith({}), path, [], {})['HOME']).toBe('/home/ada');
    expect(childEnvironment(hostWith({}, 'win32'), path, [], {})['USERPROFILE']).toBe('/home/ada');
  });
});
