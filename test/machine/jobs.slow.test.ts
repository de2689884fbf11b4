import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { usualBudgets } from '../../src/core/settings.ts';
import { textOf, type CallContext, type Tool, type ToolResult } from '../../src/core/tool.ts';
import type { JobWork } from '../../src/machine/jobs/job.ts';
import { Jobs, type Answer } from '../../src/machine/jobs/jobs.ts';
import { OutputStore } from '../../src/machine/output-store/output-store.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { controlJob } from '../../src/server/tools/control-job.ts';
import { runningResult } from '../../src/server/tools/job-text.ts';
import { readOutput } from '../../src/server/tools/read-output.ts';
import { callContext, planAndRun } from '../support/call-context.ts';
import { temporaryFolder } from '../support/repository.ts';
import { until } from '../support/until.ts';
import { isRunningIn } from '../support/is-running.ts';

const processes = createProcesses(process.platform as 'linux');

/** Jobs, outputs, the tools about them, and one tool to be started: it runs a script of Node. */
function crib(budgets: Partial<typeof usualBudgets> = {}) {
  const jobs = new Jobs();
  const outputs = new OutputStore({ folder: undefined, budgets: usualBudgets });
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
  const services = { jobs, outputs };
  const tools: Record<string, Tool> = {
    read_output: readOutput(services),
    control_job: controlJob(services),
  };
  const call = async (name: string, given: object, client = 'me') => {
    const tool = tools[name]!;
    return textOf(await planAndRun(tool, given, await contextOf(client)));
  };
  /** Runs a script of Node in the background. */
  const start = async (source: string) => {
    const background = { key: source, tool: 'node', title: 'Node', isBackground: true };
    const answer = await jobs.run(background, (context) => script(source, context), await contextOf('me'));
    const told = answer.kind === 'done' ? answer.result : runningResult(answer, outputs);
    return { text: textOf(told), id: answer.kind === 'done' ? '' : answer.job.id };
  };
  const read = (id: string, given: object = {}, client?: string) =>
    call('read_output', { id, ...given }, client);
  const control = (id: string, given: object) => call('control_job', { id, ...given });
  const plan = async (name: string, given: object) => {
    const tool = tools[name]!;
    return tool.plan(tool.params.parse(given), await contextOf('me'));
  };
  const stop = (id: string) => control(id, { action: 'stop' });
  const find = (id: string) => jobs.find('me', id) ?? expect.fail(`no ${id}`);
  /** A call of work of our own, by the client `me` unless told. */
  const run = async (key: string, work: JobWork, more: Partial<CallContext> & { seconds?: number } = {}) => {
    const { seconds = 5, client = 'me', ...rest } = more;
    const context = await contextOf(client);
    const limits = { ...context.budgets, callSeconds: seconds };
    return jobs.run({ key, tool: 'tool', title: 'A tool', isBackground: false }, work, {
      ...context,
      budgets: limits,
      ...rest,
    });
  };
  const join = async (key: string, signal = never()) =>
    jobs.join(key, { ...(await contextOf('me')), signal });
  return { jobs, folder, plan, call, start, read, control, stop, find, script, contextOf, run, join };
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
  const { find, run, join } = crib();
  const { open, work } = gate();
  const job = find(idOf(await run('build', work, { seconds: 0.02 })));
  open('built');
  await job.ended;
  const answer = await join('build');
  expect(answer?.kind === 'done' && textOf(answer.result)).toMatch(
    /^built\n\[this is tool-1, .*ended 0 s ago/,
  );
  expect(await join('build')).toBeUndefined();
});

it('cancelling ends a call, but not what has become a job', async () => {
  const { find, stop, run } = crib();
  const cancelling = new AbortController();
  const cancelled = run('a', untilAborted, { signal: cancelling.signal });
  cancelling.abort();
  expect(await cancelled).toMatchObject({ kind: 'done', result: { isError: true } });

  const leaving = new AbortController();
  const id = idOf(await run('b', untilAborted, { signal: leaving.signal, seconds: 0.02 }));
  leaving.abort();
  expect(find(id).state).toBe('running');
  expect(await stop(id)).toMatch(/^tool-1 was stopped after/);
  expect(await stop(id)).toMatch(/it had ended before$/);
});

