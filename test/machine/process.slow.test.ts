import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isRunning } from '../support/is-running.ts';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProcesses, type Command } from '../../src/machine/processes/process.ts';
import { temporaryFolder } from '../support/repository.ts';
import { until } from '../support/until.ts';

const processes = createProcesses('linux');

/** Runs a shell script as a program; the shell is the program under test here, not a way to start it. */
const sh = (script: string, more: Partial<Command> = {}) =>
  processes.run({
    program: '/bin/sh',
    argv: ['-c', script],
    cwd: temporaryFolder(),
    env: { PATH: '/usr/bin:/bin' },
    ...more,
  });

/** The same with a time limit, which is longer each time until the program has come as far as it should. */
async function timedOut(script: string, isReady: () => boolean, more: Partial<Command>) {
  for (let timeoutMs = 1000; ; timeoutMs *= 2) {
    const outcome = await sh(script, { ...more, timeoutMs });
    expect(outcome).toMatchObject({ ended: 'timed_out', exitCode: null });
    if (isReady()) return;
  }
}
const pidIn = (folder: string) => (name: string) => Number(readFileSync(join(folder, name), 'utf8'));

it('reports how a program ended', async () => {
  const outcome = await sh('echo out; echo err >&2; exit 3');
  expect(outcome).toMatchObject({
    exitCode: 3,
    ended: 'exited',
    stdout: { text: 'out\n', omittedBytes: 0 },
    stderr: { text: 'err\n' },
  });
});

it('reads what a program printed last, also when this process was too busy to notice its end', async () => {
  const folder = temporaryFolder();
  const busy = (ms: number) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  };
  const go = (name: string) => writeFileSync(join(folder, name), '');
  const script = (name: string) =>
    `echo ready; while [ ! -e ${name} ]; do sleep 0.01; done; echo last of ${name}`;
  let ready = 0;
  // The first ends while nobody looks. When its end is noticed so is that of the second, which ends in between; then
  // comes something that takes longer than a program's last words are waited for.
  const onLine = (line: string) => {
    if (line === 'ready') ready += 1;
    if (line === 'ready' && ready === 2) {
      go('first');
      busy(300);
    }
    if (line === 'last of first') {
      go('second');
      setImmediate(() => busy(400));
      busy(300);
    }
  };
  const outcomes = await Promise.all(
    ['first', 'second'].map((name) => sh(script(name), { cwd: folder, onLine })),
  );
  expect(outcomes.map(({ stdout }) => stdout.text)).toEqual([
    'ready\nlast of first\n',
    'ready\nlast of second\n',
  ]);
});

it('reports that a program could not be started', async () => {
  const outcome = await processes.run({ program: '/no/such/program', argv: [], cwd: '/', env: {} });
  expect(outcome).toMatchObject({ ended: 'not_started', exitCode: null });
  expect(outcome.stderr.text).toContain('ENOENT');
});

it('ATTACK 96: a time limit ends a program, its children, and what they started elsewhere', async () => {
  const folder = temporaryFolder();
  const script = `sleep 300 & echo $! > a; setsid sleep 300 & echo $! > b; (setsid sh -c 'echo $$ > c; exec sleep 300' &) ; while [ ! -s c ]; do :; done; touch ready; sleep 300`;
  await timedOut(script, () => existsSync(join(folder, 'ready')), { cwd: folder });
  expect(['a', 'b', 'c'].map(pidIn(folder)).filter(isRunning)).toEqual([]);
});

it('ATTACK 96: a program that ignores SIGTERM is ended all the same', async () => {
  const outcome = await sh('trap "" TERM; echo ready; while :; do sleep 0.1; done', { timeoutMs: 300 });
  expect(outcome.ended).toBe('timed_out');
});

it('ATTACK 96: returns although a child keeps the pipe open', async () => {
  const folder = temporaryFolder();
  const outcome = await sh('sleep 300 & echo $! > pid; echo done', { cwd: folder });
  expect(outcome).toMatchObject({ ended: 'exited', exitCode: 0, stdout: { text: 'done\n' } });
  await until(() => !isRunning(pidIn(folder)('pid')));
});

it('ends a program that is cancelled in the moment in which it starts', async () => {
  const cancelling = new AbortController();
  const outcome = sh('sleep 300', { signal: cancelling.signal });
  cancelling.abort();
  expect(await outcome).toMatchObject({ ended: 'cancelled' });
});

it('does not start a program that was cancelled before', async () => {
  const folder = temporaryFolder();
  expect(await sh('touch started', { cwd: folder, signal: AbortSignal.abort() })).toMatchObject({
    ended: 'cancelled',
  });
  expect(existsSync(join(folder, 'started'))).toBe(false);
});

