import {
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, it } from 'vitest';
import { usualBudgets } from '../../src/core/settings.ts';
import type { OutputSink } from '../../src/core/tool.ts';
import { OutputStore, type OutputStoreOptions } from '../../src/machine/output-store/output-store.ts';
import { Jobs } from '../../src/machine/jobs/jobs.ts';
import { bindTool } from '../../src/tools/define-tool.ts';
import readOutput from '../../src/tools/read-output.ts';
import { callContext, planAndRun } from '../support/call-context.ts';
import { sessionOf } from '../support/session.ts';

const top = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-outputs-')));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const megabyte = 1024 * 1024;
const newFolder = () => mkdtempSync(join(top, 'cache-'));
const open = (options: Partial<OutputStoreOptions> = {}) => {
  const store = new OutputStore({ folder: newFolder(), budgets: usualBudgets, ...options });
  const tool = bindTool(readOutput, sessionOf({ outputs: store, jobs: new Jobs() }));
  return {
    store,
    /** The answer of read_output, as the client `me` unless another is given. */
    async read(id: string, given: object = {}, client = 'me'): Promise<string> {
      const context = await callContext([], { client, signal: AbortSignal.timeout(60_000) });
      const result = await planAndRun(tool, { id, ...given }, context);
      const [part] = result.content ?? [];
      return part?.type === 'text' ? part.text : '';
    },
  };
};
const print = (sink: OutputSink, ...texts: string[]) => {
  for (const text of texts) sink.add('stdout', Buffer.from(text));
};
const complaint = (work: Promise<unknown>) =>
  work.then(String, (error: Error & { code?: string }) => `${error.code}: ${error.message}`);
