import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { History } from '../../src/machine/history/history.ts';
import { sha256 } from '../../src/machine/history/log.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { temporaryFolder } from '../tools/files/folder.ts';
import { nextVersion, numberOf } from '../support/version.ts';
import { bundle } from '../support/bundle.ts';

// Each takes the start of a process: enough to notice here, KILLS=500 before a release.
const kills = Number(process.env['KILLS'] ?? 50);
let writer: string;
let root: string;
let state: string;
let changes: History;

beforeAll(async () => {
  writer = await bundle('support/writer.ts', await temporaryFolder());
});

beforeEach(async () => {
  root = await temporaryFolder();
  state = join(await temporaryFolder(), 'state');
  const { run } = createProcesses('linux');
  changes = new History({ state, run, git: () => Promise.resolve(undefined), mostChanges: 1e6 });
});

/** Starts the writer and kills it at some moment while it changes files. */
async function killOne(): Promise<void> {
  const child = spawn(process.execPath, [writer, state, root], { stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = once(child, 'exit');
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += String(chunk);
  });
  const isReady = await Promise.race([once(child.stdout, 'data').then(() => true), gone.then(() => false)]);
  if (isReady) await sleep(Math.random() * 20);
  child.kill('SIGKILL');
  const [, signal] = (await gone) as [number | null, string | null];
  // It never ends by itself: what it stumbled over is a failure.
  if (signal !== 'SIGKILL') throw new Error(complaints);
}

const filesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' });
const listed = async (path?: string) => {
  const paths = path === undefined ? [] : [path];
  return (await changes.list({ paths }, [root])).toReversed();
};

describe('kill -9', () => {
  it(`tears no file and loses no change, ${kills} times`, { timeout: 120_000 + kills * 2000 }, async () => {
    let remaining = kills;
    const worker = async () => {
      while (remaining > 0) {
        remaining -= 1;
        await killOne();
      }
    };
    await Promise.all([worker(), worker()]);

    const shared = join(root, 'shared.txt');
    const number = numberOf(readFileSync(shared));
    const workspace = await openWorkspace([root]);
    // The next change removes what was left half done.
    const place = await workspace.openPlace('last.txt');
    await changes.write(place, () => ({ bytes: Buffer.from('last') }), { kind: 'write' });
    await place.folder.handle.close();
    expect(filesIn(root).filter((name) => name.includes('.toolcrib-'))).toEqual([]);

    // Each version of the file is in the history; beside them may be what was noted down and then not made.
    const edits = await listed(shared);
    const kept = new Set(edits.map(({ after }) => after?.hash));
    for (let at = 1, bytes = nextVersion(undefined); at <= number; at++, bytes = nextVersion(bytes))
      expect(kept).toContain(sha256(bytes));
    expect(edits.length - number).toBeLessThanOrEqual(kills);

    // What the history says has happened to the other files is how they are, but for as many that were killed.
    const there = new Set<string>();
    const gone = new Set<string>();
    const known = new Set<string>();
    for (const { path, to, after } of await listed()) {
      for (const each of [path, to ?? path]) there.delete(known.add(each) && each);
      gone.add(path);
      if (after) {
        there.add(to ?? path);
        gone.delete(to ?? path);
      }
    }
    const others = [...there]
      .filter((path) => !existsSync(path))
      .concat([...gone].filter((path) => existsSync(path)));
    expect(others.length).toBeLessThanOrEqual(2 * kills);
    const unknown = filesIn(root).filter((name) => /new-|moved/.test(name) && !known.has(join(root, name)));
    expect(unknown).toEqual([]);

    const options = { workspace, dryRun: false, signal: new AbortController().signal };
    let left = number;
    for (const _ of edits) {
      const { changes: undone, left: failed } = await changes.undo({ last: 1, paths: [shared] }, options);
      // What was noted down and then not made is passed over.
      expect(failed.every(({ error }) => error.code === 'STALE_FILE')).toBe(true);
      if (undone.length === 0) break;
      left -= 1;
      if (left > 0) expect(numberOf(readFileSync(shared))).toBe(left);
    }
    expect(existsSync(shared)).toBe(false);
  });
});
