import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { discover } from '../../src/machine/programs/discovery.ts';
import { thisHost, type Host } from '../../src/machine/host.ts';
import { askLoginShell, cachedLoginShellPath, loginShellOf } from '../../src/machine/programs/login-shell.ts';
import { createProcesses, type Run } from '../../src/machine/processes/process.ts';
import { searchPath } from '../../src/machine/programs/search-path.ts';
import { fakeHost } from './fake-host.ts';
import { isRunningIn } from '../support/is-running.ts';
import { temporaryFolder } from '../support/repository.ts';

const { run } = createProcesses(process.platform === 'darwin' ? 'darwin' : 'linux');

describe.skipIf(process.platform === 'win32')('the login shell', () => {
  let home: string;
  let cache: string;
  let host: Host;
  beforeEach(() => {
    home = temporaryFolder();
    cache = join(home, '.cache');
    // What `env -i HOME=… PATH=/usr/bin:/bin` leaves: not even SHELL.
    host = { ...thisHost(), home, env: { HOME: home, PATH: '/usr/bin:/bin' } };
  });

  const write = (name: string, content: string, mode = 0o644) => {
    mkdirSync(join(home, name, '..'), { recursive: true });
    writeFileSync(join(home, name), content, { mode });
    return join(home, name);
  };
  /** A login shell of our making, whose start-up files do something before it runs its command. */
  const shellThat = (does: string) => write('shell', `#!/bin/sh\n${does}\nexec /bin/sh -c "$2"\n`, 0o755);
  /** It waits longer than usual: a busy machine may need more for anything. */
  const patient: Run = (command) => run({ ...command, timeoutMs: 60_000 });
  const ask = (shell: string, withRun = patient) => askLoginShell(host, withRun, cache, shell);

  it('reports a folder that a start-up file adds, and programs in it are found', async () => {
    write('.bash_profile', 'echo "Welcome!"\nexport PATH="$HOME/tools:$PATH"\nprintf "no line feed"\n');
    const tool = write('tools/frobnicate', '#!/bin/sh\n', 0o755);
    const answer = await ask('/bin/bash');
    expect(answer?.why).toBeUndefined();
    expect(answer?.path.split(':')[0]).toBe(join(home, 'tools'));

    const path = await searchPath(host, answer);
    const facts = {
      id: 'frob',
      title: '',
      category: 'other',
      site: '',
      called: ['frobnicate'],
      install: {},
    } as const;
    const { installed } = await discover([facts], host, path);
    expect(installed.get('frob')).toMatchObject({ program: tool, source: 'login shell (/bin/bash)' });
  });

  it.for([
    ['sh', '.profile', 'export PATH=/added/by/profile:$PATH'],
    ['dash', '.profile', 'export PATH=/added/by/profile:$PATH'],
    ['zsh', '.zshrc', 'path=(/added/by/profile $path)'],
    ['fish', '.config/fish/config.fish', 'set -gx PATH /added/by/profile $PATH'],
  ] as const)('is understood when it is %s', async ([name, file, line], { skip }) => {
    const shell = ['/bin', '/usr/bin', '/usr/local/bin'].map((folder) => join(folder, name)).find(existsSync);
    if (shell === undefined) return skip(`${name} is not installed`);
    write(file, `${line}\n`);
    expect((await ask(shell))?.path.split(':')[0]).toBe('/added/by/profile');
  });

  it.for(['bash', 'zsh', 'fish', 'ksh', 'tcsh'])(
    'leaves nothing in a new home when it is %s',
    async (name, { skip }) => {
      const shell = ['/bin', '/usr/bin', '/usr/local/bin']
        .map((folder) => join(folder, name))
        .find(existsSync);
      if (shell === undefined) return skip(`${name} is not installed`);
      expect((await ask(shell))?.path).toContain('/usr/bin');
      expect(readdirSync(home)).toEqual(['.cache']);
      expect(readdirSync(cache)).toEqual(expect.arrayContaining(['login-shell.json']));
    },
  );

  it('ATTACK 48: has no banner taken for its PATH, even one that looks like an answer', async () => {
    const shell = shellThat(
      'echo "PATH=/evil:/usr/bin"; echo toolcrib-1234; echo /evil; seq 1 200000; export PATH=/good:$PATH',
    );
    expect((await ask(shell))?.path).toMatch(/^\/good:\/usr\/local\/bin:/);
  });

  it('ATTACK 48: finds no terminal and no input in a question', async () => {
    const shell = shellThat(
      'printf "Update now? [Y/n] "; read answer; read answer </dev/tty; [ -z "$answer" ] && export PATH=/asked:$PATH',
    );
    expect((await ask(shell))?.path).toMatch(/^\/asked:/);
  });

  it('ATTACK 48: is stopped after 3 s with all it started, and not asked again at once', async () => {
    const shell = shellThat(`sleep 40 & echo $! > ${home}/child; sleep 40`);
    const answer = await ask(shell, run);
    expect(answer).toMatchObject({ path: '', why: `${shell} took longer than 3 s and was stopped` });
    expect(isRunningIn(join(home, 'child'))).toBe(false);
    expect(await cachedLoginShellPath(host, cache, shell)).toMatchObject({ path: '', fresh: true });
  });

  it('ATTACK 48: starts a daemon that is not waited for and not left behind', async () => {
    const shell = shellThat(`setsid sleep 300 & echo $! > ${home}/child; export PATH=/daemon:$PATH`);
    expect((await ask(shell))?.path).toMatch(/^\/daemon:/);
    expect(isRunningIn(join(home, 'child'))).toBe(false);
  });

  it('has the reason reported when there is no answer', async () => {
    expect((await ask('/bin/false'))?.why).toBe('/bin/false did not say its PATH (exit code 1)');
    expect((await ask(join(home, 'gone')))?.why).toContain(`${join(home, 'gone')} could not be started`);
  });

  it('is remembered for some minutes', async () => {
    write('.profile', 'export PATH=/one:$PATH\n');
    expect(await cachedLoginShellPath(host, cache, '/bin/sh')).toBeUndefined();
    await ask('/bin/sh');
    expect(await cachedLoginShellPath(host, cache, '/bin/sh')).toMatchObject({
      fresh: true,
      shell: '/bin/sh',
    });
    expect(await cachedLoginShellPath(host, cache, '/bin/bash')).toBeUndefined();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * 60_000 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    expect(await cachedLoginShellPath(host, cache, '/bin/sh')).toMatchObject({ fresh: false });
  });

  it('has its last answer kept when it fails', async () => {
    const shell = shellThat('export PATH=/before:$PATH');
    await ask(shell);
    write('shell', '#!/bin/sh\nexit 3\n', 0o755);
    const answer = await ask(shell);
    expect(answer?.path).toMatch(/^\/before:/);
    expect(answer?.why).toContain('exit code 3');
  });

  it('learns no folders of a project from our own PATH, and gets none of our secrets', async () => {
    host = { ...host, env: { ...host.env, PATH: '/project/bin:/usr/bin:/bin', API_TOKEN: 'secret' } };
    const shell = shellThat(`env > ${home}/seen`);
    expect((await ask(shell))?.path).not.toContain('/project');
    expect(readFileSync(join(home, 'seen'), 'utf8')).not.toMatch(/project|secret/);
  });
});

describe('the choice of the login shell', () => {
  const hostWith = (env: Record<string, string>, platform: Host['platform'] = 'linux') =>
    fakeHost({ platform, env, home: '/home/ada', files: {} });

  it('takes $SHELL, else the shell of the user database, and none on Windows', () => {
    expect(loginShellOf(hostWith({ SHELL: '/bin/zsh' }), () => '/bin/sh')).toBe('/bin/zsh');
    expect(loginShellOf(hostWith({}), () => '/bin/sh')).toBe('/bin/sh');
    expect(loginShellOf(hostWith({}), () => null)).toBeUndefined();
    expect(loginShellOf(hostWith({ SHELL: 'zsh' }))).toBeUndefined();
    expect(loginShellOf(hostWith({ SHELL: '/usr/bin/bash' }, 'win32'))).toBeUndefined();
  });
});
