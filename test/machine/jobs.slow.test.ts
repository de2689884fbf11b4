import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { usualBudgets } from '../../src/core/settings.ts';
import { textOf, type CallContext, type Tool, type Result } from '../../src/core/tool.ts';
import type { JobWork } from '../../src/machine/jobs/job.ts';
import { Jobs, type JobAnswer } from '../../src/machine/jobs/jobs.ts';
import { OutputStore } from '../../src/machine/output-store/output-store.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import controlJob from '../../src/tools/control-job.ts';
import { bindTool } from '../../src/tools/define-tool.ts';
import { runningResult } from '../../src/tools/output/job-text.ts';
import readOutput from '../../src/tools/read-output.ts';
import { callContext, planAndRun } from '../support/call-context.ts';
import { sessionOf } from '../support/session.ts';
import { temporaryFolder } from '../support/repository.ts';
import { until } from '../support/until.ts';

const processes = createProcesses(process.platform as 'linux');

/** Jobs, outputs, the tools about them, and one tool to be started: it runs a script of Node. */
function scene(budgets: Partial<typeof usualBudgets> = {}) {
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
  async function script(source: string, context: CallContext): Promise<Result> {
    const sink = context.keepOutput(`node ${source.slice(0, 20)}`, folder);
    const outcome = await processes.run({
      program: process.execPath,
      argv: ['-e', source],
      cwd: folder,
      env: { PATH: '/usr/bin:/bin' },
      timeoutMs: 60_000,
      signal: context.signal,
      sink,
    });
    sink.end();
    return {
      content: [{ type: 'text', text: `${outcome.ended} ${outcome.exitCode}: ${outcome.stdout.text}` }],
      isError: outcome.exitCode !== 0,
    };
  }
  const session = sessionOf({ jobs, outputs });
  const call = async (tool: Tool, given: object, client = 'me') =>
    textOf(await planAndRun(tool, given, await contextOf(client)));
  /** Runs a script of Node in the background. */
  const start = async (source: string) => {
    const background = { key: source, tool: 'node', title: 'Node', isBackground: true };
    const answer = await jobs.run(background, (context) => script(source, context), await contextOf('me'));
    const told = answer.kind === 'done' ? answer.result : runningResult(answer, outputs);
    return { text: textOf(told), id: answer.kind === 'done' ? '' : answer.job.id };
  };
  const read = (id: string, given: object = {}, client?: string) =>
    call(bindTool(readOutput, session), { id, ...given }, client);
  const control = (id: string, given: object) => call(bindTool(controlJob, session), { id, ...given });
  const stop = (id: string) => control(id, { action: 'stop' });
  const find = (id: string) => jobs.find('me', id) ?? expect.fail(`no ${id}`);
  /** A call of work of our own, by the client `me` unless another is given. */
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
  return { jobs, folder, start, read, control, stop, find, run };
}

const result = (text: string): Result => ({ content: [{ type: 'text', text }] });
const idOf = (answer: JobAnswer | undefined) =>
  answer?.kind === 'running' ? answer.job.id : expect.fail('is no job');
const untilAborted: JobWork = ({ signal }) =>
  new Promise<Result>((resolve) => {
    const end = () => resolve({ ...result('ended'), isError: true });
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  });
/** Work that ends on a signal of the test. */
function gate() {
  let open = (_text: string) => {};
  const opened = new Promise<string>((resolve) => {
    open = resolve;
  });
  return { open, work: async () => result(await opened) };
}

it('hides what belongs to one client from another', async () => {
  const { jobs, read, run, find } = scene();
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

it('allows a client as many jobs as are set, and names a way to go on', async () => {
  const { stop, run, start } = scene({ jobs: 2 });
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
  const { find, run } = scene({ jobMinutes: 0.2 / 60 });
  const job = find(idOf(await run('a', untilAborted, { seconds: 0.02 })));
  await job.ended;
  expect(job.state).toBe('timed_out');
});

it('keeps a hundred jobs that have ended', async () => {
  const { jobs, find, run } = scene({ jobs: 200 });
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

it('ends a wait at its time limit, and refuses a pattern that would take for ever', async () => {
  const { read, start } = scene();
  const { id } = await start(`console.log('a'.repeat(60) + '!'); setTimeout(() => 0, 60000)`);
  expect(await read(id, { wait_for: 'end', timeout: 0 })).toMatch(/^node-1 is running/);
  await expect(read(id, { wait_for: '(a+)+$' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
});

it('takes no input for a job that was not started in the background', async () => {
  const { control, run, read } = scene();
  const id = idOf(await run('a', untilAborted, { seconds: 0.02 }));
  await expect(control(id, { action: 'send', text: 'x' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
  await expect(control(id, { action: 'send' })).rejects.toMatchObject({ code: 'ARG_INVALID' });
  await expect(read(id, {}, 'another')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('starts one job for several equal starts at once, whether it goes on or ends', async () => {
  const { start, folder } = scene();
  const script = (name: string, rest: string) =>
    `require('node:fs').appendFileSync('${name}', 'run '); console.log('ready'); ${rest}`;
  const going = await Promise.all([1, 2, 3].map(() => start(script('a', 'setTimeout(() => 0, 60000)'))));
  expect(new Set(going.map(({ id }) => id)).size).toBe(1);
  const ended = await Promise.all([1, 2, 3].map(() => start(script('b', ''))));
  for (const { text } of ended) expect(text).toContain('ready');
  for (const name of ['a', 'b']) expect(readFileSync(join(folder, name), 'utf8')).toBe('run ');
});

it('waits at a low price for a flood of output, and finds a line in it', async () => {
  const { read, start } = scene();
  const { id } = await start(
    `const line = 'x'.repeat(99) + '\\n'; let n = 0; const go = () => { for (let i = 0; i < 1000; i++) process.stdout.write(line); ++n < 100 ? setImmediate(go) : console.log('the end') }; go(); setTimeout(() => 0, 60000)`,
  );
  await until(async () => (await read(id, { wait_for: '^the end$' })).includes('line 100001 matches'));
});
