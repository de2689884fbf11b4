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
import type { JobWork } from '../../src/machine/jobs/job.ts';
import { Jobs, type Answer } from '../../src/machine/jobs/jobs.ts';
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
  const jobs = new Jobs();
  const outputs = createOutputStore({ folder: undefined, budgets: usualBudgets });
  onTestFinished(async () => {
    await jobs.endAll();
    outputs.close();
  });
  const folder = temporaryFolder();
  const contextOf = (client: string) =>
    callContext([folder], {
      client,
      keepOutput: (command, _folder, handle) => outputs.open(client, command, handle),
      budgets: { ...usualBudgets, callSeconds: 10, ...budgets },
    });
  async function script(source: string, context: CallContext): Promise<ToolResult> {
    const sink = context.keepOutput(`node ${source.slice(0, 20)}`, folder);
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
  /** A call of work of our own, by the client `me` unless told. */
  const run = async (key: string, work: JobWork, more: Partial<CallContext> & { seconds?: number } = {}) => {
    const { seconds = 5, client = 'me', ...rest } = more;
    const context = await contextOf(client);
    const limits = { ...context.budgets, callSeconds: seconds };
    return jobs.run({ key, tool: 'tool', title: 'A tool' }, work, { ...context, budgets: limits, ...rest });
  };
  const join = async (key: string, signal = never()) =>
    jobs.join(key, { ...(await contextOf('me')), signal });
  return { jobs, folder, plan, call, start, script, contextOf, run, join };
}

const never = () => new AbortController().signal;
const result = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });
const idOf = (answer: Answer | undefined) =>
  answer?.kind === 'running' ? answer.job.id : expect.fail('is no job');
const untilAborted: JobWork = ({ signal }) =>
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
  const { jobs, run } = crib();
  expect(await run('a', async () => result('done'))).toEqual({ kind: 'done', result: result('done') });
  await expect(run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(jobs.list('me')).toEqual([]);
});

it('ATTACK 103: answers with a job after its budget; the same call joins it, and gets the result once', async () => {
  const { run, join } = crib();
  const { open, work } = gate();
  const first = await run('build', work, { seconds: 0.02 });
  const leaving = new AbortController();
  const second = join('build', leaving.signal);
  leaving.abort();
  expect(await second).toMatchObject({ joined: true, job: { id: idOf(first), state: 'running' } });
  const third = join('build');
  setTimeout(() => open('built'), 200);
  expect(await third).toEqual({ kind: 'done', result: result('built') });
  expect(await join('build')).toBeUndefined();
});