it('ATTACK 99: keeps head and tail of endless output in bounded memory', async () => {
  const before = process.memoryUsage().rss;
  const outcome = await sh('echo first; head -c 300000000 /dev/zero | tr "\\0" x; echo; echo last', {
    keepBytes: 10_000,
  });
  expect(outcome.stdout.text.startsWith('first\nxxx')).toBe(true);
  expect(outcome.stdout.text.endsWith('xxx\nlast\n')).toBe(true);
  expect(outcome.stdout.text.length).toBe(10_000);
  expect(outcome.stdout.omittedBytes).toBeGreaterThan(299_000_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
});

it('waits for a program that has closed its output and goes on', async () => {
  const folder = temporaryFolder();
  const outcome = await sh('exec >&- 2>&-; sleep 0.5; touch done; exit 3', { cwd: folder });
  expect(outcome).toMatchObject({ ended: 'exited', exitCode: 3 });
  expect(existsSync(join(folder, 'done'))).toBe(true);
});

it('ATTACK 96: ends a child with another environment, in a session of its own', async () => {
  const folder = temporaryFolder();
  const script = `env -i /usr/bin/setsid /bin/sh -c 'echo $$ > a; exec sleep 300' & while [ ! -s a ]; do :; done; touch ready; wait`;
  await timedOut(script, () => existsSync(join(folder, 'ready')), { cwd: folder });
  expect(isRunning(pidIn(folder)('a'))).toBe(false);
});

it('hands on every chunk of both streams, also of output that is not kept', async () => {
  const chunks = { stdout: '', stderr: '' };
  const sink = {
    handle: 'x',
    add: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => {
      chunks[stream] += Buffer.from(chunk);
    },
    end: () => undefined,
  };
  const outcome = await sh('echo out; echo err >&2', { sink, onOutput: () => true });
  expect(outcome.stdout.text).toBe('');
  expect(chunks).toEqual({ stdout: 'out\n', stderr: 'err\n' });
});

describe('a pipe', () => {
  const env = { PATH: '/usr/bin:/bin' };
  const stage = (script: string, joinsErrors = false) => ({
    program: '/bin/sh',
    argv: ['-c', script],
    env,
    joinsErrors,
  });
  const pipe = async (scripts: readonly string[], more: Partial<Command> = {}) => {
    const [first = '', ...rest] = scripts;
    const { stdout, stderr, ...outcome } = await sh(first, { pipe: rest.map((one) => stage(one)), ...more });
    return { ...outcome, out: stdout.text, err: stderr.text };
  };

  it('hands each program what the one before it prints, without loss, also to a slow reader', async () => {
    const lines = 'i=0; while [ $i -lt 50000 ]; do echo "a line of text $i"; i=$((i+1)); done';
    expect(await pipe([lines, 'sleep 0.5; cat', 'wc -l'])).toMatchObject({ out: '50000\n', exitCode: 0 });
    expect(
      await pipe(['cat', 'tr a-z A-Z'], {
        takeInput: (input) => {
          input.write('abc');
          input.end();
        },
      }),
    ).toMatchObject({ out: 'ABC' });
  });

  it('shows what a program writes to standard error, or hands that on', async () => {
    const complains = 'echo out; echo err >&2';
    expect(await pipe([complains, 'cat'])).toMatchObject({ out: 'out\n', err: 'err\n' });
    const joined = await pipe([complains, 'sort'], { joinsErrors: true });
    expect(joined).toMatchObject({ out: 'err\nout\n', err: '' });
  });

  it('fails with the program that failed, but not with one whose output nobody read any more', async () => {
    expect(await pipe(['exit 3', 'cat'])).toMatchObject({ exitCode: 3, stage: 0, ended: 'exited' });
    expect(await pipe(['exit 3', 'true'])).toMatchObject({ exitCode: 3, stage: 0 });
    expect(await pipe(['exit 3', 'exit 4', 'cat'])).toMatchObject({ exitCode: 4, stage: 1 });
    expect(await pipe(['yes', 'head -1'])).toMatchObject({ exitCode: 0, out: 'y\n' });
  });

  it('ends a program that goes on for ever when its reader has ended, whether or not it prints', async () => {
    expect(await pipe(['echo x; exec sleep 300', 'head -1'])).toMatchObject({ exitCode: 0, out: 'x\n' });
    expect(await pipe(['trap "" PIPE; while :; do echo x 2>/dev/null; done', 'head -1'])).toMatchObject({
      exitCode: 0,
    });
  });

  it('ends with all of its programs at its time limit, and starts none when one cannot start', async () => {
    const folder = temporaryFolder();
    const one = (name: string) => `echo $$ > ${name}; exec sleep 300`;
    const names = ['a', 'b', 'c'];
    const areReady = () => names.every((name) => existsSync(join(folder, name)) && pidIn(folder)(name) > 0);
    await timedOut(one('a'), areReady, { cwd: folder, pipe: [stage(one('b')), stage(one('c'))] });
    expect(names.map(pidIn(folder)).filter(isRunning)).toEqual([]);
    const missing = { program: '/no/such/program', argv: [], env };
    const outcome = await sh('sleep 300', { cwd: folder, pipe: [missing] });
    expect(outcome).toMatchObject({ ended: 'not_started', stage: 1, exitCode: null });
  });
});