it('what belongs to one client does not exist for another', async () => {
  const { jobs, read, run, find } = crib();
  const id = idOf(await run('a', untilAborted, { seconds: 0.02 }));
  expect(id).toBe('tool-1');
  expect(jobs.find('you', id)).toBeUndefined();
  const refusal = (name: string) => read(name, {}, 'you').catch((error: Error) => error.message);
  expect(await refusal(id)).toBe(await refusal('nothing-1'));
  expect(jobs.list('you')).toEqual([]);
  // Each counts its own.
  const other = await run('a', untilAborted, { seconds: 0.02, client: 'you' });
  expect(idOf(other)).toBe('tool-1');
  expect(find(id).client).toBe('me');
});

it('has as many jobs of a client as are allowed, and says how to go on', async () => {
  const { stop, run, start } = crib({ jobs: 2 });
  const begin = (key: string) => run(key, untilAborted, { seconds: 0.02 });
  const id = idOf(await begin('a'));
  await begin('b');
  const busy = { code: 'BUSY', message: expect.stringContaining('budgets.jobs') };
  await expect(begin('c')).rejects.toMatchObject(busy);
  await expect(start('console.log(1)')).rejects.toMatchObject(busy);
  expect(await run('a', async () => result('other'), { client: 'you' })).toMatchObject({ kind: 'done' });
  await stop(id);
  idOf(await begin('c'));
});

it('ends a job at its own limit', async () => {
  const { find, run } = crib({ jobMinutes: 0.2 / 60 });
  const job = find(idOf(await run('a', untilAborted, { seconds: 0.02 })));
  await job.ended;
  expect(job.state).toBe('timed_out');
});

it('keeps a hundred jobs that have ended', async () => {
  const { jobs, find, run } = crib({ jobs: 200 });
  const ids: string[] = [];
  for (let count = 0; count < 130; count++) {
    const { open, work } = gate();
    ids.push(idOf(await run(String(count), work, { seconds: 0.001 })));
    open('x');
    await find(ids.at(-1) ?? '').ended;
  }
  expect(jobs.list('me').length).toBeLessThanOrEqual(101);
  expect(jobs.find('me', ids[0] ?? '')).toBeUndefined();
  expect(find(ids.at(-1) ?? '').state).toBe('done');
});

