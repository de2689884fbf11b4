import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFileChanges, type FileChanges } from '../../src/machine/changes/file-changes.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { temporaryFolder } from '../filesystem/folder.ts';
import { numberOf } from '../support/version.ts';
import { buildWriter } from '../support/writer-program.ts';

// Each takes the start of a process: enough to notice here, KILLS=500 before a release.
const kills = Number(process.env['KILLS'] ?? 50);
let writer: string;
let root: string;
let state: string;
let changes: FileChanges;

beforeAll(async () => {
  writer = await buildWriter(await temporaryFolder());
});

beforeEach(async () => {
  root = await temporaryFolder();
  state = join(await temporaryFolder(), 'state');
  changes = createFileChanges({ folder: state });
});

/** Starts the writer and kills it at some moment while it changes files. */
async function killOne(): Promise<void> {
  const child = spawn(process.execPath, [writer, state, root], { stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = once(child, 'exit');
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += String(chunk)));
  const isReady = await Promise.race([once(child.stdout, 'data').then(() => true), gone.then(() => false)]);
  if (isReady) await sleep(Math.random() * 20);
  child.kill('SIGKILL');
  const [, signal] = (await gone) as [number | null, string | null];
  // It never ends by itself: what it stumbled over is a failure.
  if (signal !== 'SIGKILL') throw new Error(complaints);
}

const filesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' });
const listed = async (path?: string) =>
  (await changes.list({ roots: [root], limit: 1e6, ...(path && { path }) })).changes.toReversed();

describe('kill -9', () => {
  it(`tears no file and loses no change, ${kills} times`, { timeout: 120_000 + kills * 2000 }, async () => {
    let left = kills;
    const worker = async () => {
      while (left-- > 0) await killOne();
    };
    await Promise.all([worker(), worker()]);

    const shared = join(root, 'shared.txt');
    const number = numberOf(readFileSync(shared));
    await changes.recover();
    expect(filesIn(root).filter((name) => name.includes('.toolcrib-'))).toEqual([]);
    // Of the dead, only logs are left that had not yet been begun; they are tidied up later.
    const pending = join(state, 'journal', 'pending');
    const logs = readdirSync(pending).filter((name) => statSync(join(pending, name)).size > 0);
    expect(logs.length).toBeLessThanOrEqual(1);

    // Each version of the file is in the journal, once and in order.
    const edits = await listed(shared);
    expect(edits.length).toBe(number);
    expect(edits.slice(1).map(({ before }) => before?.hash)).toEqual(
      edits.slice(0, -1).map(({ after }) => after?.hash),
    );

    // What the journal says has happened to the other files is how they are.
    const there = new Set<string>();
    const gone = new Set<string>();
    for (const { path, to, after } of await listed()) {
      for (const each of [path, to ?? path]) there.delete(each);
      gone.add(path);
      if (after) {
        there.add(to ?? path);
        gone.delete(to ?? path);
      }
    }
    expect([...there].filter((path) => !existsSync(path))).toEqual([]);
    expect([...gone].filter((path) => existsSync(path))).toEqual([]);
    const unknown = filesIn(root).filter((name) => /new-|moved/.test(name) && !there.has(join(root, name)));
    expect(unknown).toEqual([]);

    const workspace = await openWorkspace([root]);
    const undo = (id: string) => changes.undo(id, { workspace });
    for (const [at, { id }] of [...edits.entries()].toReversed()) {
      expect((await undo(id)).state).toBe('done');
      if (at > 0) expect(numberOf(readFileSync(shared))).toBe(at);
    }
    expect(existsSync(shared)).toBe(false);
    for (const { id, to } of (await listed()).filter(({ kind }) => kind === 'delete')) {
      expect(to).toBeUndefined();
      expect((await undo(id)).state).toBe('done');
    }
  });
});
