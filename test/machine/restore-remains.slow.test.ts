import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { noteRestore } from '../../src/machine/checkpoints/restore-remains.ts';
import { temporaryFolder } from '../support/repository.ts';
import { keptTree, type KeptTree } from './kept-trees.ts';

describe('what a killed restore has left', () => {
  let tree: KeptTree;
  let shadow: { folder: string; top: string; scopes: string[] };
  beforeEach(async () => {
    tree = await keptTree();
    await tree.id();
    const [name = ''] = readdirSync(join(tree.state, 'checkpoints'));
    shadow = { folder: join(tree.state, 'checkpoints', name), top: tree.folder, scopes: [tree.folder] };
  });

  /** Half a restore: files that have not got their name, and those they were copied from. */
  async function begin(names: string[]) {
    const { key, temporary } = await noteRestore(shadow, names);
    for (const folder of ['', 'src/']) tree.write(`${folder}${temporary}`, 'half a file');
    mkdirSync(join(shadow.folder, `staged.${key}`));
    writeFileSync(join(shadow.folder, `staged.${key}`, '0'), 'a file');
    writeFileSync(join(shadow.folder, `staged-index.${key}`), 'an index');
    return { key, temporary, record: join(shadow.folder, `restoring.${key}`) };
  }
  function alter(record: string, by: (noted: { owner: object }) => object): void {
    writeFileSync(record, JSON.stringify(by(JSON.parse(readFileSync(record, 'utf8')))));
  }
  /** The process that noted it is one that has ended. */
  const die = (record: string) =>
    alter(record, (noted) => ({
      ...noted,
      owner: { ...noted.owner, pid: spawnSync(process.execPath, ['-v']).pid, started: '1' },
    }));
  const remains = (key: string) => readdirSync(shadow.folder).filter((name) => name.includes(key));

  it('is removed before the next checkpoint, and nothing else', async () => {
    const { key, temporary, record } = await begin(['a.txt', 'src/b.txt', 'gone/c.txt']);
    tree.write(`src/${temporary}.txt`, 'of somebody else');
    die(record);
    expect(await tree.take()).toMatch(/^checkpoint/);
    expect(remains(key)).toEqual([]);
    expect(readdirSync(tree.folder).sort()).toEqual(['.git', 'README.md', 'src']);
    expect(readdirSync(join(tree.folder, 'src')).sort()).toEqual([`${temporary}.txt`, 'a.txt']);
  });

  it('stays while the process lives', async () => {
    const { key, temporary } = await begin(['a.txt']);
    await tree.take();
    expect(remains(key)).toHaveLength(3);
    expect(existsSync(join(tree.folder, temporary))).toBe(true);
  });

  it('is looked for behind no link, and under no other name', async () => {
    const outside = temporaryFolder();
    const { temporary, record } = await begin(['a.txt', 'src/b.txt', '../x']);
    rmSync(join(tree.folder, 'src'), { recursive: true });
    writeFileSync(join(outside, temporary), 'outside');
    symlinkSync(outside, join(tree.folder, 'src'));
    mkdirSync(join(outside, 'deep'));
    die(record);
    await tree.take();
    expect(readdirSync(outside)).toEqual([temporary, 'deep'].sort());
    for (const name of ['README.md', '../README.md', 'deep']) {
      const other = await begin([]).catch(() => undefined);
      if (!other) continue;
      die(other.record);
      alter(other.record, (noted) => ({ ...noted, temporary: name, folders: [''] }));
      await tree.take();
    }
    expect(existsSync(join(tree.folder, 'README.md'))).toBe(true);
  });

  it('is no hindrance when what was noted is damaged', async () => {
    const { key, record } = await begin(['a.txt']);
    writeFileSync(record, '{');
    expect(await tree.take()).toMatch(/^checkpoint/);
    expect(remains(key)).toEqual([]);
  });
});
