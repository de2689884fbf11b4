import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Entry } from '../../src/machine/changes/change.ts';
import { createFileChanges, sha256, type FileChanges } from '../../src/machine/changes/file-changes.ts';
import { createFileLocks } from '../../src/machine/changes/file-lock.ts';
import { createJournal } from '../../src/machine/changes/journal.ts';
import { pruneJournal } from '../../src/machine/changes/journal-pruning.ts';
import { isAlive, thisOwner } from '../../src/machine/changes/lock-owner.ts';
import type { Place } from '../../src/machine/paths/place.ts';
import { applySplice, spliceBetween } from '../../src/machine/changes/splice.ts';
import { openWorkspace, type RootedWorkspace } from '../../src/machine/paths/workspace.ts';
import { failureOf, put, temporaryFolder } from '../filesystem/folder.ts';
import { until } from '../support/until.ts';
import { numberOf } from '../support/version.ts';
import { buildWriter } from '../support/writer-program.ts';

const isPosix = process.platform !== 'win32';
let root: string;
let state: string;
let journal: string;
let workspace: RootedWorkspace;
let changes: FileChanges;

beforeEach(async () => {
  const top = await temporaryFolder();
  root = join(top, 'app');
  state = join(top, 'state', 'toolcrib');
  journal = join(state, 'journal');
  await put(root, { 'a.txt': 'old', 'b.txt': 'b', 'deep/c.txt': 'c' });
  workspace = await openWorkspace([root]);
  changes = createFileChanges({ folder: state });
});

async function at<T>(path: string, work: (place: Place) => Promise<T>): Promise<T> {
  const place = await workspace.openPlace(path, { make: true, follow: false });
  try {
    return await work(place);
  } finally {
    await place.folder.handle.close();
  }
}

const write = (path: string, content: string, by = changes) =>
  at(path, (place) => by.write(place, () => ({ bytes: Buffer.from(content) }), { kind: 'write' }));
const list = async (query: { path?: string; limit?: number; before?: string | undefined } = {}) =>
  changes.list({ roots: [root], limit: 100, ...query });
const text = (path: string) => readFileSync(join(root, path), 'utf8');

const deadToken = 'dead'.repeat(4);
const temporary = '.toolcrib-0123456789abcdef.tmp';

