import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProgramInput } from '../../src/core/tool.ts';
import { childEnvironment } from '../../src/machine/environment.ts';
import { thisHost } from '../../src/machine/host.ts';
import { createProcesses, type Command } from '../../src/machine/processes/process.ts';
import { questionIn } from '../../src/machine/processes/question.ts';
import { searchPath } from '../../src/machine/programs/search-path.ts';
import { temporaryFolder } from '../support/repository.ts';
import { until } from '../support/until.ts';

const prompts = [
  'Do you want to continue? [Y/n] ',
  'Proceed ([y]/n)? ',
  'Is this ok [y/N]: ',
  'Ok to proceed? (y) ',
  'Is this OK? (yes) ',
  'Are you sure you want to continue connecting (yes/no/[fingerprint])? ',
  'Are you sure you want to continue connecting (yes/no)? ',
  "bob@example.org's password: ",
  '[sudo] password for bob: ',
  'Password: ',
  'Password for user postgres: ',
  "Password for 'https://bob@github.com': ",
  "Username for 'https://github.com': ",
  "Enter passphrase for key '/home/bob/.ssh/id_ed25519': ",
  'Enter passphrase (empty for no passphrase): ',
  'Enter same passphrase again: ',
  'Passphrase for repository: ',
  'Enter PEM pass phrase:',
  'New password: ',
  'Enter password again: ',
  'localhost login: ',
  'npm notice\nUsername: ',
  'Email: (this IS public) ',
  'Enter one-time password: ',
  '\u001b[?25l\u001b[2K\u001b[1G\u001b[36m?\u001b[39m \u001b[1mProject name:\u001b[22m \u203a my-app',
  '? What is your name? (John) ',
  '? Select a framework: › - Use arrow-keys. Return to submit.\n❯   Vanilla\n    Vue\n    React',
  '? Pick one  [Use arrows to move, type to filter]\n> Create a repository\n  Skip\n',
  'Press any key to continue . . . ',
  'Press ENTER to open in the browser...',
  'Press [ENTER] to continue or Ctrl-c to cancel adding it.',
  'Enter a value: ',
  'Please enter your name: ',
  'Country Name (2 letter code) [AU]:',
  'AWS Access Key ID [None]: ',
  'package name: (foo) ',
  'What is your first and last name?\n  [Unknown]:  ',
  "cp: overwrite 'b'? ",
  "rm: remove write-protected regular empty file 'x'? ",
  'replace a.txt? [y]es, [n]o, [A]ll, [N]one, [r]ename: ',
  'gzip: a.gz already exists; do you want to overwrite (y or n)? ',
  'Stage this hunk [y,n,q,a,d,e,?]? ',
  '(R)eject, accept (t)emporarily or accept (p)ermanently? ',
  'Would you like to install it now? ',
  'Overwrite? ',
  'Fortfahren? [J/n] ',
  'Choose an option [1-3]: ',
  'Your choice: ',
  '--More--(12%)',
  '>>> ',
  'postgres=# ',
  'sqlite> ',
  '(gdb) ',
  '#? ',
  'Remove this directory? (y/N) › ',
];

const others = [
  'Creating user: ',
  'Resolving hostname: ',
  'Syncing account: ',
  'Downloading images [2/7]: ',
  'Enter stage [2/7]: ',
  'Stage [linux/amd64 internal]: ',
  'Compiling [core, lib]: ',
  'Checking whether to continue? ... ',
  '✓ asks "are you sure?" before delete ',
  'lines 1-20 of report written, uploading ',
  'Checking password: ',
  '> ',
  '$ ',
  'build> ',
  'server> ',
  '',
  'Compiling… ',
  'Compiling toolcrib v0.1.0',
  'Downloading: 45%',
  'Downloading [=====>     ] 45% ',
  'Progress [####      ]: ',
  '[12/34] Building: ',
  'Resolving dependencies...',
  'Fetching: ',
  'Building',
  'Linking: libfoo.so',
  '.....',
  '....F..',
  'test result: ',
  'running 12 tests',
  'Waiting for the server to start ',
  'Listening on port 3000',
  'Local: http://localhost:5173/',
  '  ➜  press h + enter to show help\n',
  'Press CTRL+C to quit',
  '(Press CTRL+C to quit)\n',
  'Watching for file changes.',
  'Password updated',
  'Checking passwords',
  'Reading package lists... 4%',
  'remote: Counting objects:  50% (5/10)',
  'Receiving objects: 100% (10/10), 1.2 MiB | 3.4 MiB/s',
  'error: password authentication failed',
  'error: token: ',
  'warning: unused variable: ',
  'Do you want to continue? [Y/n] y\n',
  'Password: \n',
  'npm warn deprecated foo@1.0.0: ',
  'Extracting archive: ',
  'Unpacking layers:',
  'Step 3/12 : RUN make',
  '#12 3.4 ',
  'sha256: ',
  'Generating: ',
  'Elapsed: 12s ETA: ',
  'Hit any breakpoint 3 times',
  'Entering directory /work: ',
  'make[1]: ',
  '?   \texample.org/pkg\t[no test files]\n',
  'Use arrow keys in the map to move. It has many levels\nNow loading level 3',
  '100%|██████████| 12/12 [00:01<00:00, 9.9it/s]',
  'foo: bar',
  'at Object.<anonymous> (/work/a.js:1:7)',
  '{"name": ',
  '<testsuite name="a">',
];

