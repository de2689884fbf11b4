import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callerFor, failureOf, put, temporaryFolder, textOf, type Caller } from './folder.ts';

/** A file of a made tree, and its lines. */
interface MadeFile {
  readonly path: string;
  readonly lines: readonly string[];
}

const isWindows = process.platform === 'win32';
/** Among them some whose order by UTF-16, by bytes and name by name differ, and some that Windows cannot have. */
const names = [
  'a',
  'a.b',
  'a-b',
  'a.d-e',
  'B',
  'b c',
  'é',
  '\uff5e',
  '\u{10000}',
  ...(isWindows ? [] : ['n\nl', 'x:1:y']),
];
const isHit = (line: string) => line.includes('hit');

const madeFile: fc.Arbitrary<MadeFile> = fc.record({
  path: fc
    .array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 })
    .map((parts) => [...parts.slice(0, -1).map((part) => `${part}.d`), parts.at(-1)].join('/')),
  lines: fc.array(fc.constantFrom('hit', 'hit and hit', 'miss', '', 'begin', 'end'), { maxLength: 12 }),
});
const madeTree = fc.uniqueArray(madeFile, { selector: ({ path }) => path, minLength: 1, maxLength: 12 });

async function make(folder: string, tree: readonly MadeFile[]): Promise<void> {
  for (const { path, lines } of tree) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), lines.map((line) => `${line}\n`).join(''));
  }
}

/** By name after name, each by its bytes. */
function comparePaths(a: string, b: string): number {
  const [ours, theirs] = [a.split('/'), b.split('/')];
  const at = ours.findIndex((name, index) => name !== theirs[index]);
  return Buffer.compare(Buffer.from(ours[at] ?? ''), Buffer.from(theirs[at] ?? ''));
}

const inOrder = (tree: readonly MadeFile[]): MadeFile[] =>
  tree.toSorted((a, b) => comparePaths(a.path, b.path));

/** All pages, one after the other. */
async function pagesOf(call: Caller, given: object, between = async () => {}): Promise<string[]> {
  const pages: string[] = [];
  let cursor: string | undefined;
  do {
    const text = textOf(await call('grep', { ...given, ...(cursor === undefined ? {} : { cursor }) }));
    pages.push(text);
    cursor = /; next: cursor ([\w-]+), or narrow[^\n]*\]$/.exec(text)?.[1];
    if (pages.length > 500) throw new Error('pages do not end');
    await between();
  } while (cursor !== undefined);
  return pages;
}

interface Row {
  readonly path: string;
  readonly line: number;
  readonly isMatch: boolean;
}

const shownName = (header: string): string =>
  header.startsWith('"') ? (JSON.parse(header) as string) : header;

/** What a page of lines shows. */
function rowsOf(page: string): Row[] {
  if (/^No (?:more )?matches\./.test(page)) return [];
  const body = page.replace(/\n\[[^\n]*\]$/, '');
  return body.split('\n\n').flatMap((block) => {
    const [header = '', ...rows] = block.split('\n');
    return rows
      .filter((row) => row !== '--')
      .map((row) => {
        const [, line, mark] = /^(\d+)([:-])/.exec(row) ?? [];
        if (line === undefined) throw new Error(`no row: ${row}`);
        return { path: shownName(header), line: Number(line), isMatch: mark === ':' };
      });
  });
}

/** What a page of files shows, names unquoted. */
function filesOf(page: string): string[] {
  if (/^No (?:more )?matches\./.test(page)) return [];
  const lines = page.replace(/\n\[[^\n]*\]$/, '').split('\n');
  return lines.map((line) => {
    const [, quoted, rest] = /^(".*")(:\d+)?$/.exec(line) ?? [];
    return quoted === undefined ? line : shownName(quoted) + (rest ?? '');
  });
}