/** Leaves a log as processes keep it of what they do. */
function note(token: string, [first, ...more]: object[]): void {
  const path = join(journal, 'pending', token);
  rmSync(path, { force: true });
  writeFileSync(path, '', { mode: 0o600 });
  const notes = [{ ...first, ino: statSync(path).ino }, ...more];
  writeFileSync(path, notes.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

/** A process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid!;
}

describe('the journal', () => {
  it.runIf(isPosix)('is closed to everybody else', async () => {
    await write('a.txt', 'new');
    for (const name of readdirSync(state, { recursive: true, encoding: 'utf8' })) {
      const found = statSync(join(state, name));
      expect([name, found.mode & 0o777]).toEqual([name, found.isDirectory() ? 0o700 : 0o600]);
    }
  });

  it('keeps what a file was by its hash, and gives out nothing else', async () => {
    await write('a.txt', 'new');
    const hash = await sha256(Buffer.from('old'));
    expect(await changes.content(hash)).toEqual(Buffer.from('old'));
    // Of what was just written the content is known as well.
    expect(await changes.content(await sha256(Buffer.from('new')))).toEqual(Buffer.from('new'));
    expect(await changes.content('0'.repeat(64))).toBeUndefined();
    writeFileSync(join(journal, 'contents', hash), 'damaged');
    expect(await changes.content(hash)).toBeUndefined();
  });

  it('lists what was changed, newest first, in pages, by path and only inside the roots', async () => {
    for (const content of ['1', '2', '3']) await write('a.txt', content);
    await write('deep/c.txt', '4');
    const all = (await list()).changes;
    expect(all.map(({ path }) => path.slice(root.length + 1))).toEqual([
      'deep/c.txt',
      'a.txt',
      'a.txt',
      'a.txt',
    ]);
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .toReversed(),
    );
    const first = await list({ limit: 3 });
    expect(first.next).toBe(all[2]?.id);
    expect(await list({ limit: 3, before: first.next })).toEqual({ changes: [all[3]] });
    expect((await list({ path: join(root, 'deep') })).changes).toEqual([all[0]]);
    expect((await changes.list({ roots: [join(root, 'deep')], limit: 9 })).changes).toEqual([all[0]]);
    expect((await changes.list({ roots: [`${root}-other`], limit: 9 })).changes).toEqual([]);
  });

  it('makes nothing where it is only looked at', async () => {
    expect(await list()).toEqual({ changes: [] });
    expect(existsSync(dirname(state))).toBe(false);
  });

  it('is made anew when it has been removed', async () => {
    await write('a.txt', '1');
    rmSync(state, { recursive: true });
    await write('a.txt', '2');
    expect((await list()).changes.length).toBe(1);
  });

  it('is a condition of changing anything', async () => {
    const without = createFileChanges({ folder: undefined });
    expect(await failureOf(write('a.txt', 'new', without))).toMatch(
      /^WRITE_FAILED: .*no folder of this user/,
    );
    mkdirSync(dirname(state));
    writeFileSync(state, '');
    expect(await failureOf(write('a.txt', 'new'))).toMatch(/^WRITE_FAILED: .*toolcrib cannot be made \(E/);
    expect(text('a.txt')).toBe('old');
  });

  it.runIf(isPosix)('ATTACK 71: is not kept through a symbolic link, or where others can write', async () => {
    const theirs = await temporaryFolder();
    mkdirSync(dirname(state));
    symlinkSync(theirs, state);
    expect(await failureOf(write('a.txt', 'new'))).toMatch(/^WRITE_FAILED: .*toolcrib is a symbolic link/);
    rmSync(state);
    mkdirSync(state, { mode: 0o700 });
    symlinkSync(theirs, journal);
    expect(await failureOf(write('a.txt', 'new'))).toMatch(/^WRITE_FAILED: .*journal is a symbolic link/);
    rmSync(journal);
    mkdirSync(journal, { mode: 0o700 });
    symlinkSync(theirs, join(journal, 'contents'));
    const afresh = createFileChanges({ folder: state });
    expect(await failureOf(afresh.recover())).toMatch(/contents is a symbolic link/);
    expect(readdirSync(theirs)).toEqual([]);
    expect(text('a.txt')).toBe('old');
  });
});

describe('forgetting', () => {
  const prune = async (limits: Partial<{ quotaBytes: number; expiryMs: number; mostChanges: number }>) => {
    await filed();
    const kept = createJournal(journal);
    const locks = createFileLocks(journal, () => Promise.resolve());
    await pruneJournal(kept, locks, { quotaBytes: 1e9, expiryMs: 1e9, mostChanges: 100, ...limits });
  };
  /** What has just been changed is only noted down; a moment later there is a record of it. */
  const filed = () =>
    until(() => readdirSync(join(journal, 'changes')).length === createJournal(journal).index().ids.length);
  const contents = () => readdirSync(join(journal, 'contents'));

  it('drops the oldest changes, and then what no other needs', async () => {
    for (const content of ['1', '2', 'old', '1']) await write('a.txt', content);
    const removed = await at('b.txt', (place) => changes.remove(place));
    expect(contents().length).toBe(3);
    await prune({ mostChanges: 2 });
    const left = (await list()).changes;
    expect(left.map(({ id }) => id)[0]).toBe(removed.id);
    expect(left.length).toBe(2);
    expect(contents()).toEqual([await sha256(Buffer.from('old'))]);
    for (const { id } of left) expect((await changes.undo(id, { workspace })).state).toBe('done');
    expect([text('a.txt'), text('b.txt')]).toEqual(['old', 'b']);
    await prune({ expiryMs: -1 });
    // The latest is always kept.
    expect((await list()).changes.length).toBe(1);
    expect(readdirSync(join(journal, 'trash'))).toEqual([]);
    expect(contents().length).toBe(1);
  });

  it('goes by the bytes that are kept', async () => {
    for (const size of [300_000, 200_000, 100_000, 1]) await write('a.txt', 'x'.repeat(size));
    await at('a.txt', (place) => changes.remove(place));
    await prune({ quotaBytes: 350_000 });
    // What is large goes, and what is older and small stays.
    expect((await list()).changes.map(({ before }) => before?.size)).toEqual([1, 100_000, 200_000, 3]);
    await prune({ quotaBytes: 1 });
    // The latest deletion and the latest edit.
    expect((await list()).changes.map(({ before }) => before?.size)).toEqual([1, 100_000]);
    expect(readdirSync(join(journal, 'trash')).length).toBe(1);
  });

  it('drops no deletion for edits, however many', async () => {
    await write('b.txt', 'x'.repeat(250_000));
    const { id } = await at('b.txt', (place) => changes.remove(place));
    for (const size of [200_000, 200_001, 200_002, 200_003]) await write('a.txt', 'x'.repeat(size));
    await prune({ quotaBytes: 300_000 });
    // That of b.txt had three bytes less, the first of a.txt kept three; of the others only the latest has a place.
    expect((await list()).changes.map(({ before }) => before?.size)).toEqual([200_002, 3, 250_000, 1]);
    expect((await changes.undo(id, { workspace })).state).toBe('done');
    expect(text('b.txt').length).toBe(250_000);
  });

  it('leaves alone what a change needs that is going on', async () => {
    await write('a.txt', 'new');
    const hash = await sha256(Buffer.from('old'));
    const [{ id = '' } = {}] = (await list()).changes;
    const entry = createJournal(journal).index().entry(id)!;
    note(deadToken, [
      { token: deadToken, owner: thisOwner(), since: Date.now() },
      { number: 1, entry },
    ]);
    await write('b.txt', 'new');
    await prune({ mostChanges: 1 });
    expect(contents()).toContain(hash);
    rmSync(join(journal, 'pending', deadToken));
    await prune({ mostChanges: 1 });
    expect(contents()).not.toContain(hash);
  });

  it('happens by itself', async () => {
    await write('a.txt', '1');
    await until(() => existsSync(join(journal, 'pruned')));
    changes = createFileChanges({ folder: state, mostChanges: 3 });
    for (let time = 0; time < 6; time++) await write('a.txt', `again ${time}`);
    await filed();
    const longAgo = new Date(Date.now() - 3 * 3_600_000);
    utimesSync(join(journal, 'pruned'), longAgo, longAgo);
    await write('a.txt', 'last', createFileChanges({ folder: state, mostChanges: 3 }));
    await until(async () => (await list()).changes.length === 3);
  });
});