it('a server is started, waited for by its port and its words, read, and stopped', async () => {
  const { folder, call, read, start, stop } = crib();
  const { text, id } = await start(
    `require('node:fs').writeFileSync('pid', String(process.pid)); console.log('starting');
     const server = require('node:http').createServer((q, r) => r.end('hi'));
     setTimeout(() => server.listen(0, '127.0.0.1', () => { require('node:fs').writeFileSync('port', String(server.address().port)); console.log('ready at', server.address().port) }), 300)`,
  );
  expect(id).toBe('node-1');
  expect(text).toMatch(/^node-1 is running for \d+ s \(node [^]*\)\nstarting\n\[read_output id=node-1 /);
  const ready = await read(id, { wait_for: String.raw`^ready at \d+$` });
  expect(ready).toMatch(/^line 2 matches; node-1 is running[^]*ready at \d+$/);
  const port = Number(readFileSync(join(folder, 'port'), 'utf8'));
  expect(await read(id, { wait_for: `port ${port}` })).toContain(
    `port ${port} accepts connections; node-1 is running`,
  );
  // From the start of the output: no race.
  expect(await read(id, { wait_for: 'starting', timeout: 0 })).toContain('line 1 matches');
  expect(await read(id, { wait_for: 'nothing', timeout: 0 })).toContain('no line matches until now');
  // What is no regular expression is a text.
  expect(await read(id, { wait_for: 'ready (', timeout: 0 })).toContain('no line matches until now');
  expect(await read(id)).toMatch(/^node-1 is running for \d+ s .*\nstarting\nready at \d+$/);
  expect(await read(id, { start_line: 2 })).toMatch(/^ready at \d+\n\[lines 2-2 of 2; it goes on\]$/);
  expect(await call('read_output', {})).toMatch(/^node-1 is running/);
  expect(await stop(id)).toMatch(/^node-1 was stopped after/);
  expect(isRunningIn(join(folder, 'pid'))).toBe(false);
  expect(await read(id)).toContain('cancelled null');
  expect(await read(id, { wait_for: 'ready' })).toMatch(/^line 2 matches; node-1 was stopped/);
  expect(await stop(id)).toContain('it had ended before');
});

it.skipIf(process.platform !== 'linux')('tells a port that somebody else listens to', async () => {
  const { read, start } = crib();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { id } = await start(`console.log('address in use'); setTimeout(() => 0, 60000)`);
  expect(await read(id, { wait_for: `port ${port}` })).toMatch(
    new RegExp(`^port ${port} accepts connections, but something listened to it before this job began`),
  );
  await expect(read(id, { wait_for: 'port 70000' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
});

it('waits for the end, and tells the result; the same start while it runs is the same job', async () => {
  const { read, start, folder } = crib();
  const source = `const wait = () => require('node:fs').existsSync('go') ? (console.log('built'), process.exit(3)) : setTimeout(wait, 20); console.log('x'); wait()`;
  const { id } = await start(source);
  expect((await start(source)).text).toMatch(new RegExp(`^${id} is running .*; it was already\n`));
  const waiting = read(id, { wait_for: 'end' });
  writeFileSync(join(folder, 'go'), '');
  expect(await waiting).toMatch(/^node-1 failed after \d+ s .*\nexited 3: x\nbuilt\n$/);
  expect((await start('console.log("short")')).text).toBe('exited 0: short\n');
});

it('a wait that is over by time says that it is running, and one for a pattern that takes for ever is refused', async () => {
  const { read, start } = crib();
  const { id } = await start(`console.log('a'.repeat(60) + '!'); setTimeout(() => 0, 60000)`);
  expect(await read(id, { wait_for: 'end', timeout: 0 })).toMatch(/^node-1 is running/);
  await expect(read(id, { wait_for: '(a+)+$' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
});

it('is written to, and asks a person about what a command is told', async () => {
  const { control, plan, read, start } = crib();
  const source = `process.stdout.write('Name: '); process.stdin.once('data', (d) => { console.log('hello', String(d).trim()); process.stdin.once('end', () => process.exit(0)) })`;
  const { id } = await start(source);
  expect(await plan('control_job', { id, action: 'send', text: 'you\n' })).toMatchObject({
    subject: expect.stringMatching(/^write to node .*: you$/),
    trust: 'runs code of this folder',
  });
  expect(await plan('control_job', { id, action: 'stop' })).toMatchObject({ effects: [] });
  expect(await control(id, { action: 'send', text: 'you\n' })).toMatch(/^sent; node-1 is running .*\)$/);
  expect(await read(id, { wait_for: 'hello' })).toContain('matches');
  await control(id, { action: 'send', end: true });
  expect(await read(id, { wait_for: 'end' })).toContain('hello you');
  await expect(control(id, { action: 'send', text: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('takes no input unless it was started in the background', async () => {
  const { control, run, read } = crib();
  const id = idOf(await run('a', untilAborted, { seconds: 0.02 }));
  await expect(control(id, { action: 'send', text: 'x' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
  await expect(control(id, { action: 'send' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
  await expect(read(id, {}, 'another')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('of the same starts at once one starts, whether it goes on or ends', async () => {
  const { start, folder } = crib();
  const script = (name: string, rest: string) =>
    `require('node:fs').appendFileSync('${name}', 'run '); console.log('ready'); ${rest}`;
  const going = await Promise.all([1, 2, 3].map(() => start(script('a', 'setTimeout(() => 0, 60000)'))));
  expect(new Set(going.map(({ id }) => id)).size).toBe(1);
  const ended = await Promise.all([1, 2, 3].map(() => start(script('b', ''))));
  for (const { text } of ended) expect(text).toMatch(/^exited 0: ready/);
  for (const name of ['a', 'b']) expect(readFileSync(join(folder, name), 'utf8')).toBe('run ');
});

it('a flood is waited for at a low price, and found in', async () => {
  const { read, start } = crib();
  const { id } = await start(
    `const line = 'x'.repeat(99) + '\\n'; let n = 0; const go = () => { for (let i = 0; i < 1000; i++) process.stdout.write(line); ++n < 100 ? setImmediate(go) : console.log('the end') }; go(); setTimeout(() => 0, 60000)`,
  );
  expect(await read(id, { wait_for: '^the end$' })).toContain('line 100001 matches');
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
  expect(['a', 'b'].some((name) => isRunningIn(join(folder, name)))).toBe(false);
});