const numbered = (count: number, width = 80) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1} `.padEnd(width - 1, 'x')).join('\n') + '\n';

it('shows what was printed by line, with both streams in the order in which lines ended', async () => {
  const { store, read } = open();
  const sink = store.open('me', 'npm test');
  sink.add('stdout', Buffer.from('one\ntw'));
  sink.add('stderr', Buffer.from('oops\n'));
  sink.add('stdout', Buffer.from('o\nlast'));
  expect(await read(sink.handle)).toBe('one\noops\ntwo\nlast\n[lines 1-4 of 4; it goes on]');
  sink.end();
  sink.add('stdout', Buffer.from('too late'));
  expect(await read(sink.handle)).toBe('one\noops\ntwo\nlast');
  expect(await read(sink.handle, { tail: 2 })).toBe('two\nlast');
  expect(await read(sink.handle, { start_line: 2, end_line: 2 })).toBe(
    'oops\n[lines 2-2 of 4; next: start_line=3]',
  );
  expect(await complaint(read(sink.handle, { start_line: 9 }))).toMatch(
    /^ARG_INVALID: start_line: there are 4/,
  );
});

it('pages through a large output without losing or repeating a line, result by result', async () => {
  const { store, read } = open();
  const sink = store.open('me', 'x');
  const text = Buffer.from(numbered(3000));
  for (let at = 0; at < text.length; at += 7777) sink.add('stdout', text.subarray(at, at + 7777));
  sink.end();
  let lines = '';
  for (let from: number | undefined = 1; from !== undefined;) {
    const page = await read(sink.handle, { start_line: from });
    expect(page.length).toBeLessThanOrEqual(16_000);
    lines += page.slice(0, page.lastIndexOf('['));
    const next: string | undefined = /next: start_line=(\d+)/.exec(page)?.[1];
    from = next === undefined ? undefined : Number(next);
  }
  expect(lines).toBe(String(text));
});

it('refuses a foreign, a made-up and a forgotten handle in the same words', async () => {
  const { store, read } = open({ budgets: { outputMegabytes: 256, outputHours: 1e-9 } });
  const sink = store.open('me', 'x');
  expect(sink.handle).toBe('x-1');
  const made = await complaint(read('y-1'));
  expect(made).toMatch(/^NOT_FOUND: /);
  expect(await complaint(read(sink.handle, {}, 'another'))).toBe(made);
  sink.end();
  await expect.poll(() => complaint(read(sink.handle))).toBe(made);
});

it('ATTACK 99: keeps head and tail of an endless output in bounded memory, and names the gap', async () => {
  const { store, read } = open({ budgets: { outputMegabytes: 4, outputHours: 1 } });
  const sink = store.open('me', 'yes');
  const chunk = Buffer.from('y\n'.repeat(32 * 1024));
  print(sink, 'first\n');
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const held = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const before = held();
  for (let count = 0; count < 1000; count++) sink.add('stdout', chunk);
  // Garbage is freed by other threads, which come late on a busy machine.
  await expect.poll(() => held() - before).toBeLessThan(megabyte / 2);
  print(sink, 'last\n');
  sink.end();
  expect(await read(sink.handle, { end_line: 1 })).toMatch(/^first\n/);
  expect(await read(sink.handle, { tail: 1 })).toBe('last');
  expect(await read(sink.handle, { start_line: 5_000_000, end_line: 5_000_001 })).toMatch(
    /^\[lines 5000000-\d+ were not kept\]\n/,
  );
});

it('keeps as much of the end as of the beginning when there is a little too much', async () => {
  const { store, read } = open({ budgets: { outputMegabytes: 2, outputHours: 1 } });
  const sink = store.open('me', 'x');
  print(sink, numbered(27_000));
  sink.end();
  expect(await read(sink.handle, { start_line: 11_000, end_line: 11_000 })).toMatch(/^line 11000 /);
  expect(await read(sink.handle, { start_line: 16_000, end_line: 16_000 })).toMatch(/^line 16000 /);
  expect(await read(sink.handle, { pattern: '^nothing' })).toMatch(/^\[lines 1\d{4}-1\d{4} were not kept\]/);
});

it('ATTACK 68: reaches every part of a line without end, cut between words', async () => {
  const { store, read } = open();
  const sink = store.open('me', 'x');
  const words = Array.from({ length: 20_000 }, (_, index) => `é${index}€`.padEnd(20, 'x'));
  print(sink, words.join(' ').slice(0, 100_000), words.join(' ').slice(100_000), '\nnext\n');
  sink.end();
  const seen: string[] = [];
  for (let from: number | undefined = 1; from !== undefined;) {
    const page = await read(sink.handle, { start_line: from });
    expect(page.length).toBeLessThanOrEqual(16_000);
    seen.push(...page.slice(0, page.lastIndexOf('[')).split(/(?:^|…?\n)| /));
    const next: string | undefined = /next: start_line=(\d+)/.exec(page)?.[1];
    from = next === undefined ? undefined : Number(next);
  }
  expect(seen.filter((word) => word !== '')).toEqual([...words, 'next']);
  expect(await read(sink.handle, { pattern: '19999€' })).toMatch(/^\d+:.*19999€x+$/);
});

it('ATTACK 100: decodes as a whole, wherever chunks and blocks end', async () => {
  const { store, read } = open();
  const sink = store.open('me', 'x');
  for (const byte of Buffer.from('漢字 😀\n')) sink.add('stdout', Buffer.from([byte]));
  sink.add('stdout', Buffer.from([0xe9, 0x0a]));
  sink.end();
  expect(await read(sink.handle)).toMatch(/^漢字 😀\né(?:\n|$)/);
});

it('ATTACK 44: removes what hides, reorders or commands, and keeps one line one line', async () => {
  const { store, read } = open();
  const sink = store.open('me', 'run\u001b[2J\nthis');
  print(sink, 'a\u202eb\u001b]0;title\u0007\n10%\r20%\r\nend\n');
  sink.end();
  expect(await read(sink.handle)).toBe('ab\n10%␍20%\nend');
});

it('greps with context, goes on after a page, and refuses what is no pattern', async () => {
  const { store, read } = open();
  const sink = store.open('me', 'x');
  print(sink, numbered(5000, 30));
  sink.end();
  expect(await read(sink.handle, { pattern: '^LINE 25 ' })).toBe('[no line of 5,000 matches]');
  expect(await read(sink.handle, { pattern: '(?i)^LINE 25 ', context: 1 })).toMatch(
    /^24-line 24 x+\n25:line 25 x+\n26-line 26 x+$/,
  );
  const page = await read(sink.handle, { pattern: 'line' });
  expect(page).toContain('more match; next: start_line=');
  expect(await complaint(read(sink.handle, { pattern: '(' }))).toMatch(
    /^ARG_INVALID: pattern: Invalid regular/,
  );
});

it('ATTACK 69: gives up a pattern that takes for ever, and serves others meanwhile', async () => {
  const { store, read } = open();
  const sink = store.open('me', 'x');
  print(sink, `${'a'.repeat(40)}!\n`);
  expect(await complaint(read(sink.handle, { pattern: '(a+)+$' }))).toMatch(
    /^ARG_INVALID: pattern: takes too long/,
  );
});

it('forgets the oldest when there is too much, and nothing short for something long', async () => {
  const { store, read } = open({ budgets: { outputMegabytes: 2, outputHours: 1 } });
  const fill = (size: number) => {
    const sink = store.open('me', 'x');
    sink.add('stdout', Buffer.alloc(size, 'a\n'));
    sink.end();
    return sink.handle;
  };
  const short = fill(10);
  const long = Array.from({ length: 6 }, () => fill(0.5 * megabyte));
  expect(await complaint(read(long[0] ?? ''))).toMatch(/^NOT_FOUND/);
  for (const handle of [short, long[5] ?? ''])
    expect(await read(handle, { end_line: 1 })).toMatch(/^a(?:\n|$)/);
  for (let count = 0; count < 300; count++) fill(10);
  expect(await complaint(read(short))).toMatch(/^NOT_FOUND/);
  expect(await read(long[5] ?? '', { end_line: 1 })).toMatch(/^a(?:\n|$)/);
});

it('shares its room between outputs that all grow', async () => {
  const { store, read } = open({ budgets: { outputMegabytes: 1, outputHours: 1 } });
  const sinks = ['a', 'b', 'c'].map((owner) => ({ owner, sink: store.open(owner, 'x') }));
  for (let count = 0; count < 100; count++)
    for (const { sink } of sinks) sink.add('stdout', Buffer.alloc(50_000, `${count}\n`));
  for (const { owner, sink } of sinks) {
    expect(await read(sink.handle, { end_line: 1 }, owner)).toMatch(/^0\n/);
    expect(await read(sink.handle, { tail: 3 }, owner)).toMatch(/\n99(?:\n|$)/);
  }
});

it('ATTACK 71: has its files in a private folder, without a name', () => {
  const folder = newFolder();
  const { store } = open({ folder });
  const sink = store.open('me', 'x');
  print(sink, numbered(5000));
  const outputs = join(folder, 'outputs');
  expect(readdirSync(outputs)).toEqual([]);
  expect(statSync(outputs).mode & 0o777).toBe(0o700);
  store.close();
});

it("ATTACK 71: keeps less, in memory, where its folder is somebody else's trap", async () => {
  const folder = newFolder();
  const elsewhere = newFolder();
  symlinkSync(elsewhere, join(folder, 'outputs'));
  writeFileSync(join(elsewhere, 'mine'), 'untouched');
  const { store, read } = open({ folder });
  const sink = store.open('me', 'x');
  print(sink, numbered(100_000));
  sink.end();
  expect(readdirSync(elsewhere)).toEqual(['mine']);
  expect(await read(sink.handle, { end_line: 1 })).toMatch(/^line 1 x/);
  expect(await read(sink.handle, { start_line: 50_000, end_line: 50_001 })).toMatch(/were not kept\]/);
  expect(await read(sink.handle, { tail: 1 })).toMatch(/^line 100000 x/);
});

it.each([
  ['npm run dev -- --port 3000', 'dev-1'],
  ['NODE_ENV=test npm test', 'test-1'],
  ['docker compose up', 'up-1'],
  ['/w/node_modules/.bin/vitest run', 'vitest-1'],
  ['node server.mjs', 'node-1'],
  ["'a b.exe' x", 'a-1'],
  ['漢字', 'output-1'],
])('names an output by its task or program: %s', (line, handle) => {
  const { store } = open();
  expect(store.open('me', line).handle).toBe(handle);
  expect(store.open('me', line).handle).toBe(handle.replace('-1', '-2'));
  expect(store.open('you', line).handle).toBe(handle);
});
