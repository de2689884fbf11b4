import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ToolcribError } from '../../../src/core/errors.ts';
import { callerFor, temporaryFolder, textOf } from './folder.ts';

/** Lines with any ending, some of them of bytes that are no UTF-8. */
const line = fc.tuple(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => Buffer.from(text.replaceAll(/[\r\n]/g, ''))),
    fc
      .uint8Array({ minLength: 1, maxLength: 6 })
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte > 31))),
  ),
  fc.constantFrom('\n', '\r\n', '\n', '\r\n', '\r', ''),
);
const content = fc
  .array(line, { minLength: 1, maxLength: 12 })
  .map((lines) =>
    Buffer.concat(
      lines.flatMap(([bytes, end], index) => [Buffer.from(`${index}: `), bytes, Buffer.from(end)]),
    ),
  );

it('takes any edits back to the exact bytes, and forward again', async () => {
  const folder = await temporaryFolder();
  const call = callerFor(folder);
  const file = join(folder, 'a.txt');
  let edited = 0;
  await fc.assert(
    fc.asyncProperty(content, fc.nat(), fc.string({ maxLength: 20 }), async (before, at, next) => {
      await writeFile(file, before);
      let change: string;
      try {
        // Some of the text as a model sees it, with plain line feeds; a note of the tool is no part of it.
        const read = textOf(await call('read_file', { path: 'a.txt' }))
          .replace(/\n?\[[^\]]*\]$/, '')
          .replaceAll(/^\d+\t/gm, '');
        const characters = [...read.replaceAll('\r\n', '\n')];
        const start = at % Math.max(1, characters.length);
        const old = characters.slice(start, start + 4 + (at % 29)).join('');
        const result = await call('edit_file', { path: 'a.txt', old_string: old, new_string: next });
        change = /change ([\w-]+)/.exec(textOf(result))?.[1] ?? '';
        if (change === '') return;
      } catch (error) {
        // Refused: ambiguous, not found, half a character, binary. Then nothing may have been touched.
        if (!(error instanceof ToolcribError)) throw error;
        expect(await readFile(file)).toEqual(before);
        return;
      }
      edited++;
      const after = await readFile(file);
      const undone = textOf(await call('undo', { since: change }));
      expect(await readFile(file)).toEqual(before);
      await call('undo', { since: /undo since=([\w-]+)/.exec(undone)?.[1] });
      expect(await readFile(file)).toEqual(after);
    }),
    { numRuns: 120 },
  );
  // Otherwise nothing has been shown.
  expect(edited).toBeGreaterThan(20);
}, 60_000);
