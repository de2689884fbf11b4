import { existsSync, readFileSync } from 'node:fs';
import { isRunning } from '../support/is-running.ts';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { asStarted } from '../../src/machine/processes/windows-command.ts';
import { temporaryRepository } from '../support/repository.ts';
import { connect, eras, inherited, initialize, startRaw } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';

/** These are about what programs do once they may run. */
const allowed = ['--questions', 'host'];

/** A project whose script starts a child and a daemon, says who they are, and waits. */
function busyProject() {
  const repository = temporaryRepository();
  repository.write(
    'busy.mjs',
    `import { spawn } from 'node:child_process';
     import { renameSync, writeFileSync } from 'node:fs';
     const child = spawn('sleep', ['300']);
     const daemon = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
     writeFileSync('pids.new', JSON.stringify([process.pid, child.pid, daemon.pid]));
     renameSync('pids.new', 'pids');
     console.log('busy');
     setInterval(() => {}, 1000);`,
  );
  const file = join(repository.folder, 'pids');
  return {
    ...repository,
    started: () => until(() => existsSync(file)),
    pids: () => JSON.parse(readFileSync(file, 'utf8')) as number[],
  };
}

it.each(eras)('ATTACK 102: a cancelled call leaves no process behind, in %s', async (era) => {
  const project = busyProject();
  const client = await connect(era, { roots: [project.folder], args: allowed });
  onTestFinished(() => client.close());
  const cancelling = new AbortController();
  const call = client.callTool(
    { name: 'node_run', arguments: { file: 'busy.mjs' } },
    { signal: cancelling.signal },
  );
  const failed = expect(call).rejects.toThrow();
  await project.started();
  cancelling.abort();
  await failed;
  await until(() => !project.pids().some(isRunning));
  expect((await client.callTool({ name: 'git_status', arguments: {} })).isError).toBeFalsy();
});

it.each(['closes its input', 'is killed'] as const)(
  'ATTACK 102: a server whose client %s ends within a second, with all it started',
  async (how) => {
    const project = busyProject();
    const server = startRaw({ roots: [project.folder], args: allowed });
    await initialize(server);
    server.send({
      id: 2,
      method: 'tools/call',
      params: { name: 'node_run', arguments: { file: 'busy.mjs' } },
    });
    await project.started();
    if (how === 'closes its input') server.child.stdin.end();
    else {
      // What the operating system does when a client dies: both of its pipe ends are closed.
      server.child.stdin.destroy();
      server.child.stdout.destroy();
    }
    await server.ended;
    await until(() => !project.pids().some(isRunning));
  },
);

it('ATTACK 102: SIGTERM in the middle of a call leaves no process behind', async () => {
  const project = busyProject();
  const server = startRaw({ roots: [project.folder], args: allowed });
  await initialize(server);
  server.send({ id: 2, method: 'tools/call', params: { name: 'node_run', arguments: { file: 'busy.mjs' } } });
  await project.started();
  server.child.kill('SIGTERM');
  await server.ended;
  await until(() => !project.pids().some(isRunning));
});

it('ATTACK 90: text with everything a shell would read arrives as it is', async () => {
  const { folder, git, write } = temporaryRepository();
  const client = await connect('2025-11-25', { roots: [folder], args: allowed });
  onTestFinished(() => client.close());
  write('src/a.txt', 'changed\n');
  const message = 'x; touch p && $(touch p) `touch p` | touch p > p "quoted\' * ~ %PATH% !x';
  const done = await client.callTool({ name: 'git_commit', arguments: { message, all: true } });
  expect(done.isError, textOf(done)).toBeFalsy();
  expect(git('log', '-1', '--format=%s').trim()).toBe(message);
  const branch = await client.callTool({ name: 'git_create_branch', arguments: { branch: 'x;rm -rf ~' } });
  expect(textOf(branch)).toMatch(/^ARG_INVALID/);
  expect(existsSync(join(folder, 'p'))).toBe(false);
});

it('ATTACK 91: a placeholder is always one argument', async () => {
  const { folder, write } = temporaryRepository();
  write('show.mjs', 'console.log(JSON.stringify(process.argv.slice(2)))');
  const client = await connect('2025-11-25', { roots: [folder], args: [...allowed, '--no-checkpoints'] });
  onTestFinished(() => client.close());
  const args = ['a b', '--c d', '', "'e'", 'f | sort', '$HOME', '*'];
  const result = await client.callTool({ name: 'node_run', arguments: { file: 'show.mjs', args } });
  expect(JSON.parse(textOf(result))).toEqual(args);
});

it.each(['"&calc.exe', '%PATH%', 'a!b', 'a\nb', '100%'])(
  'ATTACK 92: %j is not handed to a Windows batch file',
  (argument) => {
    expect(() => asStarted('C:\\Program Files\\nodejs\\npm.cmd', ['run', argument], 'win32')).toThrow(
      /batch file/,
    );
  },
);

