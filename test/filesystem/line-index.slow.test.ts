import { appendFile, open, stat, truncate, writeFile } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TextFile } from '../../src/filesystem/reading/file-lines.ts';
import { createLineIndexes, type LineIndexes } from '../../src/filesystem/reading/line-index.ts';
import { lend } from '../../src/filesystem/reading/read-buffers.ts';
import { encodingOf } from '../../src/filesystem/text/text-file.ts';
import { settled } from '../../src/filesystem/unchanged.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { until } from '../support/until.ts';
import { failureOf, temporaryFolder } from './folder.ts';

const megabyte = 1024 * 1024;
let root: string;
beforeAll(async () => {
  root = await temporaryFolder();
});

/** As a file system tells it that keeps times in steps of so many milliseconds. */
const told = (found: Stats, stepMs: number): Stats =>
  Object.assign(Object.create(found), {
    mtimeMs: Math.floor(found.mtimeMs / stepMs) * stepMs,
    ctimeMs: Math.floor(found.ctimeMs / stepMs) * stepMs,
    size: found.size,
    dev: found.dev,
    ino: found.ino,
  });

/** Opens a file for one search, and counts the bytes that are read of it. */
async function looking<T>(
  name: string,
  then: (file: TextFile, read: () => number) => Promise<T>,
  stepMs?: number,
): Promise<T> {
  const opened = await (await openWorkspace([root])).openFile(name);
  const seen = (found: Stats) => (stepMs === undefined ? found : told(found, stepMs));
  let read = 0;
  const handle = Object.create(opened.handle, {
    stat: { value: async () => seen(await opened.handle.stat()) },
    read: {
      async value(...given: Parameters<typeof opened.handle.read>) {
        const result = await opened.handle.read(...given);
        read += result.bytesRead;
        return result;
      },
    },
  }) as typeof opened.handle;
  const head = Buffer.alloc(Math.min(1000, opened.stat.size));
  await opened.handle.read(head, 0, head.length, 0);
  try {
    return await then(
      {
        name,
        size: opened.stat.size,
        encoding: encodingOf(head)!,
        chosen: false,
        head,
        opened: { ...opened, stat: seen(opened.stat), handle },
        loan: lend(createLineIndexes().buffers),
      },
      () => read,
    );
  } finally {
    await opened.handle.close();
  }
}

const patience = () => ({ signal: new AbortController().signal, untilMs: performance.now() + 100_000 });
const find = (lines: LineIndexes, name: string, line: number, stepMs?: number) =>
  looking(
    name,
    async (file, read) => ({ ...(await lines.find(file, line, patience())), read: read() }),
    stepMs,
  );

/** Waits until a change of the file is sure to be seen by its times. */
const aged = (name: string) => until(async () => settled(await stat(join(root, name)), Date.now()));

const lineOf = (length: number) => `${'x'.repeat(length - 1)}\n`;
const log = (count: number) => lineOf(100).repeat(count);

describe('a line is found', () => {
  /** What the index has to say, worked out the simple way. */
  function expected(bytes: Buffer, line: number, width: 1 | 2, mark: number) {
    const starts = [mark];
    for (let at = mark; at + width <= bytes.length; at += width) {
      const isFeed = width === 1 ? bytes[at] === 10 : bytes.readUInt16LE(at) === 10;
      if (isFeed && at + width < bytes.length) starts.push(at + width);
    }
    const start = starts[line - 1];
    return start === undefined ? { lines: starts.length } : { start };
  }

  const runs = fc.array(
    fc.record({
      length: fc.constantFrom(1, 2, 7, 64, 100, 4096, 65_535, 65_536, 65_537, 300_000),
      bytes: fc.integer({ min: 1, max: 400_000 }),
    }),
    { minLength: 1, maxLength: 8 },
  );
  const asks = fc.array(fc.double({ min: 0, max: 1.1, noNaN: true }), { minLength: 5, maxLength: 12 });

  it.each(['utf-8', 'utf-16le'] as const)(
    'in any order, whatever is asked before, in %s',
    async (label) => {
      await fc.assert(
        fc.asyncProperty(runs, asks, fc.boolean(), async (parts, wanted, ended) => {
          const text =
            parts.map(({ length, bytes }) => lineOf(length).repeat(Math.ceil(bytes / length))).join('') +
            (ended ? '' : 'end');
          const wide = label === 'utf-16le';
          const bytes = wide ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text);
          await writeFile(join(root, 'any.txt'), bytes);
          await aged('any.txt');
          const lines = createLineIndexes();
          const total = text.split('\n').length;
          for (const share of wanted) {
            const line = Math.max(1, Math.round(share * total));
            const { read: _, ...found } = await find(lines, 'any.txt', line);
            expect(found).toEqual(expected(bytes, line, wide ? 2 : 1, wide ? 2 : 0));
          }
        }),
        { numRuns: 8 },
      );
    },
    30_000,
  );

  it('a second time without reading up to it again', async () => {
    await writeFile(join(root, 'big.log'), log(300_000));
    await aged('big.log');
    const lines = createLineIndexes();
    const first = await find(lines, 'big.log', 250_000);
    expect(first).toMatchObject({ start: 24_999_900 });
    expect(first.read).toBeLessThan(27 * megabyte);
    const again = await find(lines, 'big.log', 123_456);
    expect(again).toMatchObject({ start: 12_345_500 });
    expect(again.read).toBeLessThanOrEqual(64 * 1024);
    // Behind what has been counted it is only counted on.
    expect((await find(lines, 'big.log', 290_000)).read).toBeLessThan(7 * megabyte);
    expect(await find(lines, 'big.log', Infinity)).toMatchObject({ lines: 300_000 });
    expect(await looking('big.log', async (file) => lines.linesOf(file))).toBe(300_000);
  });

  it('by many at the same time, who share the work', async () => {
    await writeFile(join(root, 'shared.log'), log(300_000));
    await aged('shared.log');
    const lines = createLineIndexes();
    const found = await Promise.all(
      Array.from({ length: 16 }, (_, index) => find(lines, 'shared.log', 100_000 + index * 10_000)),
    );
    expect(found.map((one) => 'start' in one && one.start)).toEqual(
      Array.from({ length: 16 }, (_, index) => (99_999 + index * 10_000) * 100),
    );
    const read = found.reduce((sum, one) => sum + one.read, 0);
    expect(read).toBeLessThan(2 * 25 * megabyte);
  });
});

