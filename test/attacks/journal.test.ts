import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { copyTree } from '../../src/machine/changes/copy-tree.ts';
import { createFileChanges, sha256, type FileChanges } from '../../src/machine/changes/file-changes.ts';
import { createJournal } from '../../src/machine/changes/journal.ts';
import { removeTree } from '../../src/machine/changes/remove-tree.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { failureOf, put, temporaryFolder } from '../filesystem/folder.ts';

const isPosix = process.platform !== 'win32';
let top: string;
let root: string;
let outside: string;

beforeEach(async () => {
  top = await temporaryFolder();
  root = join(top, 'app');
  outside = join(top, 'outside');
  await put(root, { 'a.txt': 'old' });
  await put(outside, { id_rsa: 'OUTSIDE', 'z/id_rsa': 'OUTSIDE' });
});

/** All that is in a folder, with what is in its files; links are not followed. */
function contentsOf(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const name = join(below, entry.name);
    if (entry.isDirectory()) return [name, ...contentsOf(folder, name)];
    return entry.isFile() ? `${name}: ${readFileSync(join(folder, name), 'utf8')}` : name;
  });
}

/** A folder with others in it, each with one file: enough for something to come in between. */
async function tree(name: string, content: string): Promise<string> {
  const files = Array.from({ length: 50 }, (_, at) => [`z/${at}/file`, content] as const);
  await put(join(top, name), Object.fromEntries(files));
  return join(top, name);
}

/** Puts a link in the place of a folder once it is time, while something is done. Fails when it never was. */
async function swapping(
  work: Promise<void>,
  folder: string,
  { isTime, target }: { isTime: () => boolean; target: string },
): Promise<void> {
  let isDone = false;
  const done = work.catch(() => {}).finally(() => (isDone = true));
  while (!isDone && !isTime()) await setImmediate();
  expect(isDone).toBe(false);
  renameSync(folder, `${folder}-old`);
  symlinkSync(target, folder);
  await done;
}
const countIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).length : 0);

describe.runIf(isPosix)('a copy to another file system', () => {
  it('has the modes, times, links and names, whatever bytes those are', async () => {
    const from = join(top, 'from');
    await put(from, { program: '#!', 'inner/large': 'x'.repeat(3_000_000) });
    const name = process.platform === 'linux' ? Buffer.from([0xe9, 0x74]) : Buffer.from('t');
    writeFileSync(Buffer.concat([Buffer.from(`${from}/`), name]), 'latin');
    symlinkSync('nowhere', join(from, 'link'));
    chmodSync(join(from, 'program'), 0o755);
    utimesSync(join(from, 'program'), 1000, 2000);
    chmodSync(join(from, 'inner'), 0o555);
    utimesSync(join(from, 'inner'), 1000, 3000);
    const to = join(top, 'to');
    await copyTree(from, to, 'from');
    expect(readdirSync(to, { encoding: 'buffer' })).toContainEqual(name);
    expect(readlinkSync(join(to, 'link'))).toBe('nowhere');
    expect(readFileSync(join(to, 'inner/large')).equals(readFileSync(join(from, 'inner/large')))).toBe(true);
    for (const each of ['program', 'inner', 'inner/large', '.']) {
      const [old, now] = [lstatSync(join(from, each)), lstatSync(join(to, each))];
      expect([each, now.mode]).toEqual([each, old.mode]);
      expect(Math.abs(now.mtimeMs - old.mtimeMs)).toBeLessThan(0.01);
    }
    await removeTree(to);
    expect(existsSync(to)).toBe(false);
  });

  it('writes nothing through a folder that becomes a link meanwhile', async () => {
    const [from, to, theirs] = [await tree('from', 'mine'), join(top, 'to'), join(top, 'theirs')];
    for (const name of readdirSync(join(from, 'z'))) mkdirSync(join(theirs, name), { recursive: true });
    const before = contentsOf(theirs);
    await swapping(copyTree(from, to, 'from'), join(to, 'z'), {
      isTime: () => countIn(join(to, 'z')) > 0,
      target: theirs,
    });
    expect(contentsOf(theirs)).toEqual(before);
  });

  it('reads nothing through a folder that becomes a link meanwhile', async () => {
    const [from, to, theirs] = [await tree('from', 'mine'), join(top, 'to'), await tree('theirs', 'OUTSIDE')];
    await swapping(copyTree(from, to, 'from'), join(from, 'z'), {
      isTime: () => countIn(join(to, 'z')) > 0,
      target: join(theirs, 'z'),
    });
    expect(contentsOf(to).filter((each) => each.includes('OUTSIDE'))).toEqual([]);
  });

  it('removes nothing through a folder that becomes a link meanwhile', async () => {
    const [folder, theirs] = [await tree('gone', 'mine'), await tree('theirs', 'OUTSIDE')];
    const before = contentsOf(theirs);
    await swapping(removeTree(folder), join(folder, 'z'), {
      isTime: () => contentsOf(folder).length < before.length,
      target: join(theirs, 'z'),
    });
    expect(contentsOf(theirs)).toEqual(before);
  });

  it('refuses what it cannot copy', async () => {
    const from = join(top, 'from');
    mkdirSync(from);
    execFileSync('mkfifo', [join(from, 'fifo')]);
    expect(await failureOf(copyTree(from, join(top, 'to'), 'from'))).toMatch(/^WRITE_FAILED: from: .*FIFO/);
  });
});