it('ATTACK 92: what is handed to a Windows batch file is quoted for cmd.exe', () => {
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

it('ATTACK 95: secrets of the host do not reach a program', async () => {
  const { folder, write } = temporaryRepository();
  write('env.mjs', 'console.log(JSON.stringify(process.env))');
  const secrets = {
    AWS_SECRET_ACCESS_KEY: 's1',
    ANTHROPIC_API_KEY: 's2',
    GITHUB_TOKEN: 's3',
    NODE_OPTIONS: '--no-warnings',
    LD_PRELOAD: '',
  };
  const client = await connect('2025-11-25', {
    roots: [folder],
    args: [...allowed, '--no-checkpoints'],
    env: { ...inherited(), ...secrets },
  });
  onTestFinished(() => client.close());
  const result = await client.callTool({ name: 'node_run', arguments: { file: 'env.mjs' } });
  const env = JSON.parse(textOf(result)) as Record<string, string>;
  for (const name of Object.keys(secrets)) expect(env).not.toHaveProperty(name);
  expect(env['PATH']).toBeTruthy();
  expect(env['HOME']).toBe(process.env['HOME']);
});

it('ATTACK 97: a program that asks gets no answer, and the call does not hang', async () => {
  const { folder, write } = temporaryRepository();
  write('ask.py', 'print(input("Ok to proceed? "))\n');
  const client = await connect('2025-11-25', { roots: [folder], args: allowed });
  onTestFinished(() => client.close());
  const result = await client.callTool({ name: 'python_run', arguments: { file: 'ask.py' } });
  if (textOf(result).startsWith('PROGRAM_NOT_FOUND')) return;
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/^PROGRAM_FAILED.*EOFError/s);
  expect(textOf(result)).toContain('Ok to proceed?');
});

it('ATTACK 99: long output is cut in the middle, and that is said', async () => {
  const { folder, write } = temporaryRepository();
  write('talk.mjs', "for (let i = 0; i < 1e5; i++) console.log('line', i)");
  write('one.mjs', "process.stdout.write('x'.repeat(6e7))");
  const client = await connect('2025-11-25', { roots: [folder], args: [...allowed, '--no-checkpoints'] });
  onTestFinished(() => client.close());
  const said: string[] = [];
  for (const file of ['talk.mjs', 'one.mjs']) {
    const text = textOf(await client.callTool({ name: 'node_run', arguments: { file } }));
    expect(text.length).toBeLessThan(20_000);
    expect(text).toMatch(/\[… [\d,]+ characters left out here; read_output id=[\w-]+ has all of it\]/);
    said.push(text);
  }
  expect(said[0]?.startsWith('line 0\nline 1\n')).toBe(true);
  expect(said[0]?.endsWith('line 99999')).toBe(true);
});

it('shortens long lists, and says how much of which', async () => {
  const { folder, write } = temporaryRepository();
  for (let index = 0; index < 2000; index++) write(`new/file-${index}-with-a-rather-long-name.txt`, '');
  const client = await connect('2025-11-25', { roots: [folder], args: allowed });
  onTestFinished(() => client.close());
  const result = await client.callTool({ name: 'git_status', arguments: { untracked: 'all' } });
  expect(textOf(result)).toMatch(/^on main at \w{9}; 2000 untracked\n/);
  expect(textOf(result)).toMatch(/\[… [\d,]+ characters left out here/);
  expect(textOf(result).length).toBeLessThanOrEqual(16_500);
});

it.each(eras)('tells what is going on to a client that asks, in %s', async (era) => {
  const { folder, write } = temporaryRepository();
  write(
    'slow.mjs',
    "for (const step of ['one', 'two']) { console.log(step); await new Promise((go) => setTimeout(go, 250)); }",
  );
  const client = await connect(era, { roots: [folder], args: allowed });
  onTestFinished(() => client.close());
  const seen: { progress: number; message?: string | undefined }[] = [];
  await client.callTool(
    { name: 'node_run', arguments: { file: 'slow.mjs' } },
    { onprogress: (progress) => seen.push(progress) },
  );
  expect(seen.map(({ message }) => message)).toEqual(['one', 'two']);
  expect(seen.map(({ progress }) => progress)).toEqual([1, 2]);
});

it('ATTACK 44: control characters of a program do not reach the client', async () => {
  const { folder, write } = temporaryRepository();
  write('colour.mjs', String.raw`console.log('\u001b[31mred\u001b[0m\u001b]0;title\u0007 a\u202eb')`);
  const client = await connect('2025-11-25', { roots: [folder], args: [...allowed, '--no-checkpoints'] });
  onTestFinished(() => client.close());
  expect(textOf(await client.callTool({ name: 'node_run', arguments: { file: 'colour.mjs' } }))).toBe(
    'red ab',
  );
});

it('ATTACK 112: many calls at once are all answered', async () => {
  const { folder } = temporaryRepository();
  const client = await connect('2025-11-25', { roots: [folder], args: allowed });
  onTestFinished(() => client.close());
  const calls = Array.from({ length: 100 }, (_, index) =>
    client.callTool(
      index % 2
        ? { name: 'git_status', arguments: {} }
        : { name: 'read_file', arguments: { path: 'README.md' } },
    ),
  );
  for (const result of await Promise.all(calls)) expect(result.isError).toBeFalsy();
});
