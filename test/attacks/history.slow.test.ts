import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  callerWith,
  failureOf,
  freshSession,
  put,
  temporaryFolder,
  textOf,
  type Caller,
} from '../tools/files/folder.ts';
import { contentOf } from '../guarantees/world.ts';

const isPosix = process.platform !== 'win32';
let root: string;
let outside: string;
let state: string;
let history: string;
let call: Caller;

beforeEach(async () => {
  const top = await temporaryFolder();
  root = join(top, 'app');
  outside = join(top, 'outside');
  await put(root, { 'a.txt': 'old' });
  await put(outside, { id_rsa: 'OUTSIDE', 'z/id_rsa': 'OUTSIDE' });
  state = join(root, 'state', 'toolcrib');
  history = join(state, 'history', createHash('sha256').update(root).digest('hex').slice(0, 32));
  call = callerWith(freshSession(state), root);
});

function bring(mode: number, lines: unknown[]): void {
  mkdirSync(join(history, 'kept'), { recursive: true, mode });
  const text = lines.map((line) => `\n${typeof line === 'string' ? line : JSON.stringify(line)}`).join('');
  writeFileSync(join(history, 'history.jsonl'), text, { mode: 0o600 });
}
const write = async (path: string, content = 'new') => textOf(await call('write_file', { path, content }));
const listed = async () => textOf(await call('undo', {}));

const temporary = '.toolcrib-0123456789abcdef.tmp';
const entry = { id: 'aaaaaaaa-bbbb', at: 1, kind: 'write', step: 'write', temporary, pid: 2 ** 22 + 1 };

describe.runIf(isPosix)('a state folder that came with a project', () => {
  it('is not used with the modes that git gives to folders', async () => {
    bring(0o755, [{ ...entry, path: join(root, 'b.txt') }]);
    expect(await listed()).toMatch(/^Nothing to take back/);
    expect(await failureOf(write('new.txt'))).toMatch(/^WRITE_FAILED: .*chmod 700/);
    expect(existsSync(join(root, 'new.txt'))).toBe(false);
  });

  it('removes nothing outside the root that it names, though it is closed to others', async () => {
    await put(outside, { [temporary]: 'theirs', 'x/.toolcrib-0123456789abcdef.tmp/y': 'theirs' });
    const before = contentOf(outside);
    const move = {
      ...entry,
      id: 'aaaaaaaa-bbbc',
      step: 'move',
      path: join(outside, 'x'),
      to: join(outside, 'y'),
    };
    bring(0o700, [{ ...entry, path: join(outside, 'b.txt') }, move]);
    await write('new.txt');
    expect(contentOf(outside)).toEqual(before);
  });

  it('reaches nothing outside by its names, and does no harm by odd lines', async () => {
    const removal = { ...entry, step: 'remove', id: '../../../../outside/z', path: join(root, 'z') };
    const odd: unknown[] = [
      '{',
      'null',
      '[]',
      '1',
      { constructor: 1 },
      { ...entry, path: '../x' },
      { ...entry, at: 'x' },
    ];
    bring(0o700, [
      removal,
      ...odd,
      { ...entry, before: { kind: 'file', size: 3, hash: '../../x' }, path: root },
    ]);
    expect(await listed()).toMatch(/^Nothing to take back/);
    expect(await failureOf(call('undo', { since: 'aaaaaaaa-bbbb' }))).toMatch(/^NOT_FOUND/);
    expect(await failureOf(call('undo', { since: '../../../../outside/z' }))).toMatch(/^NOT_FOUND/);
    expect(await write('new.txt')).toMatch(/^Wrote/);
    expect((await listed()).match(/  write /g)).toHaveLength(1);
    expect(existsSync(join(outside, 'z'))).toBe(true);
  });

  it('takes nothing back by states that are missing, or of another folder', async () => {
    execFileSync('git', ['init', '--quiet', root]);
    const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
    const inside = { top: root, scope: root, before: tree, after: 'a'.repeat(40), files: 1 };
    const states = [inside, { ...inside, top: outside, scope: outside }];
    const before = contentOf(outside);
    for (const [at, each] of states.entries()) {
      const id = `aaaaaaaa-bbb${at}`;
      bring(0o700, [{ ...entry, id, step: 'command', kind: 'ran', command: 'x', path: root, states: each }]);
      expect(await listed()).toContain(id);
      expect(await failureOf(call('undo', { last: 1 }))).toMatch(/^NOT_FOUND: .*no longer kept/);
    }
    expect(contentOf(outside)).toEqual(before);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('old');
  });

  it('keeps nobody waiting with FIFOs', async () => {
    bring(0o700, []);
    const fifo = join(history, 'history.jsonl');
    rmSync(fifo);
    execFileSync('mkfifo', [fifo, join(history, 'kept', entry.id)]);
    expect(await listed()).toMatch(/^Nothing to take back/);
    expect(await failureOf(write('new.txt'))).toMatch(/^WRITE_FAILED: Nothing was changed/);
  });
});

describe('the remains of killed processes', () => {
  it('are removed with the next change, and their entries are not listed', async () => {
    bring(0o700, [{ ...entry, path: join(root, 'a.txt') }]);
    await put(root, { [temporary]: 'half a file' });
    await write('new.txt');
    expect(existsSync(join(root, temporary))).toBe(false);
    expect(await listed()).not.toContain(entry.id);
  });

  it('spoil no change that is written after a line that was cut short', async () => {
    await write('one.txt');
    const path = join(history, 'history.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8') + '\n{"id":"cut', { mode: 0o600 });
    await write('two.txt');
    expect((await listed()).match(/  write /g)).toHaveLength(2);
  });
});

it('lists all changes although the clock was years ahead', async () => {
  await write('one.txt');
  const path = join(history, 'history.jsonl');
  const ahead = { ...JSON.parse(readFileSync(path, 'utf8')), id: 'zzzzzzzzz-zzzz', at: Date.now() + 1e12 };
  writeFileSync(path, `${readFileSync(path, 'utf8')}\n${JSON.stringify(ahead)}`, { mode: 0o600 });
  await write('two.txt');
  expect((await listed()).match(/  write /g)).toHaveLength(3);
});

it('forgets the oldest of too many changes, with what only they need', async () => {
  const changes = freshSession(state, { mostChanges: 150 });
  call = callerWith(changes, root);
  for (let n = 0; n < 201; n++) await write(`${n % 3}.txt`, `${n}`);
  await expect
    .poll(async () => (await (await changes.history()).list({ paths: [] }, [root])).length)
    .toBeLessThanOrEqual(150);
  expect(textOf(await call('undo', { last: 1 }))).toMatch(/^Took back/);
});

it('changes nothing for a call that is cancelled while it waits', async () => {
  const cancelled = AbortSignal.abort();
  const given = { path: 'b.txt', content: 'new' };
  expect(await failureOf(call('write_file', given, cancelled))).toMatch(/^CANCELLED: .*b\.txt/);
  expect(existsSync(join(root, 'b.txt'))).toBe(false);
});