it('keeps a result that nobody got for the same call, once, and says how old it is', async () => {
  const { jobs, run, join } = crib();
  const { open, work } = gate();
  const job = jobs.find('me', idOf(await run('build', work, { seconds: 0.02 })));
  open('built');
  await job.ended;
  const answer = await join('build');
  expect(answer?.kind === 'done' && textOf(answer.result)).toMatch(
    /^built\n\[the result of job \w+, .*ended 0 s ago/,
  );
  expect(await join('build')).toBeUndefined();
});

it('cancelling ends a call, but not what has become a job', async () => {
  const { jobs, run } = crib();
  const cancelling = new AbortController();
  const cancelled = run('a', untilAborted, { signal: cancelling.signal });
  cancelling.abort();
  expect(await cancelled).toMatchObject({ kind: 'done', result: { isError: true } });

  const leaving = new AbortController();
  const id = idOf(await run('b', untilAborted, { signal: leaving.signal, seconds: 0.02 }));
  leaving.abort();
  expect(jobs.find('me', id).state).toBe('running');
  expect(await jobs.stop('me', id)).toMatchObject({ state: 'stopped' });
  expect(await jobs.stop('me', id)).toMatchObject({ state: 'stopped' });
});

it('what belongs to one client does not exist for another', async () => {
  const { jobs, run } = crib();
  const id = idOf(await run('a', untilAborted, { seconds: 0.02 }));
  expect(id).toMatch(/^[0-9a-z]{20}$/);
  const refusal = (client: string, name: string) => {
    try {
      jobs.find(client, name);
    } catch (error) {
      return String(error).replace(name, 'ID');
    }
    return expect.fail('was found');
  };
  expect(refusal('you', id)).toBe(refusal('you', 'nothing'));
  expect(jobs.list('you')).toEqual([]);
  await expect(jobs.stop('you', id)).rejects.toThrow('there is no job');
});

it('has as many jobs of a client as are allowed, and says how to go on', async () => {
  const { jobs, run, start } = crib({ jobs: 2 });
  const begin = (key: string) => run(key, untilAborted, { seconds: 0.02 });
  const id = idOf(await begin('a'));
  await begin('b');
  const busy = { code: 'BUSY', message: expect.stringContaining('budgets.jobs') };
  await expect(begin('c')).rejects.toMatchObject(busy);
  await expect(start('console.log(1)')).rejects.toMatchObject(busy);
  expect(await run('a', async () => result('other'), { client: 'you' })).toMatchObject({ kind: 'done' });
  await jobs.stop('me', id);
  idOf(await begin('c'));
});

it('ends a job at its own limit', async () => {
  const { jobs, run } = crib({ jobMinutes: 0.2 / 60 });
  const job = jobs.find('me', idOf(await run('a', untilAborted, { seconds: 0.02 })));
  await job.ended;
  expect(job.state).toBe('timed_out');
});

it('keeps a hundred jobs that have ended', async () => {
  const { jobs, run } = crib({ jobs: 200 });
  const ids: string[] = [];
  for (let count = 0; count < 130; count++) {
    const { open, work } = gate();
    ids.push(idOf(await run(String(count), work, { seconds: 0.001 })));
    open('x');
    await jobs.find('me', ids.at(-1) ?? '').ended;
  }
  expect(jobs.list('me').length).toBeLessThanOrEqual(101);
  expect(() => jobs.find('me', ids[0] ?? '')).toThrow('there is no job');
  expect(jobs.find('me', ids.at(-1) ?? '').state).toBe('done');
});

it('a server is started, waited for by its port and its words, read, and stopped', async () => {
  const { folder, call: tool, start } = crib();
  const { text, job } = await start(
    `require('node:fs').writeFileSync('pid', String(process.pid)); console.log('starting');
     const server = require('node:http').createServer((q, r) => r.end('hi'));
     setTimeout(() => server.listen(0, '127.0.0.1', () => { require('node:fs').writeFileSync('port', String(server.address().port)); console.log('ready at', server.address().port) }), 300)`,
  );
  expect(text).toMatch(/^job \w{20} is running for \d+ s \(node: node [^]*\)\nstarting$/);
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
  const { start, folder } = crib();
  const script = (name: string, rest: string) =>
    `require('node:fs').appendFileSync('${name}', 'run '); console.log('ready'); ${rest}`;
  const going = await Promise.all([1, 2, 3].map(() => start(script('a', 'setTimeout(() => 0, 60000)'))));
  expect(new Set(going.map(({ job }) => job)).size).toBe(1);
  const ended = await Promise.all([1, 2, 3].map(() => start(script('b', ''))));
  for (const { text } of ended) expect(text).toMatch(/^exited 0: ready/);
  for (const name of ['a', 'b']) expect(readFileSync(join(folder, name), 'utf8')).toBe('run ');
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
  const { jobs, folder, script, run } = crib();
  const source = (name: string) =>
    `require('node:fs').writeFileSync('${name}', String(process.pid)); setTimeout(() => 0, 60000)`;
  const work = (name: string) => (context: CallContext) => script(source(name), context);
  const waiting = run('a', work('a'));
  await run('b', work('b'), { seconds: 0.02 });
  await until(() =>
    ['a', 'b'].every(
      (name) => existsSync(join(folder, name)) && readFileSync(join(folder, name), 'utf8') !== '',
    ),
  );
  await jobs.endAll();
  await waiting;
  expect(['a', 'b'].some((name) => isRunning(join(folder, name)))).toBe(false);
});
