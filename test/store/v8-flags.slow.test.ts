import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { garbageCollector } from '../../src/store/v8-flags.ts';
import { connect, eras, inherited } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { temporaryFolder } from '../tools/files/folder.ts';

it.each(eras)('serves where V8 refuses every flag, or has none of them, in %s', async (era) => {
  const root = await temporaryFolder();
  writeFileSync(join(root, 'a.txt'), 'x'.repeat(80).concat('\n').repeat(20_000));
  for (const preload of ['refuse-flags.cjs', 'other-flags.cjs']) {
    const env = {
      ...inherited(),
      NODE_OPTIONS: `--require=${join(import.meta.dirname, 'fixtures', preload)}`,
    };
    const client = await connect(era, { roots: [root], env });
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    // So much that a collection is asked for after each.
    for (let at = 0; at < 3; at++) {
      const result = await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } });
      expect(textOf(result)).toContain('xxxx');
    }
    await client.close();
  }
});

it('collects what nobody holds any more', async () => {
  const collect = garbageCollector();
  const held = new WeakRef({ big: 'x'.repeat(1000) });
  // What a WeakRef was made of stays until the turn of the event loop ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(held.deref()).toBeUndefined();
});