describe('an index is not believed', () => {
  it.each([undefined, 10, 1000, 2000])(
    'when the file was changed within the same tick (%s)',
    async (stepMs) => {
      const lines = createLineIndexes();
      await writeFile(join(root, 'racy.log'), log(11_000));
      const handle = await open(join(root, 'racy.log'), 'r+');
      for (let round = 0; round < 100; round++) {
        const splits = round % 2 === 0;
        await handle.write(splits ? '\n' : 'x', 50);
        expect(await find(lines, 'racy.log', 10_000, stepMs)).toMatchObject({
          start: (splits ? 9_998 : 9_999) * 100,
        });
      }
      await handle.close();
    },
  );

  it('when the file has grown, been rewritten or been shortened', async () => {
    await writeFile(join(root, 'changing.log'), log(30_000));
    await aged('changing.log');
    const lines = createLineIndexes();
    expect(await find(lines, 'changing.log', Infinity)).toMatchObject({ lines: 30_000 });
    await appendFile(join(root, 'changing.log'), 'new\n');
    expect(await find(lines, 'changing.log', Infinity)).toMatchObject({ lines: 30_001 });
    await writeFile(join(root, 'changing.log'), lineOf(50).repeat(60_000));
    await aged('changing.log');
    expect(await find(lines, 'changing.log', 50_000)).toMatchObject({ start: 49_999 * 50 });
    await truncate(join(root, 'changing.log'), 2 * megabyte);
    expect(await find(lines, 'changing.log', 50_000)).toMatchObject({
      lines: Math.ceil((2 * megabyte) / 50),
    });
  });

  it('when the file is changed after it was opened', async () => {
    await writeFile(join(root, 'late.log'), log(30_000));
    await aged('late.log');
    const lines = createLineIndexes();
    await find(lines, 'late.log', Infinity);
    await looking('late.log', async (file) => {
      await writeFile(join(root, 'late.log'), lineOf(50).repeat(60_000));
      expect(await lines.find(file, 50_000, patience())).toEqual({ start: 49_999 * 50 });
      await truncate(join(root, 'late.log'), 1000);
      expect(await lines.find(file, 50_000, patience())).toEqual({ lines: 20 });
    });
  });

  it('for ever: of many files only those used last are remembered', async () => {
    const lines = createLineIndexes();
    const names = Array.from({ length: 17 }, (_, index) => `many-${index}.log`);
    for (const name of names) await writeFile(join(root, name), log(11_000));
    for (const name of names) {
      await aged(name);
      await find(lines, name, 10_900);
    }
    expect((await find(lines, 'many-16.log', 10_800)).read).toBeLessThanOrEqual(64 * 1024);
    expect((await find(lines, 'many-0.log', 10_800)).read).toBeGreaterThan(megabyte);
  });
});

describe('a search that ends early', () => {
  it('says how far it came, and the next one goes on from there', async () => {
    await writeFile(join(root, 'slow.log'), log(100_000));
    await aged('slow.log');
    const lines = createLineIndexes();
    const late = () => looking('slow.log', (file) => lines.find(file, 90_000, { ...patience(), untilMs: 0 }));
    const reached = [];
    for (let attempt = 0; attempt < 3; attempt++)
      reached.push(Number(/byte (\d+) is in line/.exec(await failureOf(late()))![1]));
    expect(reached).toEqual([megabyte, 2 * megabyte, 3 * megabyte]);
    expect(await find(lines, 'slow.log', 90_000)).toMatchObject({ start: 8_999_900 });
  });

  it('lets others that wait for it go as soon as they are cancelled', async () => {
    await writeFile(join(root, 'hole.log'), log(100));
    await truncate(join(root, 'hole.log'), 20 * 1024 ** 3);
    await aged('hole.log');
    const lines = createLineIndexes();
    const [first, second] = [new AbortController(), new AbortController()];
    const reads: (() => number)[] = [];
    const searching = [first, second].map(({ signal }) =>
      failureOf(
        looking('hole.log', (file, read) => {
          reads.push(read);
          return lines.find(file, 1e6, { ...patience(), signal });
        }),
      ),
    );
    await until(() => reads.length === 2 && reads.some((read) => read() > 0));
    second.abort();
    expect(await searching[1]).toMatch(/^CANCELLED/);
    first.abort();
    expect(await searching[0]).toMatch(/^CANCELLED/);
  });
});