describe('a question is told from progress', () => {
  it.each(prompts)('asks: %j', (prompt) => {
    expect(questionIn(prompt, 'likely')).toBeTruthy();
    expect(questionIn(`a line before\n${prompt}`, 'likely')).toBeTruthy();
  });
  it.each(others)('does not ask: %j', (text) => {
    expect(questionIn(text, 'likely')).toBeUndefined();
  });
  it('is one line, safe to show', () => {
    expect(questionIn('x\n\u001b[31mPass\u202eword:\u001b[0m ')).toBe('Password:');
  });
  it('is found in no time, whatever a program prints', () => {
    const hostile = ['(', '[y', 'enter ', 'password for ', '? ', 'a/', '(a)b ', 'y or ', 'name '].map(
      (piece) => piece.repeat(2000).slice(0, 390),
    );
    const before = performance.now();
    for (const text of hostile) questionIn(text);
    expect(performance.now() - before).toBeLessThan(500);
  });
});

const processes = createProcesses(process.platform as 'linux');
const host = thisHost();
const environment = async (more: Record<string, string> = {}) => ({
  ...childEnvironment(host, await searchPath(host), [], {}),
  ...more,
});
const run = async (program: string, argv: string[], more: Partial<Command> = {}) =>
  processes.run({ program, argv, cwd: tmpdir(), env: await environment(), ...more });
const node = (script: string, more: Partial<Command> = {}) => run(process.execPath, ['-e', script], more);

const shell = (script: string, more: Partial<Command> = {}) => run('/bin/bash', ['-c', script], more);
/** Asks, and reads from a pipe that nobody writes to: what a terminal of its own would be. */
const reading = (prompt: string) =>
  shell(
    `mkfifo "$0"; exec 3<>"$0"; rm "$0"; printf '${prompt}' >&2; read answer <&3`.replaceAll('$0', '$PIPE'),
    {
      env: { PATH: '/usr/bin:/bin', PIPE: join(temporaryFolder(), 'pipe') },
    },
  );

describe.concurrent('a program that only waits', () => {
  it.each([
    'sleep 3.4',
    'answer=$(sleep 3.4)',
    'sleep 3.4 | cat',
    `${JSON.stringify(process.execPath)} -e 'require("child_process").execSync("sleep 3.4")'`,
  ])('is left alone, whatever it printed: %s', async (wait) => {
    const outcome = await shell(`printf 'Overwrite? [y/N] '; ${wait}; echo done`);
    expect(outcome).toMatchObject({ ended: 'exited', stdout: { text: 'Overwrite? [y/N] done\n' } });
  });
});

describe.concurrent('a program that asks', () => {
  it('ATTACK 97: is ended early, and what it asked is quoted', async () => {
    const outcome = await reading('building\\nOverwrite \\033[1mall\\033[0m files? [y/N] ');
    expect(outcome).toMatchObject({ ended: 'asked', exitCode: null, question: 'Overwrite all files? [y/N]' });
    expect(outcome.durationMs).toBeLessThan(6000);
  });

  it('ATTACK 97: is ended when it asks again and again', async () => {
    const outcome = await node('setInterval(() => process.stdout.write("Continue? [y/N] "), 100)');
    expect(outcome).toMatchObject({ ended: 'asked' });
    expect(outcome.question).toContain('Continue? [y/N]');
  });

  it('is left alone while it works', async () => {
    const outcome = await node(
      'process.stdout.write("Password: "); const end = Date.now() + 3500; while (Date.now() < end); process.stdout.write("done")',
    );
    expect(outcome).toMatchObject({ ended: 'exited', exitCode: 0, stdout: { text: 'Password: done' } });
  });

  it('is left alone when it prints progress without a newline', async () => {
    const outcome = await node(
      'process.stdout.write("Compiling… "); setTimeout(() => console.log("ok"), 3200)',
    );
    expect(outcome).toMatchObject({ ended: 'exited', stdout: { text: 'Compiling… ok\n' } });
  });

  it('is never ended when it has input, and gets the answer', async () => {
    let input: ProgramInput | undefined;
    const outcome = node(
      'process.stdout.write("Name: "); process.stdin.once("data", (d) => { console.log("hello", String(d).trim()); process.stdin.once("end", () => console.log("end")) })',
      { takeInput: (given) => (input = given) },
    );
    await until(() => input?.asks === 'Name:');
    await new Promise((resolve) => setTimeout(resolve, 2600));
    expect(input?.write('you\n')).toBe(true);
    await until(() => input?.asks === undefined);
    input?.end();
    expect(await outcome).toMatchObject({ ended: 'exited', stdout: { text: 'Name: hello you\nend\n' } });
    expect(input?.write('more')).toBe(false);
  });

  it('may close its input without harm', async () => {
    let input: ProgramInput | undefined;
    const outcome = node('process.stdin.destroy(); setTimeout(() => 0, 1000)', {
      takeInput: (given) => (input = given),
    });
    await until(() => input !== undefined);
    for (let at = 0; at < 50; at++) {
      input?.write('x'.repeat(1000));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await outcome).ended).toBe('exited');
  });
});

