import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { usualBudgets } from '../../src/core/settings.ts';
import {
  defineSimpleTool,
  textOf,
  type CallContext,
  type Tool,
  type ToolResult,
} from '../../src/core/tool.ts';
import {
  createJobs,
  type Answer,
  type JobIo,
  type Jobs,
  type RunOptions,
} from '../../src/machine/jobs/jobs.ts';
import { createOutputStore } from '../../src/machine/output-store/output-store.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { listJobs } from '../../src/server/tools/list-jobs.ts';
import { readJob } from '../../src/server/tools/read-job.ts';
import { startJob } from '../../src/server/tools/start-job.ts';
import { stopJob } from '../../src/server/tools/stop-job.ts';
import { waitJob } from '../../src/server/tools/wait-job.ts';
import { writeJob } from '../../src/server/tools/write-job.ts';
import { callContext, planAndRun } from '../support/call-context.ts';
import { temporaryFolder } from '../support/repository.ts';
import { until } from '../support/until.ts';
import { isRunning } from './is-running.ts';

const processes = createProcesses(process.platform as 'linux');

/** Jobs, outputs, the tools about them, and one tool to be started: it runs a script of Node. */
function crib(budgets: Partial<typeof usualBudgets> = {}) {
  const jobs = createJobs({ budgets: () => ({ ...usualBudgets, ...budgets }) });
  const outputs = createOutputStore({ folder: undefined, budgets: usualBudgets });
  onTestFinished(async () => {
    await jobs.endAll();
    outputs.close();
  });
  const folder = temporaryFolder();
  const contextOf = (client: string) =>
    callContext([folder], {
      client,
      keepOutput: (command) => outputs.open(client, command),
      budgets: { ...usualBudgets, callSeconds: 10 },
    });
  async function script(source: string, context: CallContext): Promise<ToolResult> {
    const sink = context.keepOutput(`node ${source.slice(0, 20)}`);
    const outcome = await processes.run({
      program: process.execPath,
      argv: ['-e', source],
      cwd: folder,
      env: { PATH: '/usr/bin:/bin' },
      timeoutMs: 60_000,
      signal: context.signal,
      onLine: context.progress,
      sink,
      ...(context.takeInput && { takeInput: context.takeInput }),
    });
    sink.end();
    return {
      content: [{ type: 'text', text: `${outcome.ended} ${outcome.exitCode}: ${outcome.stdout.text}` }],
      isError: outcome.exitCode !== 0,
    };
  }
  const node = defineSimpleTool({
    name: 'node',
    program: 'node',
    title: 'Node',
    description: 'Runs a script.',
    effects: ['execute'],
    params: z.strictObject({ script: z.string() }),
    call: (given, context) => script(given.script, context),
  });
  const services = { jobs, outputs, load: async () => node };
  const tools: Record<string, Tool> = Object.fromEntries(
    [startJob, waitJob, readJob, writeJob, stopJob, listJobs].map((make) => {
      const tool = make(services);
      return [tool.name, tool];
    }),
  );
  const call = async (name: string, given: object, client = 'me') => {
    const tool = tools[name]!;
    return textOf(await planAndRun(tool, given, await contextOf(client)));
  };
  const start = async (source: string, more: object = {}) => {
    const text = await call('start_job', { tool: 'node', arguments: { script: source }, ...more });
    return { text, job: /^(?:It was running already: )?job (\w+)/.exec(text)?.[1] ?? '' };
  };
  const plan = async (name: string, given: object) => {
    const tool = tools[name]!;
    return tool.plan(tool.params.parse(given), await contextOf('me'));
  };
  return { jobs, folder, plan, call, start, script, contextOf };
}

const never = () => new AbortController().signal;
const call = (key: string) => ({ key, tool: 'tool', title: 'A tool' });
const result = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });
const runIn = (
  jobs: Jobs,
  key: string,
  work: (io: JobIo) => Promise<ToolResult>,
  more: Partial<RunOptions> = {},
) => jobs.run('me', call(key), work, { signal: never(), budgetMs: 5000, ...more });
const idOf = (answer: Answer) => (answer.kind === 'running' ? answer.job.id : expect.fail('is no job'));
const untilAborted = (signal: AbortSignal) =>
  new Promise<ToolResult>((resolve) => {
    const end = () => resolve({ ...result('ended'), isError: true });
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  });
/** Work that ends when it is told to. */
function gate() {
  let open = (_text: string) => {};
  const opened = new Promise<string>((resolve) => (open = resolve));
  return { open, work: async () => result(await opened) };
}

it('answers within its budget with the result, and no job is left', async () => {
  const { jobs } = crib();
  expect(await runIn(jobs, 'a', async () => result('done'))).toEqual({
    kind: 'done',
    result: result('done'),
  });
  await expect(runIn(jobs, 'a', () => Promise.reject(new Error('asks first')))).rejects.toThrow('asks first');
  expect(jobs.list('me')).toEqual([]);
});

