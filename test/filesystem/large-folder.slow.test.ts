import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callerFor, temporaryFolder, textOf } from './folder.ts';

it.runIf(process.platform === 'linux')('list_files reads a folder too large to be read at once', async () => {
  const folder = await temporaryFolder();
  const names: string[] = [];
  // What a name adds to its folder differs between file systems.
  while ((await stat(folder)).size <= 256 * 1024) {
    const more = Array.from({ length: 1000 }, (_, index) => `${'n'.repeat(200)}-${names.length + index}`);
    await Promise.all(more.map((name) => writeFile(join(folder, name), '')));
    names.push(...more);
  }
  names.sort();
  await mkdir(join(folder, 'caf\u00e9'));
  const caller = callerFor(folder);
  const page = async (given: object) => textOf(await caller('list_files', given)).split('\n');
  const first = await page({ limit: 20 });
  expect(first.slice(0, 2)).toEqual(['caf\u00e9/', names[0]]);
  const total = (names.length + 1).toLocaleString('en');
  expect((await page({ limit: 20 })).at(-1)).toMatch(new RegExp(`^\\[entries 1-20 of ${total}; next`));
});