describe.runIf(isPosix)('a state folder that came with a project', () => {
  let state: string;
  let journal: string;
  let changes: FileChanges;
  const token = 'a'.repeat(16);
  const longAgo = new Date(Date.now() - 3_600_000);

  beforeEach(() => {
    state = join(root, 'state', 'toolcrib');
    journal = join(state, 'journal');
    changes = createFileChanges({ folder: state });
  });

  function bring(mode: number, lines: object[], name = `pending/${token}`): void {
    for (const each of ['pending', 'locks', 'changes', 'contents', 'trash'])
      mkdirSync(join(journal, each), { recursive: true, mode });
    const path = join(journal, name);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
    utimesSync(path, longAgo, longAgo);
  }
  const elsewhere = { pid: 999_999, host: 'elsewhere' };
  const edit = async () => {
    const place = await (await openWorkspace([root])).openPlace('a.txt', { make: true, follow: false });
    try {
      await changes.write(place, () => ({ bytes: Buffer.from('new') }), { kind: 'write' });
    } finally {
      await place.folder.handle.close();
    }
  };

  it('is not used when it is as git makes folders', async () => {
    const victim = join(outside, 'z');
    bring(0o755, [
      { token, owner: elsewhere },
      { number: 1, temporaries: [victim] },
    ]);
    expect(await changes.list({ roots: [root], limit: 9 })).toEqual({ changes: [] });
    expect(await failureOf(changes.recover())).toMatch(/^WRITE_FAILED: .*open to others/);
    expect(await failureOf(edit())).toMatch(/^WRITE_FAILED: .*chmod 700/);
    expect(existsSync(victim)).toBe(true);
  });

  it('removes nothing it names, though it is closed to others', async () => {
    const temporary = '.toolcrib-0123456789abcdef.tmp';
    await put(outside, { [temporary]: 'theirs', 'x/.toolcrib-0123456789abcdef.tmp/y': 'theirs' });
    const before = contentsOf(outside);
    const move = {
      id: 'aaaaaaaa-bbbb',
      at: Date.now(),
      kind: 'move',
      step: 'move',
      path: join(outside, 'x', 'moved'),
      to: join(outside, 'moved'),
      temporary,
    };
    bring(0o700, [
      { token, owner: elsewhere },
      { number: 1, temporaries: [join(outside, 'z')] },
      { number: 2, temporaries: [join(outside, temporary)] },
      { number: 3, entry: move },
    ]);
    await edit();
    await changes.recover();
    expect(contentsOf(outside)).toEqual(before);
    expect(readdirSync(join(journal, 'pending'))).not.toContain(token);
  });

  it('has no names that lead out of it', async () => {
    const victim = join(outside, 'id_rsa');
    bring(0o700, [{ token: `../../../../../outside/id_rsa`, owner: elsewhere }]);
    const removal = {
      id: '../../../../../outside/z',
      at: Date.now(),
      kind: 'delete',
      step: 'remove',
      path: join(root, 'z'),
      before: { kind: 'folder', size: 1 },
      temporary: '.toolcrib-0123456789abcdef.tmp',
    };
    bring(0o700, [removal], 'changes/aaaaaaaa-bbbb.json');
    await edit();
    await changes.recover();
    expect(existsSync(victim)).toBe(true);
    expect((await changes.list({ roots: [root], limit: 9 })).changes.map(({ kind }) => kind)).toEqual([
      'write',
    ]);
    const undoing = changes.undo('aaaaaaaa-bbbb', { workspace: await openWorkspace([root]) });
    expect(await failureOf(undoing)).toMatch(/^NOT_FOUND/);
  });
});

describe('what is kept of a file', () => {
  it('is what it was, though a program that has it open writes to it', async () => {
    const changes = createFileChanges({ folder: join(top, 'state') });
    const { contents } = createJournal(join(top, 'state', 'journal'));
    const place = await (await openWorkspace([root])).openPlace('a.txt', { make: true, follow: false });
    const log = openSync(join(root, 'a.txt'), 'a');
    try {
      await changes.write(place, () => ({ bytes: Buffer.from('new') }), { kind: 'write' });
      const hash = await sha256(Buffer.from('old'));
      writeSync(log, ', and a line');
      expect(String(await contents.content(hash, 3))).toBe('old');
      // Where it cannot be had back, it is said why.
      expect(await failureOf(contents.content(hash))).toMatch(/^NOT_FOUND: .*still had the file open/);
    } finally {
      closeSync(log);
      await place.folder.handle.close();
    }
  });

  it.runIf(isPosix)('is not waited for when it is a FIFO', async () => {
    const { contents } = createJournal(join(top, 'state', 'journal'));
    mkdirSync(join(top, 'state', 'journal', 'contents'), { recursive: true });
    execFileSync('mkfifo', [join(top, 'state', 'journal', 'contents', 'a'.repeat(64))]);
    expect(await contents.content('a'.repeat(64))).toBeUndefined();
  });
});

describe('a clock that is set back', () => {
  it('holds up no change', async () => {
    await createJournal(join(top, 'state', 'journal')).passed(Date.now() + 3_600_000);
  });
});
