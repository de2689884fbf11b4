import { renameSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { callerFor, put, temporaryFolder, textOf, type Caller } from '../filesystem/folder.ts';

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

describe.runIf(process.platform === 'linux')('races', () => {
  /** Calls while a folder is swapped for a link to the outside and back; returns what the calls brought. */
  async function whileSwapping(attempt: () => Promise<string>): Promise<Set<string>> {
    const race = join(root, 'race');
    await put(root, { 'race/dir/deep/secret.txt': 'harmless\n' });
    symlinkSync('../../outside', join(race, 'evil'));
    let swapping = true;
    const swapper = (async () => {
      while (swapping) {
        renameSync(join(race, 'dir'), join(race, 'kept'));
        renameSync(join(race, 'evil'), join(race, 'dir'));
        await setImmediate();
        renameSync(join(race, 'dir'), join(race, 'evil'));
        renameSync(join(race, 'kept'), join(race, 'dir'));
        await setImmediate();
      }
    })();
    const seen = new Set<string>();
    const until = performance.now() + 1000;
    while (performance.now() < until)
      seen.add(await attempt().catch((error: Error & { code?: string }) => error.code ?? error.message));
    swapping = false;
    await swapper;
    await rm(race, { recursive: true });
    return seen;
  }

  it('ATTACK 59: a folder swapped for a link between check and open never shows the outside', async () => {
    const seen = await whileSwapping(async () =>
      textOf(await call('read_file', { path: 'race/dir/deep/secret.txt' })),
    );
    expect([...seen].filter((text) => text.includes(secret))).toEqual([]);
    // The race was really run: both sides were met.
    expect(seen).toContain('harmless\n');
    expect(seen.size).toBeGreaterThan(1);
  });

  it('ATTACK 59: nor does a listing', async () => {
    const seen = await whileSwapping(async () =>
      JSON.stringify((await call('list_directory', { path: 'race/dir/deep' })).data),
    );
    expect([...seen].filter((text) => text.includes('only-outside'))).toEqual([]);
    expect(seen.size).toBeGreaterThan(1);
  });

  it('ATTACK 59: nor does a search', async () => {
    const seen = await whileSwapping(async () => {
      const inFolder = await call('grep', { pattern: '.', path: 'race/dir/deep' });
      return (
        textOf(inFolder) + textOf(await call('grep', { pattern: '.', path: 'race/dir/deep/secret.txt' }))
      );
    });
    expect([...seen].filter((text) => text.includes(secret))).toEqual([]);
    expect(seen.size).toBeGreaterThan(1);
  });
});