it('ATTACK 103: answers with a job after its budget; the same call joins it, and gets the result', async () => {
  const { jobs } = crib();
  const { open, work } = gate();
  const first = await runIn(jobs, 'build', work, { budgetMs: 20 });
  const leaving = new AbortController();
  const second = runIn(jobs, 'build', () => expect.fail('runs twice'), { signal: leaving.signal });
  leaving.abort();
  expect(await second).toMatchObject({
    kind: 'running',
    joined: true,
    job: { id: idOf(first), state: 'running' },
  });
  const third = runIn(jobs, 'build', () => expect.fail('runs twice'));
  open('built');
  expect(await third).toMatchObject({ kind: 'done', result: result('built'), job: { state: 'done' } });
  expect(await runIn(jobs, 'build', async () => result('again'))).toMatchObject({ result: result('again') });
});

it('keeps a result that nobody got for the same call, once, and says how old it is', async () => {
  const { jobs } = crib();
  const { open, work } = gate();
  const job = jobs.find('me', idOf(await runIn(jobs, 'build', work, { budgetMs: 20 })));
  open('built');
  await job.ended;
  const answer = await runIn(jobs, 'build', () => expect.fail('runs twice'));
  expect(answer.kind === 'done' && textOf(answer.result)).toMatch(
    /^built\n\[the result of job \w+, .*ended 0 s ago/,
  );
  expect(await runIn(jobs, 'build', async () => result('again'))).toMatchObject({ result: result('again') });
});

it('two calls that are alike are two calls while none of them is a job', async () => {
  const { jobs } = crib();
  let calls = 0;
  const work = async () => result(String(++calls));
  await Promise.all([runIn(jobs, 'a', work), runIn(jobs, 'a', work)]);
  expect(calls).toBe(2);
});

it('cancelling ends a call, but not what has become a job', async () => {
  const { jobs } = crib();
  const cancelling = new AbortController();
  const cancelled = runIn(jobs, 'a', ({ signal }) => untilAborted(signal), { signal: cancelling.signal });
  cancelling.abort();
  expect(await cancelled).toMatchObject({ kind: 'done', result: { isError: true } });

  const leaving = new AbortController();
  const options = { signal: leaving.signal, budgetMs: 20 };
  const id = idOf(await runIn(jobs, 'b', ({ signal }) => untilAborted(signal), options));
  leaving.abort();
  expect(jobs.find('me', id).facts().state).toBe('running');
  expect(await jobs.stop('me', id)).toMatchObject({ state: 'stopped' });
  expect(await jobs.stop('me', id)).toMatchObject({ state: 'stopped' });
});

it('what belongs to one client does not exist for another', async () => {
  const { jobs } = crib();
  const id = idOf(await runIn(jobs, 'a', ({ signal }) => untilAborted(signal), { budgetMs: 20 }));
  expect(id).toMatch(/^[0-9a-z]{20}$/);
  const refusal = (owner: string, name: string) => {
    try {
      jobs.find(owner, name);
    } catch (error) {
      return String(error).replace(name, 'ID');
    }
    return expect.fail('was found');
  };
  expect(refusal('you', id)).toBe(refusal('you', 'nothing'));
  expect(jobs.list('you')).toEqual([]);
  await expect(jobs.stop('you', id)).rejects.toThrow('there is no job');
  expect(() => jobs.write('you', id, 'x')).toThrow('there is no job');
  await jobs.endOwner('you');
  expect(jobs.find('me', id).facts().state).toBe('running');
  await jobs.endOwner('me');
  expect(jobs.list('me')).toEqual([]);
});

it('has as many jobs of a client as are allowed, and says how to go on', async () => {
  const { jobs } = crib({ jobs: 2 });
  const start = (key: string, more: Partial<RunOptions> = {}) =>
    runIn(jobs, key, ({ signal }) => untilAborted(signal), { budgetMs: 20, ...more });
  const id = idOf(await start('a'));
  await start('b');
  await expect(start('c')).rejects.toMatchObject({
    code: 'BUSY',
    message: expect.stringContaining('budgets.jobs'),
  });
  await expect(start('d', { announceAtOnce: true })).rejects.toMatchObject({ code: 'BUSY' });
  expect(
    await jobs.run('you', call('a'), async () => result('other'), { signal: never(), budgetMs: 50 }),
  ).toMatchObject({
    kind: 'done',
  });
  await jobs.stop('me', id);
  idOf(await start('c'));
});

it('ends a job at its own limit', async () => {
  const { jobs } = crib({ jobMinutes: 0.2 / 60 });
  const job = jobs.find(
    'me',
    idOf(await runIn(jobs, 'a', ({ signal }) => untilAborted(signal), { budgetMs: 20 })),
  );
  await job.ended;
  expect(job.facts().state).toBe('timed_out');
});

it('keeps a hundred jobs that have ended', async () => {
  const { jobs } = crib({ jobs: 200 });
  const ids: string[] = [];
  for (let count = 0; count < 130; count++) {
    const { open, work } = gate();
    ids.push(idOf(await runIn(jobs, String(count), work, { budgetMs: 1 })));
    open('x');
    await jobs.find('me', ids.at(-1) ?? '').ended;
  }
  expect(jobs.list('me').length).toBeLessThanOrEqual(101);
  expect(() => jobs.find('me', ids[0] ?? '')).toThrow('there is no job');
  expect(jobs.find('me', ids.at(-1) ?? '').facts().state).toBe('done');
});

it('a question before it begins leaves no job, and reaches who starts it', async () => {
  const { jobs } = crib();
  const asks = runIn(jobs, 'a', () => Promise.reject(new Error('asks first')), { announceAtOnce: true });
  await expect(asks).rejects.toThrow('asks first');
  expect(jobs.list('me')).toEqual([]);
});

it('a server is started, waited for by its port and its words, read, and stopped', async () => {
  const { folder, call: tool, start } = crib();
  const { text, job } = await start(
    `require('node:fs').writeFileSync('pid', String(process.pid)); console.log('starting');
     const server = require('node:http').createServer((q, r) => r.end('hi'));
     setTimeout(() => server.listen(0, '127.0.0.1', () => { require('node:fs').writeFileSync('port', String(server.address().port)); console.log('ready at', server.address().port) }), 300)`,
  );
  expect(text).toMatch(/^job \w{20} is running for \d+ s \(node: node .*; output \S+\)\nstarting$/);
  expect(await tool('wait_job', { job, pattern: '^ready at \\d+$' })).toMatch(
    /^line 2 matches; job .* running[^]*ready at \d+$/,
  );
  const port = Number(readFileSync(join(folder, 'port'), 'utf8'));
  expect(await tool('wait_job', { job, port })).toContain(
    `port ${port} accepts connections; job ${job} is running`,
  );
  // From the start of the output: no race.
  expect(await tool('wait_job', { job, pattern: 'starting', seconds: 0 })).toContain('line 1 matches');
  expect(await tool('wait_job', { job, pattern: 'nothing', seconds: 0 })).toContain(
    'no line matches until now',
  );
  expect(await tool('read_job', { job })).toMatch(/starting\nready at \d+\n\[for more: after=2\]$/);
  expect(await tool('read_job', { job, after: 2 })).toContain('nothing more was printed');
  expect(await tool('list_jobs', {})).toContain(`job ${job} is running`);
  expect(await tool('stop_job', { job })).toContain(`job ${job} was stopped`);
  expect(isRunning(join(folder, 'pid'))).toBe(false);
  expect(await tool('read_job', { job })).toContain('cancelled null');
  expect(await tool('stop_job', { job })).toContain('it had ended before');
});

it('says when a port was listened to before', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const { call: tool, start } = crib();
  const { job } = await start('setTimeout(() => 0, 60000); console.log(1)');
  const { port } = other.address() as AddressInfo;
  expect(await tool('wait_job', { job, port })).toContain('already was before the job was started');
});

