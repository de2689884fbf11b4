import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ToolcribError } from '../../src/core/errors.ts';
import { createFileChanges, type Decide, type FileChanges } from '../../src/machine/changes/file-changes.ts';
import type { Place } from '../../src/machine/paths/place.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { openWorkspace, type RootedWorkspace } from '../../src/machine/paths/workspace.ts';
import { failureOf, put, temporaryFolder } from '../filesystem/folder.ts';
import { processorMs } from '../support/processor-ms.ts';

const isPosix = process.platform !== 'win32';
let root: string;
let state: string;
let workspace: RootedWorkspace;
let changes: FileChanges;

beforeEach(async () => {
  const top = await temporaryFolder();
  root = join(top, 'app');
  state = join(top, 'state', 'toolcrib');
  await put(root, { 'a.txt': 'one\ntwo\n', 'deep/b.txt': 'b' });
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

const write = (path: string, decide: Decide | string, kind = 'edit') =>
  at(path, (place) =>
    changes.write(place, typeof decide === 'string' ? () => ({ bytes: Buffer.from(decide) }) : decide, {
      kind,
    }),
  );
const remove = (path: string) => at(path, (place) => changes.remove(place));
const move = (from: string, to: string) => at(from, (one) => at(to, (other) => changes.move(one, other)));
const undo = (id: string | undefined, dryRun = false) => changes.undo(id ?? '', { workspace, dryRun });
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const names = () => readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
const list = async () => (await changes.list({ roots: [root], limit: 100 })).changes;

/** Ordinary file rights do not count for root: as somebody else for as long as something runs. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid!(65534);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}

describe('writing a file', () => {
  it('replaces it, and says what it has done', async () => {
    const written = await write('a.txt', async (before) => {
      expect(before?.bytes.toString()).toBe('one\ntwo\n');
      expect(await before?.hash()).toMatch(/^[0-9a-f]{64}$/);
      return { bytes: Buffer.from('one\n2\n'), added: 1, removed: 1 };
    });
    expect(text('a.txt')).toBe('one\n2\n');
    expect(written?.change).toMatchObject({ kind: 'edit', path: join(root, 'a.txt'), added: 1, removed: 1 });
    expect(written?.hash).toBe(written?.change.after?.hash);
    expect(written?.stat.ino).toBe(statSync(join(root, 'a.txt')).ino);
    expect(written?.stat.ctimeMs).toBe(statSync(join(root, 'a.txt')).ctimeMs);
    expect(names()).toEqual(['a.txt', 'deep', 'deep/b.txt']);
  });

  it('makes a new one', async () => {
    await write('new.txt', (before) => {
      expect(before).toBeUndefined();
      return { bytes: Buffer.from('new') };
    });
    expect(text('new.txt')).toBe('new');
    expect((await list())[0]?.before).toBeUndefined();
  });

  it('changes nothing when there is nothing to change, or a caller throws', async () => {
    const { ino } = statSync(join(root, 'a.txt'));
    expect(await write('a.txt', () => undefined)).toBeUndefined();
    expect(await write('a.txt', 'one\ntwo\n')).toBeUndefined();
    const refuse = () => Promise.reject(new ToolcribError('NOT_READ', 'not read'));
    expect(await failureOf(write('a.txt', refuse))).toBe('NOT_READ: not read');
    expect(
      await failureOf(
        write('a.txt', () => {
          const fresh = refuse();
          fresh.catch(() => {});
          return { bytes: Buffer.from('x'), fresh };
        }),
      ),
    ).toBe('NOT_READ: not read');
    expect(statSync(join(root, 'a.txt')).ino).toBe(ino);
    expect(await list()).toEqual([]);
    expect(names()).toEqual(['a.txt', 'deep', 'deep/b.txt']);
    expect(readdirSync(join(state, 'journal', 'locks'))).toEqual([]);
  });

  it.runIf(isPosix)('keeps its mode and owner, without the bits that lend rights', async () => {
    chmodSync(join(root, 'a.txt'), 0o4751);
    await write('a.txt', 'x');
    expect(statSync(join(root, 'a.txt')).mode & 0o7777).toBe(0o751);
    const { uid, gid } = statSync(join(root, 'a.txt'));
    expect([uid, gid]).toEqual([process.getuid!(), process.getgid!()]);
  });

  it.runIf(isPosix)('refuses one that is read-only', async () => {
    chmodSync(join(root, 'a.txt'), 0o444);
    expect(await failureOf(write('a.txt', 'x'))).toMatch(/^PATH_DENIED: .*a\.txt: is read-only\./);
    expect(text('a.txt')).toBe('one\ntwo\n');
  });

  it.runIf(isPosix)(
    'says when it was one of several hard links, and leaves the others as they are',
    async () => {
      linkSync(join(root, 'a.txt'), join(root, 'other.txt'));
      const written = await write('a.txt', 'x');
      expect(written?.notes).toEqual([
        'It was one of 2 hard links to the same file; the others keep the old content.',
      ]);
      expect(text('other.txt')).toBe('one\ntwo\n');
      // What is kept is no third name of it.
      writeFileSync(join(root, 'other.txt'), 'changed');
      expect(await undo(written?.change.id)).toMatchObject({ state: 'done' });
      expect(text('a.txt')).toBe('one\ntwo\n');
    },
  );

  it('refuses when another program changes the file meanwhile', async () => {
    const failure = await failureOf(
      write('a.txt', () => {
        writeFileSync(join(root, 'a.txt'), 'ONE\ntwo\n');
        return { bytes: Buffer.from('x') };
      }),
    );
    expect(failure).toMatch(/^STALE_FILE: .*a\.txt: another program changed it while/);
    expect(text('a.txt')).toBe('ONE\ntwo\n');
    expect(await list()).toEqual([]);
  });

  it('refuses when another program replaces or makes the file meanwhile', async () => {
    const replaced = write('a.txt', () => {
      writeFileSync(join(root, 'b.txt'), 'one\ntwo\n');
      renameSync(join(root, 'b.txt'), join(root, 'a.txt'));
      return { bytes: Buffer.from('x') };
    });
    expect(await failureOf(replaced)).toMatch(/^STALE_FILE: /);
    const made = write('new.txt', () => {
      writeFileSync(join(root, 'new.txt'), 'theirs');
      return { bytes: Buffer.from('x') };
    });
    expect(await failureOf(made)).toMatch(/^STALE_FILE: /);
    expect(text('new.txt')).toBe('theirs');
    expect(names()).toEqual(['a.txt', 'deep', 'deep/b.txt', 'new.txt']);
  });

  it.runIf(isPosix)('refuses what is no regular file', async () => {
    symlinkSync('a.txt', join(root, 'link'));
    execFileSync('mkfifo', [join(root, 'fifo')]);
    expect(await failureOf(write('link', 'x'))).toMatch(/^PATH_NOT_REGULAR: .*link: is a symbolic link/);
    expect(await failureOf(write('deep', 'x'))).toMatch(/^PATH_NOT_REGULAR: .*deep: is a folder/);
    expect(await failureOf(write('fifo', 'x'))).toMatch(/^PATH_NOT_REGULAR: .*fifo: is a FIFO/);
    expect(text('a.txt')).toBe('one\ntwo\n');
  });

  it.runIf(isPosix)('fails by name where this user may not write, and leaves nothing behind', async () => {
    chmodSync(join(root, '..'), 0o755);
    chmodSync(root, 0o755);
    chmodSync(join(root, 'a.txt'), 0o666);
    const open = join(root, 'deep');
    chmodSync(open, 0o777);
    const own = createFileChanges({ folder: join(open, 'state') });
    const failure = await asOrdinaryUser(() =>
      failureOf(
        at('a.txt', (place) => own.write(place, () => ({ bytes: Buffer.from('x') }), { kind: 'edit' })),
      ),
    );
    expect(failure).toMatch(/^PATH_DENIED: .*a\.txt: the system does not let this user change it/);
    expect(text('a.txt')).toBe('one\ntwo\n');
    expect(readdirSync(root).sort()).toEqual(['a.txt', 'deep']);
  });

  it.runIf(process.platform === 'linux' && existsSync('/dev/full'))(
    'leaves the file as it is on a full disk',
    async () => {
      // A file system of 64 KB, where this user may make one.
      const small = join(root, 'small');
      mkdirSync(small);
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small], { stdio: 'ignore' });
      } catch {
        return;
      }
      try {
        writeFileSync(join(small, 'a.txt'), 'old');
        const failure = await failureOf(write('small/a.txt', 'x'.repeat(100_000)));
        expect(failure).toMatch(
          /^WRITE_FAILED: .*a\.txt: the disk is full; nothing was changed\. Free some space/,
        );
        expect(text('small/a.txt')).toBe('old');
        expect(readdirSync(small)).toEqual(['a.txt']);

        // Between file systems nothing can be linked or renamed: all of it is copied.
        const written = await write('small/a.txt', 'new');
        await undo(written?.change.id);
        expect(text('small/a.txt')).toBe('old');
        mkdirSync(join(small, 'folder'));
        writeFileSync(join(small, 'folder', 'b.txt'), 'b', { mode: 0o640 });
        symlinkSync('nowhere', join(small, 'folder', 'link'));
        utimesSync(join(small, 'folder'), 1000, 2000);
        const removed = await remove('small/folder');
        expect(readdirSync(small)).toEqual(['a.txt']);
        await undo(removed.id);
        expect(text('small/folder/b.txt')).toBe('b');
        expect(statSync(join(small, 'folder', 'b.txt')).mode & 0o777).toBe(0o640);
        expect(readlinkSync(join(small, 'folder', 'link'))).toBe('nowhere');
        expect(statSync(join(small, 'folder')).mtimeMs).toBe(2_000_000);
        const moved = await move('small/folder', 'moved');
        expect(text('moved/b.txt')).toBe('b');
        expect(readdirSync(small)).toEqual(['a.txt']);
        await undo(moved.id);
        expect(text('small/folder/b.txt')).toBe('b');
        expect(names().filter((name) => name.includes('toolcrib'))).toEqual([]);
      } finally {
        execFileSync('umount', ['--lazy', small]);
      }
    },
  );

  it('refuses more than can be kept', async () => {
    changes = createFileChanges({ folder: state, quotaBytes: 1000 });
    writeFileSync(join(root, 'a.txt'), 'x'.repeat(1001));
    expect(await failureOf(write('a.txt', 'x'))).toMatch(
      /^TOO_LARGE: .*a\.txt: has 1 MB; changes that can be undone/,
    );
    expect(await failureOf(write('deep/b.txt', 'x'.repeat(1001)))).toMatch(/^TOO_LARGE: /);
    expect(await failureOf(remove('a.txt'))).toMatch(/^TOO_LARGE: /);
    expect(statSync(join(root, 'a.txt')).size).toBe(1001);
  });

  it('loses none of many changes that are asked for at once', async () => {
    const append =
      (line: string): Decide =>
      (before) => ({ bytes: Buffer.concat([before!.bytes, Buffer.from(line)]) });
    const lines = Array.from({ length: 50 }, (_, index) => `line ${index}\n`);
    await Promise.all(lines.map((line) => write('a.txt', append(line))));
    expect(text('a.txt').split('\n').sort()).toEqual(
      ['', 'one', 'two', ...lines.map((line) => line.trim())].sort(),
    );
    const all = await list();
    expect(all.length).toBe(50);
    for (const { id } of all) expect((await undo(id)).state).toBe('done');
    expect(text('a.txt')).toBe('one\ntwo\n');
  });

  it('can be given up while another change of the file goes on', async () => {
    const giveUp = new AbortController();
    let waiting: Promise<string> | undefined;
    await write('a.txt', async () => {
      waiting = failureOf(
        at('a.txt', (place) =>
          changes.write(place, () => ({ bytes: Buffer.from('y') }), { kind: 'edit', signal: giveUp.signal }),
        ),
      );
      giveUp.abort();
      expect(await waiting).toMatch(/^CANCELLED: .*a\.txt: was not changed/);
      return { bytes: Buffer.from('x') };
    });
    expect(text('a.txt')).toBe('x');
  });
});

describe.runIf(process.platform === 'linux')('extended attributes', () => {
  const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find((path) => existsSync(path));
  const inPython = (code: string) =>
    execFileSync(python!, ['-c', `import os\n${code}`], { cwd: root, encoding: 'utf8' });

  it.runIf(python)('stay', async () => {
    try {
      inPython(`os.setxattr('a.txt', 'user.colour', b'blue')`);
    } catch {
      // Not on this file system.
      return;
    }
    const started: string[] = [];
    const { run } = createProcesses('linux');
    changes = createFileChanges({
      folder: state,
      run: (command) => {
        started.push(command.program);
        return run(command);
      },
    });
    expect((await write('a.txt', 'x'))?.notes).toEqual([]);
    expect((await write('a.txt', 'y'))?.notes).toEqual([]);
    expect(inPython(`print(os.getxattr('a.txt', 'user.colour').decode())`).trim()).toBe('blue');
    expect(started.length).toBe(4);

    // A file without any is known, until its attributes change.
    for (const content of ['1', '2', '3']) await write('deep/b.txt', content);
    expect(started.length).toBe(6);
    inPython(`os.setxattr('deep/b.txt', 'user.colour', b'red')`);
    await write('deep/b.txt', '4');
    expect(inPython(`print(os.getxattr('deep/b.txt', 'user.colour').decode())`).trim()).toBe('red');
  });
});

describe('removing', () => {
  it('takes a file, and undo brings the very same one back', async () => {
    utimesSync(join(root, 'a.txt'), 1000, 2000);
    chmodSync(join(root, 'a.txt'), 0o640);
    const { ino } = statSync(join(root, 'a.txt'));
    const { id, before } = await remove('a.txt');
    expect(before).toMatchObject({ kind: 'file', size: 8 });
    expect(names()).toEqual(['deep', 'deep/b.txt']);
    expect(await undo(id, true)).toMatchObject({ state: 'done', is: Buffer.from('one\ntwo\n') });
    expect(existsSync(join(root, 'a.txt'))).toBe(false);
    expect(await undo(id)).toMatchObject({ state: 'done' });
    expect(statSync(join(root, 'a.txt'))).toMatchObject({ ino, mtimeMs: 2_000_000 });
    expect(names()).toEqual(['a.txt', 'deep', 'deep/b.txt']);
  });

  it('takes a folder whole, with the folder it was in, which undo makes again', async () => {
    await put(root, { 'deep/er/c.txt': 'c' });
    const { id, before } = await remove('deep/er');
    expect(before).toMatchObject({ kind: 'folder', size: 1, entries: 1 });
    rmSync(join(root, 'deep'), { recursive: true });
    await undo(id);
    expect(text('deep/er/c.txt')).toBe('c');
  });

  it.runIf(isPosix)('takes a link for a link', async () => {
    symlinkSync('deep', join(root, 'link'));
    symlinkSync('nowhere', join(root, 'deep', 'dangling'));
    const link = await remove('link');
    const folder = await remove('deep');
    expect(names()).toEqual(['a.txt']);
    await undo(folder.id);
    await undo(link.id);
    expect(readlinkSync(join(root, 'link'))).toBe('deep');
    expect(readlinkSync(join(root, 'deep', 'dangling'))).toBe('nowhere');
    expect(text('link/b.txt')).toBe('b');
  });

  it('names what is not there, and lets a caller refuse', async () => {
    expect(await failureOf(remove('nothing'))).toMatch(/^PATH_NOT_FOUND: .*nothing: /);
    const refused = at('a.txt', (place) =>
      changes.remove(place, {}, () => {
        throw new ToolcribError('NOT_READ', 'no');
      }),
    );
    expect(await failureOf(refused)).toBe('NOT_READ: no');
    expect(text('a.txt')).toBe('one\ntwo\n');
    expect(await list()).toEqual([]);
  });

  it('refuses a folder that the journal is in', async () => {
    mkdirSync(join(root, 'home'));
    changes = createFileChanges({ folder: join(root, 'home', 'toolcrib') });
    expect(await failureOf(remove('home'))).toMatch(
      /^PATH_PROTECTED: .*home: the journal of changes is in it/,
    );
    expect(await failureOf(move('home', 'elsewhere'))).toMatch(/^PATH_PROTECTED: /);
  });

  it('takes a folder of very many files in one step', async () => {
    for (let index = 0; index < 5_000; index++) {
      if (index % 100 === 0) mkdirSync(join(root, `many/${index}`), { recursive: true });
      writeFileSync(join(root, `many/${index - (index % 100)}/${index}`), '1');
    }
    const startedAt = process.cpuUsage();
    const { id, before } = await remove('many');
    expect(processorMs(startedAt)).toBeLessThan(4000);
    expect(before).toMatchObject({ kind: 'folder', size: 5_000, entries: 5_050 });
    await undo(id);
    expect(readdirSync(join(root, 'many')).length).toBe(50);
  });
});

describe('moving', () => {
  it('moves files and folders, and undo moves them back', async () => {
    const file = await move('a.txt', 'new/deep/c.txt');
    const folder = await move('deep', 'new/other');
    expect(file).toMatchObject({ kind: 'move', path: join(root, 'a.txt'), to: join(root, 'new/deep/c.txt') });
    expect(names()).toEqual(['new', 'new/deep', 'new/deep/c.txt', 'new/other', 'new/other/b.txt']);
    await undo(folder.id);
    await undo(file.id);
    // The folders that were made for it are gone as well.
    expect(names()).toEqual(['a.txt', 'deep', 'deep/b.txt']);
  });

  it.runIf(isPosix)('moves a link for a link', async () => {
    symlinkSync('deep', join(root, 'link'));
    await move('link', 'moved');
    expect(readlinkSync(join(root, 'moved'))).toBe('deep');
    expect(lstatSync(join(root, 'link'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('never overwrites', async () => {
    await put(root, { 'b.txt': 'theirs', 'empty/x': '' });
    rmSync(join(root, 'empty', 'x'));
    for (const target of ['b.txt', 'empty', 'deep'])
      expect(await failureOf(move('a.txt', target))).toMatch(/^PATH_EXISTS: .*: exists already\./);
    expect(await failureOf(move('deep', 'empty'))).toMatch(/^PATH_EXISTS: /);
    expect(await failureOf(move('deep', 'deep/er/still'))).toMatch(
      /^ARG_INVALID: .*cannot be moved into itself/,
    );
    expect(text('b.txt')).toBe('theirs');
    expect(await list()).toEqual([]);
  });

  it('does not move back what has been changed since, or onto something', async () => {
    const { id } = await move('a.txt', 'b.txt');
    writeFileSync(join(root, 'a.txt'), 'new');
    expect(await undo(id)).toMatchObject({ state: 'conflict', why: 'Something else is at the path now.' });
    rmSync(join(root, 'a.txt'));
    writeFileSync(join(root, 'b.txt'), 'changed');
    expect(await undo(id)).toMatchObject({ state: 'conflict', why: 'It has been changed since.' });
    rmSync(join(root, 'b.txt'));
    expect(await undo(id)).toMatchObject({
      state: 'conflict',
      why: 'It is no longer where it was moved to.',
    });
  });
});

describe('undoing', () => {
  it('goes back, forth and back again', async () => {
    const edited = await write('a.txt', 'edited');
    const undone = await undo(edited?.change.id);
    expect(text('a.txt')).toBe('one\ntwo\n');
    const back = undone.state === 'done' ? undone.change : undefined;
    expect(back).toMatchObject({ kind: 'undo', undoes: edited?.change.id });
    const again = await undo(back?.id);
    expect(text('a.txt')).toBe('edited');
    const third = again.state === 'done' ? again.change : undefined;
    expect(await failureOf(undo(edited?.change.id))).toBe(
      `NOT_FOUND: ${edited?.change.id}: was undone already, by ${back?.id}. Undo ${third?.id}, the last of these, to go back once more.`,
    );
    await undo(third?.id);
    expect(text('a.txt')).toBe('one\ntwo\n');
    const [, redo, first] = await list();
    expect(redo).toMatchObject({ id: third?.id, undoes: back?.id });
    expect(first).toMatchObject({ id: back?.id, undoneBy: third?.id });
  });

  it('removes a file that was made, with the folders made for it, and can bring it back', async () => {
    const made = await write('x/y/new.txt', 'new');
    expect(await undo(made?.change.id, true)).toMatchObject({ state: 'done', was: Buffer.from('new') });
    const undone = await undo(made?.change.id);
    expect(names()).toEqual(['a.txt', 'deep', 'deep/b.txt']);
    await undo(undone.state === 'done' ? undone.change?.id : '');
    expect(text('x/y/new.txt')).toBe('new');
  });

  it('keeps the mode the file has by now', async () => {
    const written = await write('a.txt', 'x');
    chmodSync(join(root, 'a.txt'), 0o700);
    await undo(written?.change.id);
    if (isPosix) expect(statSync(join(root, 'a.txt')).mode & 0o777).toBe(0o700);
    expect(text('a.txt')).toBe('one\ntwo\n');
  });

  it('shows in a dry run what would come of it, and does nothing', async () => {
    const written = await write('a.txt', 'x');
    const shown = await undo(written?.change.id, true);
    expect(shown).toMatchObject({ state: 'done', was: Buffer.from('x'), is: Buffer.from('one\ntwo\n') });
    expect(shown).not.toHaveProperty('change');
    expect(text('a.txt')).toBe('x');
  });

  it('refuses what has been changed since, and shows both', async () => {
    const written = await write('a.txt', 'one\n2\n');
    writeFileSync(join(root, 'a.txt'), 'one\n2\nthree\n');
    expect(await undo(written?.change.id)).toMatchObject({
      state: 'conflict',
      why: 'The file has been changed since.',
      expected: Buffer.from('one\n2\n'),
      found: Buffer.from('one\n2\nthree\n'),
    });
    expect(text('a.txt')).toBe('one\n2\nthree\n');
    rmSync(join(root, 'a.txt'));
    expect(await undo(written?.change.id)).toMatchObject({
      state: 'conflict',
      why: 'The file no longer exists.',
    });

    const made = await write('new.txt', 'new');
    writeFileSync(join(root, 'new.txt'), 'newer');
    expect(await undo(made?.change.id)).toMatchObject({
      state: 'conflict',
      expected: Buffer.from('new'),
      found: Buffer.from('newer'),
    });

    const removed = await remove('deep');
    await put(root, { 'deep/new.txt': 'new' });
    expect(await undo(removed.id)).toMatchObject({
      state: 'conflict',
      why: 'Something else is at the path now.',
    });
    expect(names()).toEqual(['deep', 'deep/new.txt', 'new.txt']);
  });

  it('does not know what is outside the roots, has expired or never was, in the same words', async () => {
    const written = await write('a.txt', 'x');
    const { id = '' } = written?.change ?? {};
    const elsewhere = await openWorkspace([await temporaryFolder()]);
    const unknown = 'mfz3k1q8-4c7d';
    const words = (other: string) =>
      `NOT_FOUND: ${other}: there is no such change, or it is no longer kept. list_changes shows those that can be undone.`;
    expect(await failureOf(changes.undo(id, { workspace: elsewhere }))).toBe(words(id));
    expect(await failureOf(undo(unknown))).toBe(words(unknown));
    expect(await failureOf(undo('../../a'))).toBe(words('../../a'));
    const later = createFileChanges({ folder: state, expiryMs: -1 });
    expect(await failureOf(later.undo(id, { workspace }))).toBe(words(id));
    expect(text('a.txt')).toBe('x');
  });

  it.runIf(isPosix)('does not follow a folder that has become a link', async () => {
    const outside = await temporaryFolder();
    await put(outside, { 'b.txt': 'B' });
    const written = await write('deep/b.txt', 'B');
    rmSync(join(root, 'deep'), { recursive: true });
    symlinkSync(outside, join(root, 'deep'));
    expect(await failureOf(undo(written?.change.id))).toMatch(/^PATH_OUTSIDE_ROOTS: /);
    rmSync(join(root, 'deep'));
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other', 'b.txt'), 'B');
    symlinkSync('other', join(root, 'deep'));
    expect(await undo(written?.change.id)).toMatchObject({ state: 'conflict', why: /now leads to .*other/ });
    expect(readFileSync(join(outside, 'b.txt'), 'utf8')).toBe('B');
    expect(text('other/b.txt')).toBe('B');
  });

  it('happens once when it is asked for twice at once', async () => {
    const written = await write('a.txt', 'x');
    const outcomes = await Promise.allSettled([undo(written?.change.id), undo(written?.change.id)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(text('a.txt')).toBe('one\ntwo\n');
  });
});
