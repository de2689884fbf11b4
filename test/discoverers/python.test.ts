import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callAction, planOf, saidBy } from '../support/call-action.ts';
import { temporaryFolder } from '../support/repository.ts';
import { programOf } from './programs.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

const python = programOf('python');
const pip = programOf('pip');

describe('python', () => {
  it.each(['-c', '--help', 'a b', 'os;x', './evil', 'a..b', 'a-b', ''])(
    'refuses %j as a module',
    (module) => {
      expect(() => argvOf(python, 'run_module', { module })).toThrow(/expected a module name/);
    },
  );

  it('refuses a script that would be an option, and runs code that begins like one', () => {
    expect(() => argvOf(python, 'run', { file: '-cimport os' })).toThrow(/read as an option/);
    expect(argvOf(python, 'eval', { code: '-1' })).toEqual(['-c-1']);
  });

  it('says that an interpreter of the project runs its code', () => {
    for (const of of [python, pip])
      for (const { effects } of Object.values(of.actions)) expect(effects).toContain('execute');
  });
});

describe('pip', () => {
  it('reads what is installed, outdated and broken', () => {
    expect(reportOf(pip, 'list', { stdout: recorded('pip/list.json') }).text).toMatch(
      /^13 packages\nblinker 1\.9\.0\n/,
    );
    const edited = '[{"name": "shop", "version": "0.1", "editable_project_location": "/home/dev/shop"}]';
    expect(reportOf(python, 'pip_list', { stdout: edited }).text).toContain('(editable: /home/dev/shop)');
    expect(reportOf(pip, 'outdated', { stdout: recorded('pip/outdated.json') }).text).toBe(
      '2 packages\npip 23.2.1 -> 26.2.1\nsetuptools 65.5.0 -> 84.0.0',
    );
    expect(reportOf(pip, 'check', { stdout: recorded('pip/check-problems.txt'), exitCode: 1 }).text).toBe(
      '1 problem\nrequests 2.34.2 requires idna, which is not installed.',
    );
    expect(reportOf(pip, 'check', { stdout: 'No broken requirements found.\n' }).text).toBe('no problems');
  });

  it('does not say that nothing is outdated when it could ask nobody', () => {
    const offline = { stdout: '[]', stderr: recorded('pip/outdated-offline.txt') };
    expect(() => reportOf(pip, 'outdated', offline)).toThrow(/could not be reached/);
    expect(() => reportOf(programOf('uv'), 'outdated', offline)).toThrow(/could not be reached/);
  });

  it.each(['requests', 'requests==2.32.3', 'uvicorn[standard]>=0.30,<1', 'torch==2.4.1+cpu', 'django==5.*'])(
    'installs the package that %s names',
    (spec) => expect(argvOf(pip, 'install', { packages: [spec] }).at(-1)).toBe(spec),
  );

  const noSpecs = `--index-url=http://evil -r/etc/x -e. . ./evil evil/ git+https://evil/x C:evil x@https://evil evil.whl
    evil.ZIP[extra] x==1.0.zip`;
  const withBlanks = [
    '',
    'x @ https://evil/x.whl',
    'x --hash=y',
    'x; python_version > "3"',
    'x\n--index-url=http://evil',
  ];
  it.each([...noSpecs.split(/\s+/), ...withBlanks])('22: refuses to install %j as a package', (spec) => {
    expect(() => argvOf(pip, 'install', { packages: [spec] })).toThrow(/expected/);
    expect(() => argvOf(programOf('poetry'), 'add', { packages: [spec] })).toThrow(/expected/);
  });

  it('installs -r files and -e folders, and builds only when told to', () => {
    expect(
      argvOf(pip, 'install', { requirements: ['a.txt', 'b.txt'], editable: '.', extras: ['test'] }),
    ).toEqual(
      [
        'install',
        '--require-virtualenv',
        '--only-binary=:all:',
        '--requirement=a.txt',
        '--requirement=b.txt',
      ].concat(['--editable=.[test]', '--']),
    );
    expect(argvOf(pip, 'install', { packages: ['x'], allow_build: true })).not.toContain(
      '--only-binary=:all:',
    );
    expect(argvOf(python, 'pip_install', { editable: '.' }).slice(0, 4)).toEqual([
      '-I',
      '-m',
      'pip',
      'install',
    ]);
  });
});

describe('a project whose packages another program keeps', () => {
  it.each([
    ['uv.lock', 'poetry', 'install', 'uv_install {}'],
    ['uv.lock', 'pip', 'install', 'uv_add {"packages":["idna"]}'],
    ['uv.lock', 'python', 'pip_install', 'uv_add {"packages":["idna"]}'],
    ['poetry.lock', 'pip', 'remove', 'poetry_remove {"packages":["idna"]}'],
    ['poetry.lock', 'uv', 'add', 'poetry_add {"packages":["idna"]}'],
    ['uv.lock', 'poetry', 'update', 'uv_update {"packages":["idna"]}'],
  ])('%s: refuses %s %s with the right call', async (lock, id, action, call) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, lock), '');
    const given = call.endsWith('{}') ? {} : { packages: ['idna'] };
    const said = await callAction(programOf(id), action, given, { folder, program: '/bin/true' });
    expect(saidBy(said)).toContain(call);
    const owner = programOf(lock.split('.')[0]!);
    await planOf(
      owner,
      action === 'remove' ? 'remove' : 'add',
      { packages: ['idna'] },
      {
        folder,
        program: '/bin/true',
      },
    );
  });

  it('lets pip install what the project itself says', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'uv.lock'), '');
    const plan = await planOf(pip, 'install', { editable: '.' }, { folder, program: '/bin/true' });
    expect(plan.subject).toMatch(/^python3 -m pip install .*--editable=/);
  });
});

it('reads what Poetry lists', () => {
  expect(reportOf(programOf('poetry'), 'list', { stdout: recorded('poetry/show.txt') }).text).toBe(
    '2 packages\nidna 3.20\nsix 1.17.0',
  );
  const absent = reportOf(programOf('poetry'), 'list', { stdout: 'six (!) 1.17.0 Python 2 and 3\n' });
  expect(absent.text).toBe('1 package\nsix 1.17.0 - not installed');
  const outdated = reportOf(programOf('poetry'), 'outdated', {
    stdout: 'idna 3.18 3.20 International names\n',
  });
  expect(outdated.text).toBe('1 package\nidna 3.18 -> 3.20');
});
