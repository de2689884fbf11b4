import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { bringBack, type Plan } from '../../src/machine/checkpoints/bring-back.ts';
import { temporaryName } from '../../src/machine/changes/change-kit.ts';
import type { TreeChange } from '../../src/machine/checkpoints/tree-changes.ts';
import { put, temporaryFolder } from '../filesystem/folder.ts';

const content = { kind: 'file', blob: '0' } as const;
const change: TreeChange = { name: 'a.txt', from: content, to: content };

describe('a file that is written while its replacement is made', () => {
  let top: string;
  let ours: string;
  beforeEach(async () => {
    [top, ours] = [await temporaryFolder(), await temporaryFolder()];
    await put(top, { 'a.txt': 'now' });
    await put(ours, { '0': 'then' });
  });

  /** Does something between the look at the file and its replacement. */
  const broughtBack = (meanwhile: () => void, changed: Partial<TreeChange> = {}) => {
    const fileOf = () => {
      meanwhile();
      return join(ours, '0');
    };
    const plan: Plan = {
      changes: [{ ...change, ...changed }],
      staged: { fileOf },
      temporary: temporaryName(),
      refuse: () => Promise.resolve(),
      isClosed: () => false,
      scopeOf: (name) => ({ path: top, rest: name }),
      since: Date.now() + 60_000,
      signal: new AbortController().signal,
    };
    return bringBack(plan);
  };

  it('is replaced when nobody does', async () => {
    expect(await broughtBack(() => {})).toMatchObject({ done: [{ name: 'a.txt' }], left: [] });
    expect(await readFile(join(top, 'a.txt'), 'utf8')).toBe('then');
    expect(await readdir(top)).toEqual(['a.txt']);
  });

  it.each([
    ['in place', (path: string) => writeFileSync(path, 'mine')],
    [
      'by another in its place',
      (path: string) => {
        writeFileSync(`${path}.new`, 'mine');
        renameSync(`${path}.new`, path);
      },
    ],
  ])('keeps what was written: %s', async (_, write) => {
    const { done, left } = await broughtBack(() => write(join(top, 'a.txt')));
    expect(done).toEqual([]);
    expect(left).toEqual([{ name: 'a.txt', why: 'it was changed just now' }]);
    expect(await readFile(join(top, 'a.txt'), 'utf8')).toBe('mine');
    expect(await readdir(top)).toEqual(['a.txt']);
  });

  it('stays away when it is deleted, and stays when it comes', async () => {
    expect((await broughtBack(() => rmSync(join(top, 'a.txt')))).done).toEqual([]);
    expect(await readdir(top)).toEqual([]);
    const { left } = await broughtBack(() => writeFileSync(join(top, 'a.txt'), 'mine'), { from: undefined });
    expect(left).toMatchObject([{ name: 'a.txt', why: expect.stringContaining('ignored or new') }]);
    expect(await readFile(join(top, 'a.txt'), 'utf8')).toBe('mine');
  });
});
