import { expect, it } from 'vitest';
import { runHooks, type Hook, type HookPayload } from '../../src/repl/turn/hooks.ts';
import { temporaryFolder } from '../support/repository.ts';

const hook = (script: string, facts: Partial<Hook> = {}): Hook => ({
  command: [process.execPath, '-e', script],
  ...facts,
});
const payload = (facts: Partial<HookPayload> = {}): HookPayload => ({
  tool: 'git_push',
  server: 'git',
  args: { remote: 'origin' },
  cwd: temporaryFolder(),
  session: 's1',
  ...facts,
});

const echo = `let text = ''; process.stdin.on('data', (d) => text += d).on('end', () => console.log(text))`;
const refuse = `console.error('not on Fridays'); process.exit(2)`;
const never = `setInterval(() => {}, 1000)`;

it('tells a hook of the call as JSON, and the model what the hook prints', async () => {
  const told = payload({ result: { text: 'ok', isError: false } });
  const { notes, warnings } = await runHooks({ after: [hook(echo)] }, 'after', told);
  expect(notes.map((note) => JSON.parse(note))).toEqual([{ event: 'after', ...told }]);
  expect(warnings).toEqual([]);
});

it('runs in the folder of the session', async () => {
  const told = payload();
  const { notes } = await runHooks({ end: [hook('console.log(process.cwd())')] }, 'end', told);
  expect(notes).toEqual([told.cwd]);
});

it('refuses a call with exit code 2, for the reason given, and asks no further hook', async () => {
  const hooks = { before: [hook(refuse), hook('console.log(1)')] };
  expect(await runHooks(hooks, 'before', payload())).toEqual({
    refused: 'not on Fridays',
    notes: [],
    warnings: [],
  });
});

it('tells the model the reason when it is too late to refuse', async () => {
  const outcome = await runHooks({ after: [hook(refuse)] }, 'after', payload());
  expect(outcome).toEqual({ notes: ['not on Fridays'], warnings: [] });
});

it.each<[string, Hook, string]>([
  ['fails', hook('process.exit(1)'), 'exit code 1'],
  ['is killed', hook(`process.kill(process.pid, 'SIGKILL')`), 'failed'],
  ['takes too long', hook(never, { timeoutMs: 300 }), 'took too long'],
  ['is not there', { command: ['no-such-hook'] }, 'no-such-hook'],
])('refuses a call when a guard %s; after it, that is a warning', async (_, broken, why) => {
  const before = await runHooks({ before: [broken] }, 'before', payload());
  expect(before.refused).toContain(why);
  const after = await runHooks({ after: [broken, hook('console.log(1)')] }, 'after', payload());
  expect(after).toEqual({ notes: ['1'], warnings: [expect.stringContaining(why)] });
});

it.each([
  ['git_*', true],
  ['git:git_push', true],
  ['mcp__git__*', true],
  ['read, git_push', true],
  ['other:*', false],
  ['push', false],
])('runs a hook for %s: %s', async (tools, runs) => {
  const outcome = await runHooks({ before: [hook(refuse, { tools })] }, 'before', payload());
  expect(outcome.refused !== undefined).toBe(runs);
});

it('ends a hook when the turn is interrupted, and does not make the call', async () => {
  const outcome = await runHooks({ before: [hook(never)] }, 'before', payload(), {
    signal: AbortSignal.timeout(300),
  });
  expect(outcome.refused).toContain('interrupted');
});
