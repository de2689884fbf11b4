import { expect, it } from 'vitest';
import { decode, systemEncoding } from '../../src/machine/decode.ts';
import { collect, lastLineOf } from '../../src/machine/output.ts';
import { sanitize } from '../../src/machine/sanitize.ts';
import { processorMs } from '../support/processor-ms.ts';

it('ATTACK 100: keeps a character whole that is split between chunks', () => {
  const bytes = Buffer.from('naïve 漢字 😀');
  for (let cut = 0; cut <= bytes.length; cut++) {
    const collector = collect(1000);
    collector.add(bytes.subarray(0, cut));
    collector.add(bytes.subarray(cut));
    expect(collector.finish().text).toBe('naïve 漢字 😀');
  }
});

it('ATTACK 100: reads text that is not UTF-8 in the code page of the system, as a whole', () => {
  const ascii = Buffer.from('plain ascii first\n');
  const shiftJis = Buffer.from([0x93, 0xfa, 0x96, 0x7b]);
  expect(decode(Buffer.concat([ascii, shiftJis]), 'shift_jis')).toBe('plain ascii first\n日本');
  expect(decode(Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), 'gbk')).toBe('你好');
  expect(decode(Buffer.from([0x8f, 0xe0, 0xa8]), 'ibm866')).toBe('При');
  expect(decode(Buffer.from([0x80, 0x31, 0x93, 0xe9, 0x94]), 'windows-1252')).toBe('€1“é”');
});

it.each([
  ['win32', {}, 'ja-JP', 'shift_jis'],
  ['win32', {}, 'zh-CN', 'gbk'],
  ['win32', {}, 'zh-TW', 'big5'],
  ['win32', {}, 'ru-RU', 'ibm866'],
  ['win32', {}, 'en-US', 'windows-1252'],
  ['linux', { LANG: 'zh_CN.GBK' }, 'en', 'gbk'],
  ['linux', { LANG: 'ja_JP.eucJP', LC_ALL: 'de_DE.ISO-8859-15' }, 'en', 'iso-8859-15'],
  ['linux', { LANG: 'en_US.UTF-8' }, 'en', 'windows-1252'],
  ['linux', { LANG: 'xx.no-such-charset' }, 'en', 'windows-1252'],
])('knows the code page of %s %j %s: %s', (platform, env, locale, encoding) => {
  expect(systemEncoding(platform, env, locale)).toBe(encoding);
});

it('reads each line and field in UTF-8 or in the code page for itself', () => {
  const [utf8, latin] = [Buffer.from('é漢😀'), Buffer.from([0xe9, 0x80])];
  const pieces = [
    utf8,
    latin,
    Buffer.from('plain'),
    utf8,
    latin,
    Buffer.from([0xc3]),
    Buffer.from([0xed, 0xa0, 0x80]),
  ];
  const read = ['é漢😀', 'é€', 'plain', 'é漢😀', 'é€', 'Ã', 'í\u00a0€'];
  for (const separator of ['\n', '\0'])
    expect(
      decode(Buffer.concat(pieces.flatMap((piece) => [piece, Buffer.from(separator)])), 'windows-1252'),
    ).toBe(read.map((piece) => piece + separator).join(''));
});

it.each([
  ['NUL', [0]],
  ['line feeds', [10]],
  ['short lines that are no UTF-8', [0xff, 10]],
  ['lines of either kind', [0xc3, 0xa9, 10, 0xff, 10]],
  ['no text', [0x80]],
  ['joiners', [...Buffer.from('é\u200d')]],
  ['carriage returns', [...Buffer.from('é\r')]],
])('ATTACK 100: decodes 8 MB of %s in next to no time', (_, unit) => {
  const bytes = Buffer.alloc(8 * 1024 * 1024, Buffer.from(unit));
  bytes[0] = 0xff;
  // Some 300 ms. What looks at the rest for each field takes minutes.
  expect(quickest(() => decode(bytes))).toBeLessThan(20_000);
  const text = bytes.toString('utf8');
  expect(quickest(() => sanitize(text))).toBeLessThan(20_000);
});

/** Milliseconds of processor time, of the quickest of three: the first compiles. */
function quickest(work: () => unknown): number {
  const times = [0, 1, 2].map(() => {
    const before = process.cpuUsage();
    work();
    return processorMs(before);
  });
  return Math.min(...times);
}

it('cuts text between characters', () => {
  const text = '漢字'.repeat(1000);
  for (const keep of [100, 101, 102, 103, 104, 105]) {
    const collector = collect(keep);
    for (const byte of Buffer.from(text)) collector.add(Buffer.from([byte]));
    const kept = collector.finish();
    expect(kept.text).toMatch(/^[漢字]+$/);
    expect(kept.omittedBytes).toBeGreaterThan(5800);
  }
});

it('reports the last whole line of an output once', () => {
  const lines: string[] = [];
  const tell = lastLineOf((line) => lines.push(line));
  for (const chunk of ['on', 'e\ntwo\r\n\n', '10%\r20', '%\rrest', `${'x'.repeat(1e5)}\n`, 'last\n'])
    tell(Buffer.from(chunk));
  expect(lines).toEqual(['two', '10%', '20%', 'last']);
});