it('waits for the end, and tells the result; the same start while it runs is the same job', async () => {
  const { call: tool, start, folder } = crib();
  const source = `const wait = () => require('node:fs').existsSync('go') ? (console.log('built'), process.exit(3)) : setTimeout(wait, 20); console.log('x'); wait()`;
  const { job } = await start(source);
  expect((await start(source)).text).toContain(`It was running already: job ${job}`);
  const waiting = tool('wait_job', { job });
  writeFileSync(join(folder, 'go'), '');
  expect(await waiting).toMatch(/^\[job \w+ failed after \d+ s .*\]\nexited 3: x\nbuilt\n$/);
  expect((await start('console.log("short")')).text).toMatch(
    /^exited 0: short\n\n\[It has ended already; no job is left.\]$/,
  );
});

it('a wait that is over by time says that it is running, and one for a pattern that takes for ever is refused', async () => {
  const { call: tool, start } = crib();
  const { job } = await start(`console.log('a'.repeat(60) + '!'); setTimeout(() => 0, 60000)`);
  expect(await tool('wait_job', { job, seconds: 0 })).toMatch(/^job \w+ is running/);
  await expect(tool('wait_job', { job, pattern: '(a+)+$' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
  await expect(tool('wait_job', { job, pattern: '(' })).rejects.toMatchObject({
    code: 'ARG_INVALID',
    message: expect.stringMatching(/^pattern: /),
  });
});

it('is written to, and asks a person about what a command is told', async () => {
  const { call: tool, plan, start } = crib();
  const source = `process.stdout.write('Name: '); process.stdin.once('data', (d) => { console.log('hello', String(d).trim()); process.stdin.once('end', () => process.exit(0)) })`;
  const { job } = await start(source, { input: true });
  expect(await plan('write_job', { job, text: 'you\n' })).toMatchObject({
    subject: expect.stringMatching(/^write to node .*: you$/),
    trust: 'runs code of this folder',
  });
  expect(await tool('write_job', { job, text: 'you\n' })).toMatch(/^Written\. job \w+ is running .*\)$/);
  expect(await tool('wait_job', { job, pattern: 'hello' })).toContain('matches');
  await tool('write_job', { job, text: '', end: true });
  expect(await tool('wait_job', { job })).toContain('hello you');
  await expect(tool('write_job', { job, text: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('takes no input unless it was started with it, and is no job of a job', async () => {
  const { call: tool, start } = crib();
  const { job } = await start('console.log(1); setTimeout(() => 0, 60000)');
  await expect(tool('write_job', { job, text: 'x' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
  await expect(tool('start_job', { tool: 'start_job' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
  await expect(tool('read_job', { job }, 'another')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('of the same starts at once one starts, whether it goes on or ends', async () => {
  const { jobs } = crib();
  const { open, work } = gate();
  let runs = 0;
  const begin = (key: string, does: (io: JobIo) => Promise<ToolResult>) =>
    runIn(jobs, key, (io) => (runs++, does(io)), { announceAtOnce: true });
  const going = (io: JobIo) => (io.progress('ready'), work());
  const answers = await Promise.all([1, 2, 3].map(() => begin('a', going)));
  expect(runs).toBe(1);
  expect(new Set(answers.map(idOf)).size).toBe(1);
  open('end');
  const ended = await Promise.all([1, 2, 3].map(() => begin('b', async () => result('quick'))));
  expect(runs).toBe(2);
  expect(ended).toEqual(Array.from({ length: 3 }, () => ({ kind: 'done', result: result('quick') })));
  // One that asks a person first is no answer for another.
  const asking = [1, 2].map(() => begin('c', () => Promise.reject(new Error('asks first'))));
  expect(await Promise.allSettled(asking)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(runs).toBe(4);
});

it('has a place for a start before it begins, and none that only asked keeps one', async () => {
  const { jobs } = crib({ jobs: 2 });
  const { open, work } = gate();
  const asks = () => Promise.reject(new Error('asks first'));
  for (const key of ['a', 'b', 'c'])
    await expect(runIn(jobs, key, asks, { announceAtOnce: true })).rejects.toThrow('asks first');
  let runs = 0;
  const all = await Promise.allSettled(
    ['a', 'b', 'c', 'd', 'e'].map((key) =>
      runIn(jobs, key, (io) => (runs++, io.progress('ready'), work()), { announceAtOnce: true }),
    ),
  );
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  expect(runs).toBe(2);
  open('end');
});

it('one that asks without input is told that there is none', async () => {
  const { start } = crib();
  const { text } = await start(
    `process.stdout.write('Delete all? [y/N] '); process.stdin.on('end', () => process.exit(3)).resume(); setTimeout(() => 0, 60000)`,
  );
  expect(text).toMatch(/^exited 3: Delete all\?/);
});

it('a flood is waited for at a low price, and found in', async () => {
  const { call: tool, start } = crib();
  const { job } = await start(
    `const line = 'x'.repeat(99) + '\\n'; let n = 0; const go = () => { for (let i = 0; i < 1000; i++) process.stdout.write(line); ++n < 100 ? setImmediate(go) : console.log('the end') }; go(); setTimeout(() => 0, 60000)`,
  );
  expect(await tool('wait_job', { job, pattern: '^the end$' })).toContain('line 100001 matches');
});

it('ends with the server: everything that runs, announced or not', async () => {
  const { jobs, folder, script, contextOf } = crib();
  const source = (name: string) =>
    `require('node:fs').writeFileSync('${name}', String(process.pid)); setTimeout(() => 0, 60000)`;
  const work = (name: string) => async (io: JobIo) =>
    script(source(name), { ...(await contextOf('me')), signal: io.signal });
  const waiting = runIn(jobs, 'a', work('a'));
  await runIn(jobs, 'b', work('b'), { budgetMs: 20 });
  await until(() => ['a', 'b'].every((name) => existsSync(join(folder, name))));
  await until(() => ['a', 'b'].every((name) => readFileSync(join(folder, name), 'utf8') !== ''));
  await jobs.endAll();
  await waiting;
  expect(['a', 'b'].some((name) => isRunning(join(folder, name)))).toBe(false);
});
