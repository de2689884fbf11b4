import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../src/tools/files/editing/apply-edits.ts';
import { unifiedDiff } from '../../../src/tools/files/text/unified-diff.ts';
import { processorMs } from '../../support/processor-ms.ts';

const diffOf = (before: string | undefined, after: string | undefined, maxCharacters?: number) =>
  unifiedDiff(
    before === undefined ? undefined : Buffer.from(before),
    after === undefined ? undefined : Buffer.from(after),
    { path: 'src/a.ts', maxCharacters },
  );

const numbered = (count: number, changed: Record<number, string> = {}) =>
  Array.from({ length: count }, (_, index) => `${changed[index + 1] ?? `line ${index + 1}`}\n`).join('');

describe('a unified diff', () => {
  it('shows text also for UTF-16', async () => {
    const before = Buffer.from('\ufeffone\ntwo\n', 'utf16le');
    const { bytes, encoding } = await applyEdits(before, [{ old: 'two', new: 'zwei 😀' }], {
      path: 'f',
    });
    const { text } = await unifiedDiff(before, bytes, { path: 'f', encoding });
    expect(text).toBe('--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei 😀\n');
  });

  it('mentions when only the encoding differs', async () => {
    const { text } = await unifiedDiff(Buffer.from('\ufeffa\n', 'utf16le'), Buffer.from('a\n'), {
      path: 'f',
      encoding: 'utf-8',
    });
    expect(text).toBe('Only the encoding differs\n');
  });

  it('reports of binary files only that they differ', async () => {
    const zip = Buffer.from('504b03040000000000000000ff', 'hex');
    expect(await unifiedDiff(zip, Buffer.from('text\n'), { path: 'f.zip' })).toMatchObject({
      text: 'Binary files a/f.zip and b/f.zip differ\n',
    });
    expect((await unifiedDiff(undefined, zip, { path: 'f.zip' })).text).toBe(
      'Binary files /dev/null and b/f.zip differ\n',
    );
  });
});

describe('a long unified diff', () => {
  it('is cut at a whole line, and its counts stay exact', async () => {
    const diff = await diffOf(numbered(5000), numbered(5000).replaceAll('line', 'row'), 1000);
    expect(diff).toMatchObject({ added: 5000, removed: 5000 });
    expect(diff.text.length).toBeLessThan(1100);
    const shown = diff.text.split('\n').filter((line) => line.startsWith('-line')).length;
    expect(diff.text).toMatch(
      new RegExp(`\n-line ${shown}\n… ${(10_000 - shown).toLocaleString('en')} more lines\n$`),
    );
  });

  it('shows the part of long lines that differs', async () => {
    const line = (middle: string) => `${'a'.repeat(9000)}${middle}${'b'.repeat(9000)}\n`;
    const { text } = await diffOf(line('old'), line('new'));
    expect(text).toMatch(/\n-…a+oldb+…\n\+…a+newb+…\n$/);
    expect(text.length).toBeLessThan(1300);
    const wide = (middle: string) => `${'中'.repeat(9000)}${middle}${'国'.repeat(9000)}\n`;
    const { text: chinese } = await diffOf(wide('old'), wide('new'));
    expect(chinese).toMatch(/\n-…中+old国+…\n\+…中+new国+…\n$/);
  });

  it('takes no longer for wholly different files than reading them', async () => {
    const before = Buffer.from(numbered(80_000));
    const after = Buffer.from(numbered(80_000).replaceAll('line', 'other text of'));
    const started = process.cpuUsage();
    const diff = await unifiedDiff(before, after, { path: 'f', encoding: 'utf-8' });
    // Some 2 ms; the rest is room for a busy machine.
    expect(processorMs(started)).toBeLessThan(10_000);
    expect(diff).toMatchObject({ added: 80_000, removed: 80_000 });
  });

  it('is as short as the edit in a large file', async () => {
    const before = Buffer.from(numbered(80_000));
    const edits = [
      { old: 'line 70000\n', new: 'LINE 70000\nmore\n' },
      { old: 'line 10\n', new: '' },
    ];
    const { bytes, encoding } = await applyEdits(before, edits, { path: 'f' });
    const diff = await unifiedDiff(before, bytes, { path: 'f', encoding });
    expect(diff).toMatchObject({ added: 2, removed: 2 });
    expect(diff.text).toContain('@@ -69997,7 +69996,8 @@');
  });
});