/** Programs that ask a person at a terminal. What they do without one is theirs; that they end soon is ours. */
describe.concurrent('real programs that would ask', () => {
  const end = async (program: string, argv: string[], more: Partial<Command> = {}) => {
    const outcome = await run(program, argv, more);
    expect(['exited', 'asked']).toContain(outcome.ended);
    expect(outcome.durationMs).toBeLessThan(8000);
    return outcome;
  };
  const repository = () => {
    const folder = temporaryFolder();
    execFileSync('git', ['init', '-q'], { cwd: folder });
    writeFileSync(join(folder, 'a'), '');
    execFileSync('git', ['add', 'a'], { cwd: folder });
    return folder;
  };

  it('git commit without a message opens no editor', async () => {
    const cwd = repository();
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    const outcome = await end('/usr/bin/git', [...who, '-c', 'core.editor=sleep 60', 'commit'], { cwd });
    expect(outcome).toMatchObject({ exitCode: 1 });
  });

  it('git asks nobody for a password: no terminal, no helper of the repository', async () => {
    const server = createServer((_request, response) =>
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const cwd = repository();
    writeFileSync(join(cwd, 'ask.sh'), '#!/bin/sh\ntouch asked\necho x\n');
    chmodSync(join(cwd, 'ask.sh'), 0o755);
    execFileSync('git', ['config', 'core.askPass', join(cwd, 'ask.sh')], { cwd });
    const outcome = await end('/usr/bin/git', ['ls-remote', `http://127.0.0.1:${port}/x.git`], {
      cwd,
      env: await environment({ GIT_CONFIG_NOSYSTEM: '1', HOME: cwd }),
    });
    server.close();
    expect(outcome.stderr.text).toContain('terminal prompts disabled');
    expect(existsSync(join(cwd, 'asked'))).toBe(false);
  });

  it('npm init takes what it would propose', async () => {
    const npm = execFileSync('which', ['npm'], { encoding: 'utf8' }).trim();
    const cwd = join(temporaryFolder(), 'pkg');
    mkdirSync(cwd);
    expect(await end(npm, ['init'], { cwd })).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(cwd, 'package.json'))).toBe(true);
  });

  it('python and a shell read the end of their input', async () => {
    const python = await end('/usr/bin/env', ['python3', '-c', 'input("Name: ")']);
    expect(python.stderr.text).toContain('EOFError');
    expect(await end('/bin/sh', ['-c', 'read answer || echo none'])).toMatchObject({
      stdout: { text: 'none\n' },
    });
  });

  it('an editor, a pager and ssh-keygen end', async () => {
    await end('/usr/bin/env', ['sh', '-c', 'exec "$EDITOR" x']);
    await end('/usr/bin/env', ['sh', '-c', 'seq 1000 | $PAGER']);
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'key'), '');
    await end('/usr/bin/env', ['ssh-keygen', '-f', 'key', '-t', 'ed25519'], { cwd });
  });

  it.skipIf(!existsSync('/usr/bin/vim'))(
    'vim is ended, but not before it did what it was told',
    async () => {
      const cwd = temporaryFolder();
      writeFileSync(join(cwd, 'f'), 'abc\n');
      const [open, told] = await Promise.all([
        run('/usr/bin/vim', ['--clean', 'x'], { cwd }),
        run('/usr/bin/vim', ['--clean', '-c', 's/a/b/', '-c', 'wq', 'f'], { cwd }),
      ]);
      expect(told).toMatchObject({ ended: 'exited', exitCode: 0 });
      expect(readFileSync(join(cwd, 'f'), 'utf8')).toBe('bbc\n');
      expect(open).toMatchObject({
        ended: 'asked',
        question: 'Vim: Warning: Input is not from a terminal',
      });
      expect(open.durationMs).toBeLessThan(12_000);
    },
    20_000,
  );

  it('gpg has nowhere to show its dialog', async () => {
    const home = temporaryFolder();
    chmodSync(home, 0o700);
    const env = await environment({ GNUPGHOME: home });
    const outcome = await end(
      '/usr/bin/env',
      ['gpg', '--symmetric', '--output', join(home, 'out'), '/etc/hostname'],
      { cwd: home, env },
    );
    expect(outcome.exitCode).not.toBe(0);
    await end('/usr/bin/env', ['gpgconf', '--kill', 'all'], { cwd: home, env });
  });
});
