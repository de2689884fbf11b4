import { execFileSync } from 'node:child_process';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { callerFor, failureOf, put, temporaryFolder, type Caller } from './folder.ts';

interface Listing {
  path: string;
  entries: { name: string; type: string; size?: number; target?: string }[];
  total?: number;
  hidden?: number;
  next?: string;
}

let root: string;
let call: Caller;
const list = async (given: object) => (await call('list_directory', given)).data as unknown as Listing;
const names = async (given: object) => (await list(given)).entries.map(({ name }) => name);

/** All names, page by page; `between` runs after each page. */
async function pages(given: object, between = async (_shown: string[]) => {}): Promise<string[]> {
  const all: string[] = [];
  for (let cursor: string | undefined; ;) {
    const { entries, next } = await list({ ...given, ...(cursor === undefined ? {} : { cursor }) });
    all.push(...entries.map(({ name }) => name));
    await between(all);
    if (next === undefined) return all;
    cursor = next;
  }
}

beforeAll(async () => {
  root = await temporaryFolder();
  call = callerFor(root);
  await put(root, {
    'mixed/b.txt': 'bb',
    'mixed/a/inner.txt': 'x',
    'mixed/a/deep/end.txt': 'x',
    'mixed/.hidden': '',
    'mixed/a.b': '',
  });
  await symlink('../elsewhere', join(root, 'mixed', 'link'));
  if (process.platform !== 'win32') execFileSync('mkfifo', [join(root, 'mixed', 'pipe')]);
  await put(
    root,
    Object.fromEntries(
      Array.from({ length: 2000 }, (_, index) => [`many/file-${String(index).padStart(4, '0')}.txt`, 'x']),
    ),
  );
});

describe('list_directory', () => {
  it('names types, sizes and link targets', async () => {
    expect(await list({ path: 'mixed' })).toEqual({
      path: join(root, 'mixed'),
      entries: [
        { name: 'a', type: 'folder' },
        { name: 'a.b', type: 'file', size: 0 },
        { name: 'b.txt', type: 'file', size: 2 },
        { name: 'link', type: 'link', target: '../elsewhere' },
        { name: 'pipe', type: 'fifo' },
      ],
      total: 5,
      hidden: 1,
    });
    expect(await names({ path: 'mixed', hidden: true })).toContain('.hidden');
  });

  it('goes as deep as it is told, each folder before what it holds', async () => {
    expect(await names({ path: 'mixed', depth: 2 })).toEqual([
      'a',
      'a/deep',
      'a/inner.txt',
      'a.b',
      'b.txt',
      'link',
      'pipe',
    ]);
    expect(await names({ path: 'mixed', depth: 10 })).toContain('a/deep/end.txt');
  });

  it('gives every entry once, page by page', async () => {
    const all = await pages({ path: 'many', limit: 130 });
    expect(all).toHaveLength(2000);
    expect(new Set(all).size).toBe(2000);
    expect(await pages({ path: 'mixed', depth: 10, limit: 1 })).toEqual(
      await names({ path: 'mixed', depth: 10 }),
    );
  });

  it('ends a page before its answer would be shortened', async () => {
    const page = await list({ path: 'many', limit: 2000 });
    expect(page.total).toBe(2000);
    expect(JSON.stringify(page).length).toBeLessThan(16_000);
    expect(page.next).toBeDefined();
    expect(await pages({ path: 'many', limit: 2000 })).toHaveLength(2000);
  });

  it('keeps its place when entries come and go between pages', async () => {
    const files = ['b', 'd', 'f', 'h', 'j'];
    await put(root, Object.fromEntries(files.map((name) => [`moving/${name}`, ''])));
    const all = await pages({ path: 'moving', limit: 2 }, async (shown) => {
      if (shown.length !== 2) return;
      await rm(join(root, 'moving', 'd'));
      await rm(join(root, 'moving', 'f'));
      await writeFile(join(root, 'moving', 'a'), '');
      await writeFile(join(root, 'moving', 'i'), '');
    });
    expect(all).toEqual(['b', 'd', 'h', 'i', 'j']);
  });

  it('refuses what is no cursor of its own, and what is no folder', async () => {
    expect(await failureOf(call('list_directory', { cursor: '!!' }))).toMatch(/^ARG_INVALID: cursor/);
    expect(await failureOf(call('list_directory', { path: 'mixed/b.txt' }))).toMatch(/^PATH_NOT_REGULAR/);
    expect(await failureOf(call('list_directory', { path: 'none' }))).toMatch(/^PATH_NOT_FOUND/);
  });
});