async function inTree<T>(
  tree: readonly MadeFile[],
  run: (folder: string, call: Caller) => Promise<T>,
): Promise<T> {
  const folder = await temporaryFolder();
  try {
    await make(folder, tree);
    return await run(folder, callerFor(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const runs = { numRuns: 15 };

describe('pages of grep', () => {
  it('have every matching line once, in order, with the lines around it', async () => {
    const law = fc.asyncProperty(
      madeTree,
      fc.integer({ min: 1, max: 5 }),
      fc.nat({ max: 3 }),
      (tree, limit, context) =>
        inTree(tree, async (_, call) => {
          const pages = await pagesOf(call, { pattern: 'hit', limit, context });
          const rows = pages.flatMap(rowsOf);
          const matches = inOrder(tree).flatMap(({ path, lines }) =>
            lines.flatMap((text, index) => (isHit(text) ? [{ path, line: index + 1, isMatch: true }] : [])),
          );
          expect(rows.filter(({ isMatch }) => isMatch)).toEqual(matches);
          const near = matches.flatMap(({ path, line }) => {
            const { length } = tree.find((file) => file.path === path)!.lines;
            return Array.from({ length: 2 * context + 1 }, (_, index) => line - context + index)
              .filter((other) => other >= 1 && other <= length)
              .map((other) => `${other} ${path}`);
          });
          expect(new Set(rows.map(({ path, line }) => `${line} ${path}`))).toEqual(new Set(near));
          for (const page of pages)
            expect(rowsOf(page).filter(({ isMatch }) => isMatch).length).toBeLessThanOrEqual(limit);
        }),
    );
    await fc.assert(law, runs);
  });

  it('have every line of matches that span several', async () => {
    const law = fc.asyncProperty(madeTree, fc.integer({ min: 1, max: 5 }), (tree, limit) =>
      inTree(tree, async (_, call) => {
        const pages = await pagesOf(call, {
          pattern: 'begin\\n(?:.*\\n)??end',
          multiline: true,
          limit,
        });
        const matches = inOrder(tree).flatMap(({ path, lines }) => {
          const text = lines.map((line) => `${line}\n`).join('');
          return [...text.matchAll(/^begin\n(?:.*\n)??end/gm)].flatMap(({ index, 0: match }) => {
            const first = text.slice(0, index).split('\n').length;
            return match.split('\n').map((_, offset) => ({ path, line: first + offset, isMatch: true }));
          });
        });
        expect(pages.flatMap(rowsOf)).toEqual(matches);
      }),
    );
    await fc.assert(law, runs);
  });

  it('have every file once, in order', async () => {
    const law = fc.asyncProperty(
      madeTree,
      fc.constantFrom('files', 'count'),
      fc.integer({ min: 1, max: 5 }),
      (tree, mode, limit) =>
        inTree(tree, async (_, call) => {
          const shown = (await pagesOf(call, { pattern: 'hit', mode, limit })).flatMap(filesOf);
          const expected = inOrder(tree).flatMap(({ path, lines }) => {
            const count = lines.filter(isHit).length;
            return count === 0 ? [] : [mode === 'count' ? `${path}:${count}` : path];
          });
          expect(shown).toEqual(expected);
        }),
    );
    await fc.assert(law, runs);
  });

  it('are the same when there are many more matches than a page has', async () => {
    const tree = Array.from({ length: 60 }, (_, index) => ({
      path: `${index % 7}${index % 3 === 0 ? '-' : '/'}${index}`,
      lines: Array.from({ length: 100 + index }, (_, line) => (line % 2 === 0 ? 'hit' : 'miss')),
    }));
    await inTree(tree, async (_, call) => {
      const pages = await pagesOf(call, { pattern: 'hit', limit: 200 });
      const expected = inOrder(tree).flatMap(({ path, lines }) =>
        lines.flatMap((text, index) => (isHit(text) ? [`${index + 1} ${path}`] : [])),
      );
      expect(expected.length).toBeGreaterThan(3000);
      expect(pages.flatMap(rowsOf).map(({ path, line }) => `${line} ${path}`)).toEqual(expected);
      for (const page of pages) expect(page.length).toBeLessThan(16_000);
    });
  });

  it('are not moved by files that come or go between them', async () => {
    const tree = Array.from({ length: 20 }, (_, index) => ({
      path: `${String(index).padStart(2, '0')}.txt`,
      lines: ['hit', 'hit', 'hit'],
    }));
    await inTree(tree, async (folder, call) => {
      let turn = 0;
      const pages = await pagesOf(call, { pattern: 'hit', limit: 4 }, async () => {
        await put(folder, { [`00-new-${turn}.txt`]: 'hit\n' });
        await rm(join(folder, `${String(turn++).padStart(2, '0')}.txt`), { force: true });
      });
      const shown = pages.flatMap(rowsOf).map(({ path, line }) => `${path}:${line}`);
      expect(shown).toEqual(tree.flatMap(({ path }) => [1, 2, 3].map((line) => `${path}:${line}`)));
    });
  });

  it('take no cursor that is none', async () => {
    const folder = await temporaryFolder();
    await put(folder, { 'a.txt': 'hit\nhit\n' });
    const call = callerFor(folder);
    expect(textOf(await call('grep', { pattern: 'hit', cursor: '1' }))).toBe('a.txt\n2:hit');
    expect(await failureOf(call('grep', { pattern: 'hit', cursor: 'x' }))).toMatch(/^ARG_INVALID: cursor/);
  });
});