describe('locks', () => {
  it('let two processes count up one file without losing one', async () => {
    const writer = await buildWriter(await temporaryFolder());
    const counted = await Promise.all(
      [0, 1].map(async () => {
        const child = spawn(process.execPath, [writer, state, root, '100'], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [code] = (await once(child, 'exit')) as [number];
        return code;
      }),
    );
    expect(counted).toEqual([0, 0]);
    expect(numberOf(readFileSync(join(root, 'shared.txt')))).toBe(200);
    expect((await list({ limit: 1000 })).changes.length).toBe(200);
    expect(readdirSync(join(journal, 'locks'))).toEqual([]);
  });

  it('of this process are seen by another that looks at the same folder', async () => {
    const other = createFileChanges({ folder: state });
    let begun = false;
    await at('a.txt', (place) =>
      changes.write(
        place,
        async () => {
          void write('a.txt', 'second', other).then(() => (begun = true));
          await until(() => readdirSync(join(journal, 'pending')).length === 2);
          expect(begun).toBe(false);
          return { bytes: Buffer.from('first') };
        },
        { kind: 'edit' },
      ),
    );
    await until(() => begun);
    expect(text('a.txt')).toBe('second');
  });

  it('of a process that has died, even while it took over that of another, do not stop anybody', async () => {
    const pid = await deadPid();
    const owner = { ...thisOwner(), pid, started: '1' };
    const locks = createFileLocks(journal, () => Promise.resolve());
    await write('b.txt', 'x');
    const dead = async (token: string, names: string[]) => {
      note(token, [{ token, owner, since: Date.now() }]);
      for (const name of names) linkSync(join(journal, 'pending', token), join(journal, 'locks', name));
    };
    let lock = '';
    await locks.hold({ paths: [join(root, 'a.txt')] }, async () => {
      [lock = ''] = readdirSync(join(journal, 'locks'));
    });
    const [one, two] = ['1'.repeat(16), '2'.repeat(16)];
    await dead(one, [lock]);
    await dead(two, [`heir-${one}`]);
    await write('a.txt', 'new');
    expect(text('a.txt')).toBe('new');
    expect(readdirSync(join(journal, 'locks'))).toEqual([]);
    await changes.recover();
    expect(readdirSync(join(journal, 'pending'))).not.toContain(deadToken);
  });

  it('know a process by more than its number', async () => {
    const me = thisOwner();
    const now = Date.now();
    expect(isAlive(me, now, me)).toBe(true);
    expect(isAlive({ ...me, pid: await deadPid() }, now, me)).toBe(false);
    // Of another machine or container nothing can be known, for a while.
    expect(isAlive({ ...me, host: `not-${hostname()}`, pid: 1 }, now, me)).toBe(true);
    expect(isAlive({ ...me, host: `not-${hostname()}`, pid: 1 }, now - 3_600_000, me)).toBe(false);
    if (process.platform !== 'linux') return;
    expect(isAlive({ ...me, started: '1' }, now, me)).toBe(false);
    expect(isAlive({ ...me, boot: 'earlier' }, now, me)).toBe(false);
  });
});

describe.runIf(isPosix)('after a process has died', () => {
  /** Leaves things as a process does that dies with this noted down. */
  async function dieWith(entry: Partial<Entry>): Promise<void> {
    await changes.recover();
    const token = deadToken;
    const owner = { ...thisOwner(), pid: await deadPid(), started: '1' };
    const noted = {
      id: 'mfz3k1q8-4c7d',
      at: Date.now(),
      kind: 'test',
      path: join(root, 'a.txt'),
      step: 'write',
      temporary,
      ...entry,
    };
    const temporaries = noted.step === 'write' ? [join(root, temporary)] : [];
    note(token, [
      { token, owner, since: Date.now() },
      { number: 1, temporaries },
      { number: 1, entry: noted },
    ]);
  }
  const leave = (name: string, content: string) => writeFileSync(join(root, name), content);
  const recovered = async () => {
    await createFileChanges({ folder: state }).recover();
    expect(readdirSync(join(journal, 'pending'))).not.toContain(deadToken);
    expect(
      readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.toolcrib')),
    ).toEqual([]);
    return (await list()).changes.length;
  };

  it('a file that was not yet replaced is forgotten', async () => {
    leave(temporary, 'new');
    const hash = await sha256(Buffer.from('old'));
    await dieWith({ before: { kind: 'file', size: 3, hash } });
    linkSync(join(root, 'a.txt'), join(journal, 'contents', hash));
    expect(await recovered()).toBe(0);
    expect(text('a.txt')).toBe('old');
    // It must not stay a second name of a file that others write to.
    expect(lstatSync(join(root, 'a.txt')).nlink).toBe(1);
  });

  it('a file that was replaced, or made, is filed', async () => {
    await dieWith({});
    expect(await recovered()).toBe(1);
    leave(temporary, 'new');
    linkSync(join(root, temporary), join(root, 'new.txt'));
    await dieWith({ id: 'mfz3k1q8-5555', path: join(root, 'new.txt') });
    expect(await recovered()).toBe(2);
    expect(lstatSync(join(root, 'new.txt')).nlink).toBe(1);
  });

  it('a record that was only begun is made again', async () => {
    await dieWith({});
    writeFileSync(join(journal, 'changes', 'mfz3k1q8-4c7d.json'), '{"id":', { mode: 0o600 });
    expect(await recovered()).toBe(1);
  });

  it('what was half moved is moved, or is not', async () => {
    const move = { step: 'move', path: join(root, 'a.txt'), to: join(root, 'moved.txt') } as const;
    await dieWith(move);
    expect(await recovered()).toBe(0);
    linkSync(join(root, 'a.txt'), join(root, 'moved.txt'));
    await dieWith(move);
    expect(await recovered()).toBe(1);
    expect(existsSync(join(root, 'a.txt'))).toBe(false);
    expect(text('moved.txt')).toBe('old');
    // A folder gets an empty one to replace.
    mkdirSync(join(root, 'other'));
    await dieWith({ ...move, path: join(root, 'deep'), to: join(root, 'other') });
    expect(await recovered()).toBe(1);
    expect(existsSync(join(root, 'other'))).toBe(false);
    expect(text('deep/c.txt')).toBe('c');
  });

  it('what was removed is filed, and can come back', async () => {
    await dieWith({ step: 'remove', before: { kind: 'file', size: 3 } });
    renameSync(join(root, 'a.txt'), join(journal, 'trash', 'mfz3k1q8-4c7d'));
    expect(await recovered()).toBe(1);
    const [{ id = '' } = {}] = (await list()).changes;
    expect((await changes.undo(id, { workspace })).state).toBe('done');
    expect(text('a.txt')).toBe('old');
  });

  it('what was being copied to another file system is put back, or removed once the copy is whole', async () => {
    const removal = {
      step: 'remove',
      path: join(root, 'deep'),
      before: { kind: 'folder', size: 1 },
    } as const;
    await dieWith(removal);
    renameSync(join(root, 'deep'), join(root, temporary));
    mkdirSync(join(journal, 'trash', temporary));
    expect(await recovered()).toBe(0);
    expect(text('deep/c.txt')).toBe('c');
    expect(readdirSync(join(journal, 'trash'))).toEqual([]);

    const copy = join(journal, 'trash', 'mfz3k1q8-4c7d');
    mkdirSync(copy);
    await dieWith({ ...removal, copy: statSync(copy).ino });
    renameSync(join(root, 'deep'), join(root, temporary));
    expect(await recovered()).toBe(1);
    expect(existsSync(join(root, 'deep'))).toBe(false);
  });

  it.each(['aside', 'removed'] as const)(
    'what was %s in a folder that got another name is found there',
    async (where) => {
      await put(root, { 'old/inner/deep/c.txt': 'mine' });
      const removal = {
        step: 'remove',
        path: join(root, 'old/inner/deep'),
        before: { kind: 'folder', size: 4 },
      } as const;
      const copy = join(journal, 'trash', 'mfz3k1q8-4c7d');
      if (where === 'removed') await changes.recover();
      if (where === 'removed') mkdirSync(copy);
      await dieWith({ ...removal, ...(where === 'removed' && { copy: statSync(copy).ino }) });
      renameSync(join(root, 'old/inner/deep'), join(root, 'old/inner', temporary));
      renameSync(join(root, 'old'), join(root, 'new'));
      expect(await recovered()).toBe(where === 'removed' ? 1 : 0);
      expect(readdirSync(join(root, 'new/inner'))).toEqual(where === 'removed' ? [] : ['deep']);
    },
  );

  it('what was not removed is not said to have been, though its folder is gone', async () => {
    await dieWith({ step: 'remove', path: join(root, 'deep/c.txt'), before: { kind: 'file', size: 1 } });
    rmSync(join(root, 'deep'), { recursive: true });
    expect(await recovered()).toBe(0);
  });

  it('looking at the list leaves all as it is', async () => {
    leave(temporary, 'new');
    await dieWith({});
    expect(await createFileChanges({ folder: state }).list({ roots: [root], limit: 9 })).toEqual({
      changes: [],
    });
    expect(text(temporary)).toBe('new');
    expect(readdirSync(join(journal, 'pending'))).toContain(deadToken);
  });

  it('nothing is followed that became a link meanwhile', async () => {
    const outside = await temporaryFolder();
    await put(outside, { [temporary]: 'theirs' });
    await dieWith({});
    renameSync(root, `${root}-moved`);
    symlinkSync(outside, root);
    await createFileChanges({ folder: state }).recover();
    expect(readdirSync(outside)).toEqual([temporary]);
  });
});

describe('a splice', () => {
  it('tells one content by another', () => {
    const around = 'x'.repeat(100_000);
    for (const [before, after] of [
      ['', ''],
      ['', 'new'],
      ['old', ''],
      ['same', 'same'],
      ['aaaa', 'aaa'],
      ['aaa', 'aaaa'],
      [`${around}one${around}`, `${around}two, three${around}`],
      [`${around}`, `${around}${'y'.repeat(50)}`],
    ] as const) {
      const splice = spliceBetween(Buffer.from(before), Buffer.from(after), 60);
      expect(applySplice(Buffer.from(before), splice!).toString()).toBe(after);
    }
    expect(spliceBetween(Buffer.from('old'), Buffer.from('z'.repeat(61)), 60)).toBeUndefined();
    expect(spliceBetween(Buffer.from('y'.repeat(61)), Buffer.from('z'.repeat(61)), 60)).toBeUndefined();
  });
});
