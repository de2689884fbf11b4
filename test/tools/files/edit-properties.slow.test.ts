import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyPatch } from 'diff';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../src/tools/files/editing/apply-edits.ts';
import type { Edit } from '../../../src/tools/files/editing/edited-text.ts';
import { encodeText } from '../../../src/tools/files/text/file-text.ts';
import { unifiedDiff } from '../../../src/tools/files/text/unified-diff.ts';
import { temporaryFolder } from './folder.ts';

const runs = { numRuns: 400, interruptAfterTimeLimit: 30_000, markInterruptAsFailure: false } as const;

/** Texts of few different lines, so that edits often match, with every line ending. */
const word = fc.constantFrom('a', 'b', 'aa', 'ab', '', '  a', 'é', '中', '\t', '12:', '😀');
const line = fc.tuple(word, fc.constantFrom('\n', '\n', '\r\n', '\r')).map(([text, ending]) => text + ending);
const text = fc.tuple(fc.array(line, { maxLength: 12 }), word).map(([lines, last]) => lines.join('') + last);
const lfText = fc
  .tuple(fc.array(word, { maxLength: 4 }), fc.constantFrom('', '\n'))
  .map(([lines, end]) => lines.join('\n') + end);
const edit = fc.record({
  old: lfText,
  new: lfText,
  all: fc.boolean(),
});
/** Bytes that are mostly text, so that they are not taken for a binary file. */
const bytes = fc
  .tuple(text, fc.uint8Array({ maxLength: 4 }), text)
  .map(([one, other, two]) => Buffer.concat([Buffer.from(one + 'x'.repeat(80)), other, Buffer.from(two)]));

/** The bytes after edits; undefined when they are refused. */
const outcome = (before: Buffer, given: readonly Edit[], encoding?: string) =>
  applyEdits(before, given, { path: 'f.txt', encoding }).catch((error: { code?: string }) => {
    if (error.code === undefined) throw error;
    return undefined;
  });

const endings = (content: Buffer): string[] => content.toString('latin1').match(/\r\n|\r|\n/g) ?? [];

describe('an edit', () => {
  it('changes no byte outside of what it replaces', async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(word, { maxLength: 3 }), fc.nat(79), async (before, words, length) => {
        const given = {
          old: 'x'.repeat(80 - length),
          new: words.join('-'),
          all: true,
        };
        const copy = Buffer.from(before);
        const edited = await outcome(before, [given], 'utf-8');
        expect(before.equals(copy)).toBe(true);
        if (!edited) return;
        applied++;
        const fresh = Buffer.from(given.new).toString('latin1');
        expect(edited.bytes.toString('latin1')).toBe(before.toString('latin1').replaceAll(given.old, fresh));
      }),
      runs,
    );
    expect(applied).toBeGreaterThan(20);
  });

  it('has the result of replacing in a string where lines end with LF', async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(lfText, lfText, edit, async (one, two, given) => {
        const before = `${one}${given.old}${two}`;
        const edited = await outcome(Buffer.from(before), [given]);
        if (!edited) return;
        const count = before.split(given.old).length - 1;
        if (!given.all) expect(count).toBe(1);
        expect(edited.bytes.toString()).toBe(before.split(given.old).join(given.new));
        applied++;
      }),
      runs,
    );
    expect(applied).toBeGreaterThan(20);
  });

  it('is undone by the reverse edit', async () => {
    let reversed = 0;
    await fc.assert(
      fc.asyncProperty(
        text,
        text,
        fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
        async (one, two, label) => {
          const { bytes: before } = await encodeText(`${one}OLD\nlines\n${two}`, undefined, label);
          const there = { old: 'OLD\nlines\n', new: 'NEW\nother\nlines\n' };
          const edited = await outcome(before, [there], label);
          if (!edited) throw new Error('was refused');
          const back = await outcome(edited.bytes, [{ old: there.new, new: there.old }], label);
          expect(back?.bytes).toEqual(before);
          reversed++;
        },
      ),
      runs,
    );
    expect(reversed).toBeGreaterThan(100);
  });

  it('keeps the ending of every line that stays, and gives new lines that of their neighbours', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('\n', '\r\n'), { minLength: 3, maxLength: 12 }),
        fc.nat(),
        fc.integer({ min: 0, max: 3 }),
        async (ends, at, more) => {
          const lines = ends.map((end, index) => `line ${index}${end}`);
          const first = at % (lines.length - 1);
          const old = `line ${first}\nline ${first + 1}\n`;
          const added = Array.from({ length: more }, (_, index) => `added ${index}\n`).join('');
          const edited = await outcome(Buffer.from(lines.join('')), [
            { old, new: `line ${first}\n${added}changed\n` },
          ]);
          const expected: string[] = [...ends];
          expected.splice(
            first + 1,
            0,
            ...(more > 0 ? [ends[first + 1]!, ...Array<string>(more - 1).fill(ends[first + 1]!)] : []),
          );
          expect(endings(edited!.bytes)).toEqual(expected);
        },
      ),
      runs,
    );
  });

  it('changes nothing when a character does not exist in the encoding', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('windows-1252', 'koi8-r', 'gbk', 'shift_jis', 'euc-jp', 'euc-kr', 'big5'),
        fc.constantFrom('😀', '\u{1f9ff}', 'ↀ', '\ue000\ufffd'),
        text,
        async (label, missing, around) => {
          const ascii = around.replaceAll(/[^\x00-\x7f]/g, '');
          const before = Buffer.from(`${ascii}here${ascii}`);
          const copy = Buffer.from(before);
          const edited = await applyEdits(before, [{ old: 'here', new: missing }], {
            path: 'f',
            encoding: label,
          }).catch((error: { code: string }) => error.code);
          expect(edited).toBe('ENCODING');
          expect(before).toEqual(copy);
        },
      ),
      runs,
    );
  });
});

describe('a diff', () => {
  const contents = fc.array(
    fc.constantFrom('a\n', 'b\n', 'c\r\n', 'd\n', 'longer line of text\n', '\n', 'é\r\n'),
    {
      maxLength: 40,
    },
  );
  const content = fc.tuple(contents, fc.constantFrom('', 'end')).map(([lines, end]) => lines.join('') + end);

  it('makes the new content of the old one, and counts its lines', async () => {
    await fc.assert(
      fc.asyncProperty(content, content, async (before, now) => {
        const diff = await unifiedDiff(Buffer.from(before), Buffer.from(now), {
          path: 'f.txt',
          maxCharacters: 1e6,
        });
        expect(
          diff.text === '' ? before : applyPatch(before, diff.text, { autoConvertLineEndings: false }),
        ).toBe(now);
        const rows = diff.text.split('\n').slice(2);
        expect(rows.filter((row) => row.startsWith('+')).length).toBe(diff.added);
        expect(rows.filter((row) => row.startsWith('-')).length).toBe(diff.removed);
      }),
      runs,
    );
  });

  it('is applied by git', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'f.txt');
    await fc.assert(
      fc.asyncProperty(content, content, async (before, now) => {
        const { text: patch } = await unifiedDiff(Buffer.from(before), Buffer.from(now), {
          path: 'f.txt',
          maxCharacters: 1e6,
        });
        if (patch === '') return;
        writeFileSync(file, before);
        execFileSync('git', ['apply', '--unidiff-zero', '--whitespace=nowarn', '-'], {
          cwd: folder,
          input: patch,
        });
        expect(readFileSync(file, 'utf8')).toBe(now);
      }),
      { numRuns: 60, interruptAfterTimeLimit: 4000 },
    );
  });
});
