import {
  existsSync,
  lstatSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { ToolcribError } from '../../src/core/errors.ts';
import type { History } from '../../src/machine/history/history.ts';
import type { PathTarget } from '../../src/machine/paths/path-target.ts';
import { openWorkspace, type RootedWorkspace } from '../../src/machine/paths/workspace.ts';
import {
  callerFor,
  failureOf,
  freshSession,
  put,
  temporaryFolder,
  textOf,
  callerWith,
  type Caller,
} from '../tools/files/folder.ts';

let root: string;
let call: Caller;

beforeEach(async () => {
  root = await temporaryFolder();
  call = callerFor(root);
});

const done = async (name: Parameters<Caller>[0], given: object): Promise<string> =>
  textOf(await call(name, given));
const idIn = (said: string): string => /change (\S+)\)/.exec(said)?.[1] ?? '';
const outcomeOf = (calling: Promise<unknown>): Promise<string> =>
  calling.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof ToolcribError) return error.code;
      throw error;
    },
  );
const names = () => readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
/** Some time in which what nothing holds up comes to its end; what is held up has not, however long that is. */
const aWhile = () => sleep(30);

describe('ATTACK 63: a folder that is moved away, changed, and moved back', () => {
  it('is not moved away when it holds what others run', async () => {
    await put(root, { '.vscode/settings.json': 'benign' });
    for (const dry_run of [true, false])
      expect(await failureOf(call('move_path', { from: '.vscode', to: 'x', dry_run }))).toMatch(
        /^PATH_PROTECTED: .*settings\.json: is not changed/,
      );
    expect(names()).toEqual(['.vscode', '.vscode/settings.json']);
  });

  it.runIf(process.platform !== 'win32')('is not moved away when it is a link of such a name', async () => {
    await put(root, { 'conf/settings.json': '{}' });
    symlinkSync('conf', join(root, '.claude'));
    expect(await failureOf(call('move_path', { from: '.claude', to: 'x' }))).toMatch(/^PATH_PROTECTED: /);
    expect(lstatSync(join(root, '.claude')).isSymbolicLink()).toBe(true);
  });

  it.runIf(process.platform !== 'win32')(
    'is not moved back by undo when its content has changed to what would run',
    async () => {
      await put(root, { 'home/.local/share': 'four' });
      const moved = idIn(await done('move_path', { from: 'home/.local', to: 'x' }));
      unlinkSync(join(root, 'x', 'share'));
      symlinkSync('else', join(root, 'x', 'share'));
      const refused = /^PATH_PROTECTED: .*x\/share/;
      expect(await failureOf(call('undo', { since: moved, dry_run: true }))).toMatch(refused);
      // Nor is the folder for it made.
      rmdirSync(join(root, 'home'));
      expect(await failureOf(call('undo', { since: moved }))).toMatch(refused);
      expect(readdirSync(root)).toEqual(['x']);
    },
  );
});

describe('ATTACK 63: several calls at once', () => {
  it.each([[['HEAD', 'objects/x', 'refs/x']], [['HEAD', 'commondir']]])(
    'do not make a repository together, though none of them would alone: %s',
    async (paths) => {
      await done('write_file', { path: 'd/config', content: '[core]\n\tfsmonitor = touch /tmp/p\n' });
      const outcomes = await Promise.all(
        paths.map((path) =>
          outcomeOf(call('write_file', { path: `d/${path}`, content: 'ref: refs/heads/x' })),
        ),
      );
      expect(outcomes).toContain('PATH_PROTECTED');
      const has = (name: string) => existsSync(join(root, 'd', name));
      expect(has('HEAD') && (has('commondir') || (has('objects') && has('refs')))).toBe(false);
    },
  );

  it('do not write into a folder while it is searched and moved', async () => {
    await put(root, { 'x/keep': '' });
    for (let index = 0; index < 60; index++) await put(root, { [`x/deep/${index}/${index}`]: '' });
    for (let turns = 0; turns < 40; turns += 4) {
      const moving = call('move_path', { from: 'x', to: '.vscode' });
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      const writing = call('write_file', { path: 'x/tasks.json', content: '{"tasks": [1]}' });
      const [moved, wrote] = await Promise.all([outcomeOf(moving), outcomeOf(writing)]);
      expect(existsSync(join(root, '.vscode', 'tasks.json'))).toBe(false);
      expect([moved, wrote]).toContain('done');
      if (moved === 'done') renameSync(join(root, '.vscode'), join(root, 'x'));
      if (wrote === 'done') unlinkSync(join(root, 'x', 'tasks.json'));
    }
  });
});

