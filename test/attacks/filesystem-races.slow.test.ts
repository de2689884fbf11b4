import { constants, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { beforeAll, describe, expect, it } from 'vitest';
import { ToolcribError } from '../../src/core/errors.ts';
import { openWorkspace, type RootedWorkspace } from '../../src/machine/paths/workspace.ts';
import { callerFor, put, temporaryFolder, textOf, type Caller } from '../tools/files/folder.ts';

const secret = 'TOP-SECRET-CONTENT';
let root: string;
let call: Caller;

beforeAll(async () => {
  const top = await temporaryFolder();
  root = join(top, 'app');
  await put(top, {
    'app/inside.txt': 'inside\n',
    'outside/secret.txt': secret,
    'outside/deep/secret.txt': secret,
    'outside/deep/only-outside.txt': secret,
  });
  call = callerFor(root);
});

describe.runIf(process.platform === 'linux')('a folder that is swapped for a link', () => {
  /** Calls while a folder is swapped for a link to the outside and back; returns what the calls brought. */
  async function whileSwapping(
    attempt: () => Promise<string>,
    expected: (result: string) => boolean,
  ): Promise<Set<string>> {
    const race = join(root, 'race');
    await put(root, { 'race/dir/deep/secret.txt': 'harmless\n' });
    symlinkSync('../../outside', join(race, 'evil'));
    let swapping = true;
    // Of different length, or the swaps could keep step with the calls.
    const pause = async (most: number) => {
      for (let turns = Math.ceil(Math.random() * most); turns > 0; turns -= 1) await setImmediate();
    };
    const swapper = (async () => {
      while (swapping) {
        renameSync(join(race, 'dir'), join(race, 'kept'));
        renameSync(join(race, 'evil'), join(race, 'dir'));
        await pause(3);
        renameSync(join(race, 'dir'), join(race, 'evil'));
        renameSync(join(race, 'kept'), join(race, 'dir'));
        await pause(20);
      }
    })();
    const seen = new Set<string>();
    const until = performance.now() + 1000;
    const bothMet = () => [...seen].some(expected) && seen.size > 1;
    // A busy machine may take long for that.
    while (performance.now() < until || !bothMet())
      seen.add(await attempt().catch((error: Error & { code?: string }) => error.code ?? error.message));
    swapping = false;
    await swapper;
    await rm(race, { recursive: true });
    return seen;
  }

  it('ATTACK 59: read_file never shows the outside by a swap between check and open', async () => {
    const seen = await whileSwapping(
      async () => textOf(await call('read_file', { path: 'race/dir/deep/secret.txt' })),
      (text) => text === '1\tharmless\n',
    );
    expect([...seen].filter((text) => text.includes(secret))).toEqual([]);
    // The race was really run: both sides were met.
    expect(seen).toContain('1\tharmless\n');
    expect(seen.size).toBeGreaterThan(1);
  });

  it('ATTACK 59: grep never shows the outside', async () => {
    const seen = await whileSwapping(
      async () => {
        const inFolder = await call('grep', { pattern: '.', path: 'race/dir/deep' });
        return (
          textOf(inFolder) + textOf(await call('grep', { pattern: '.', path: 'race/dir/deep/secret.txt' }))
        );
      },
      (text) => text.includes('harmless'),
    );
    expect([...seen].filter((text) => text.includes(secret))).toEqual([]);
    expect(seen.size).toBeGreaterThan(1);
  });

  it('ATTACK 59: nothing is ever made or written outside', async () => {
    const top = await temporaryFolder();
    const app = join(top, 'app');
    await put(top, { 'app/dir/sub/here.txt': '', 'outside/sub/there.txt': '' });
    symlinkSync('../outside', join(app, 'evil'));
    const workspace = await openWorkspace([app]);
    const handles = readdirSync('/proc/self/fd').length;
    const swapper = startSwapping(app);
    const outcomes = { written: 0, refused: 0 };
    const outside = (kind: 'safe' | 'naive') =>
      readdirSync(join(top, 'outside'), { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.includes(kind),
      );
    try {
      // A path that is checked and then written to is the measure of whether the race is real: it must lose.
      for (let turn = 0; turn < 1500 || outside('naive').length === 0; turn += 1) {
        swapper.aim(turn);
        try {
          await writeSafely(workspace, `dir/sub/safe-${turn}/x/file`);
          outcomes.written += 1;
        } catch (thrown) {
          // Nothing may come of it but a refusal, or the failure to create a file where a link has been put.
          const error = thrown as Error & { code?: string };
          if (!(error instanceof ToolcribError) && error.code !== 'EEXIST' && error.code !== 'ENOENT')
            throw error;
          outcomes.refused += 1;
        }
        // What fails has not escaped.
        await writeNaively(workspace, `dir/sub/naive-${turn}/x/file`).catch(() => undefined);
      }
    } finally {
      await swapper.end();
    }
    expect(outside('safe')).toEqual([]);
    expect(outside('naive')).not.toEqual([]);
    expect(outcomes.written).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
    expect(swapper.planted()).toBeGreaterThan(0);
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(handles);
  });
});

async function writeSafely(workspace: RootedWorkspace, path: string): Promise<void> {
  const place = await workspace.openPlace(path, { make: true });
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    await (await open(place.at, flags)).close();
  } finally {
    await place.folder.handle.close();
  }
}

async function writeNaively(workspace: RootedWorkspace, path: string): Promise<void> {
  const checked = await workspace.resolve(path);
  await mkdir(dirname(checked), { recursive: true });
  await writeFile(checked, '');
}

/**
 * Swaps `dir` for the link `evil` and back, and puts links to the outside where folders of the current turn are or are
 * about to be made, in a thread of its own and as fast as it can.
 */
function startSwapping(app: string) {
  const [turn, planted, stopped] = [0, 1, 2];
  const shared = new Int32Array(new SharedArrayBuffer(12));
  const source = `
    const { renameSync, symlinkSync } = require('node:fs');
    const { workerData: { app, shared } } = require('node:worker_threads');
    const attempt = (what) => { try { what(); return true; } catch { return false; } };
    let strays = 0;
    // A writer may have made what was missing for a moment; that is put aside.
    const move = (from, to) => {
      while (!attempt(() => renameSync(app + from, app + to)) && Atomics.load(shared, ${stopped}) === 0)
        attempt(() => renameSync(app + to, app + '/stray-' + (strays += 1)));
    };
    for (let step = 0; Atomics.load(shared, ${stopped}) === 0; step += 1) {
      const name = (step % 2 ? 'safe-' : 'naive-') + Atomics.load(shared, ${turn});
      move('/dir', '/kept');
      move('/evil', '/dir');
      move('/dir', '/evil');
      move('/kept', '/dir');
      if (step % 4 > 1) continue;
      attempt(() => renameSync(app + '/dir/sub/' + name, app + '/dir/sub/' + name + '-kept'));
      if (attempt(() => symlinkSync('../../../outside/sub', app + '/dir/sub/' + name)))
        Atomics.add(shared, ${planted}, 1);
    }`;
  const worker = new Worker(source, { eval: true, workerData: { app, shared } });
  const ended = new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject));
  return {
    aim: (now: number) => Atomics.store(shared, turn, now),
    planted: () => Atomics.load(shared, planted),
    end: async () => {
      Atomics.store(shared, stopped, 1);
      await ended;
    },
  };
}