describe('a folder that is changed and moved at once', () => {
  let changes: History;
  let workspace: RootedWorkspace;
  beforeEach(async () => {
    workspace = await openWorkspace([root]);
    const session = freshSession(join(await temporaryFolder(), 'state'));
    changes = await session.history();
    call = callerWith(session, root);
    await put(root, { 'x/keep': '' });
  });

  async function at<T>(path: string, work: (place: PathTarget) => Promise<T>): Promise<T> {
    const place = await workspace.openPlace(path, { make: true, follow: false });
    try {
      return await work(place);
    } finally {
      await place.folder.handle.close();
    }
  }
  const bytes = Buffer.from('{"tasks": [1]}');
  /** Writes a file, and does something before it takes effect. */
  const write = (path: string, meanwhile?: () => Promise<unknown>) =>
    at(path, (place) =>
      changes.write(
        place,
        async () => {
          await meanwhile?.();
          return { bytes };
        },
        { kind: 'write' },
      ),
    );
  /** Sees if something comes to its end while a file is being written. */
  async function endsDuring(path: string, start: () => Promise<string>): Promise<[boolean, string]> {
    let going = Promise.resolve('');
    let hasEnded = false;
    await write(path, async () => {
      going = start();
      await Promise.race([
        going.finally(() => {
          hasEnded = true;
        }),
        aWhile(),
      ]);
    });
    return [hasEnded, await going];
  }
  const move = (from: string, to: string) =>
    at(from, (one) => at(to, (other) => changes.move(one, other, { kind: 'move' })));

  it('moves when the change has been made, with the change', async () => {
    expect(await endsDuring('x/new', () => outcomeOf(move('x', 'y')))).toEqual([false, 'done']);
    expect(names()).toEqual(['y', 'y/keep', 'y/new']);
  });

  it('is not moved to where the change makes something run', async () => {
    const moving = () => outcomeOf(move('x', '.vscode'));
    expect(await endsDuring('x/tasks.json', moving)).toEqual([false, 'PATH_PROTECTED']);
    expect(names()).toEqual(['x', 'x/keep', 'x/tasks.json']);
  });

  it('is searched also when it took the place of a file that was to be moved', async () => {
    await put(root, { a: 'file', 'b/tasks.json': '{}' });
    const outcomes = await at('a', (a) =>
      at('b', (b) =>
        at('c', (c) =>
          at('.vscode', (settings) =>
            Promise.all(
              [
                changes.move(a, c, { kind: 'move' }),
                changes.move(b, a, { kind: 'move' }),
                changes.move(a, settings, { kind: 'move' }),
              ].map(outcomeOf),
            ),
          ),
        ),
      ),
    );
    expect(outcomes).toEqual(['done', 'done', 'PATH_PROTECTED']);
    expect(names()).toEqual(['a', 'a/tasks.json', 'c', 'x', 'x/keep']);
  });

  it('refuses a change that began while it was being removed', async () => {
    let writing = Promise.resolve('');
    await at('x', (folder) =>
      at('x/new', (place) =>
        changes
          .remove(folder, { kind: 'delete' }, async () => {
            writing = failureOf(changes.write(place, () => ({ bytes }), { kind: 'write' }));
            await Promise.race([writing, aWhile()]);
          })
          .then(() => writing),
      ),
    );
    expect(await writing).toMatch(/^STALE_FILE: .*new: the folder that it is in was moved or removed/);
    expect(names()).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'refuses a change after another program has moved it, whenever that was',
    async () => {
      const away = () => renameSync(join(root, 'x'), join(root, '.vscode'));
      const late = write('x/tasks.json', () => aWhile().then(away));
      expect(await failureOf(late)).toMatch(/^STALE_FILE: /);
      expect(names()).toEqual(['.vscode', '.vscode/keep']);
      renameSync(join(root, '.vscode'), join(root, 'x'));
      // Then nobody is asked about what is there now.
      const asked = () => expect.unreachable('what has been moved was looked at');
      const early = at('x/tasks.json', (place) => {
        away();
        return changes.write(place, asked, { kind: 'write' });
      });
      expect(await failureOf(early)).toMatch(/^STALE_FILE: /);
      renameSync(join(root, '.vscode'), join(root, 'x'));
      const removing = at('x/keep', (place) => {
        away();
        return changes.remove(place, { kind: 'delete' }, asked);
      });
      expect(await failureOf(removing)).toMatch(/^STALE_FILE: /);
      renameSync(join(root, '.vscode'), join(root, 'x'));
      const moving = at('x/keep', (from) =>
        at('kept', (to) => {
          away();
          return changes.move(from, to, { kind: 'move' });
        }),
      );
      expect(await failureOf(moving)).toMatch(/^STALE_FILE: /);
      expect(names()).toEqual(['.vscode', '.vscode/keep']);
    },
  );
});

describe('a call that is refused', () => {
  it.runIf(process.platform !== 'win32')('leaves behind no folders that it has made', async () => {
    await put(root, { 'd/x': '1', 'y/tasks.json': '' });
    symlinkSync('nowhere', join(root, 'link'));
    const before = names();
    const refused: [Parameters<Caller>[0], object][] = [
      ['write_file', { path: 'n1/n2/f', content: '€', encoding: 'iso-8859-2' }],
      ['move_path', { from: 'd', to: 'd/e/f/g' }],
      ['move_path', { from: 'link', to: 'p/q/.vscode' }],
      ['move_path', { from: 'y', to: 'p/q/.vscode' }],
    ];
    for (const [name, given] of refused) {
      await failureOf(call(name, given));
      expect(names()).toEqual(before);
    }
  });

  it('leaves no folders behind when no journal can be kept', async () => {
    await put(root, { 'd/x': '1', state: 'no folder' });
    call = callerWith(freshSession(join(root, 'state')), root);
    expect(await failureOf(call('move_path', { from: 'd', to: 'n1/n2' }))).toMatch(/^WRITE_FAILED: /);
    expect(names()).toEqual(['d', 'd/x', 'state']);
  });

  it.runIf(process.platform !== 'win32')(
    'leaves no folders behind where a link leads by now, when it is an undo',
    async () => {
      await put(root, { 'a/z/f.txt': 't', 'b/keep': '' });
      await done('read_file', { path: 'a/z/f.txt' });
      const removed = idIn(await done('delete_path', { path: 'a/z/f.txt' }));
      renameSync(join(root, 'a'), join(root, 'c'));
      symlinkSync('b', join(root, 'a'));
      utimesSync(join(root, 'b'), 1000, 1000);
      expect(await done('undo', { since: removed }).catch(String)).toMatch(/now leads to .*b\/z\/f\.txt/);
      expect([root, join(root, 'b'), join(root, 'c')].map((folder) => readdirSync(folder))).toEqual([
        ['a', 'b', 'c'],
        ['keep'],
        ['z'],
      ]);
      // None had been made for a while either.
      expect(statSync(join(root, 'b')).mtimeMs).toBe(1_000_000);
      unlinkSync(join(root, 'a'));
      symlinkSync(await temporaryFolder(), join(root, 'a'));
      expect(await failureOf(call('undo', { since: removed }))).toMatch(/^PATH_OUTSIDE_ROOTS: /);
    },
  );
});
