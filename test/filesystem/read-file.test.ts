import { open, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { callerFor, failureOf, put, temporaryFolder, textOf, type Caller } from './folder.ts';

let root: string;
let call: Caller;
const read = async (given: object) => textOf(await call('read_file', given));
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();

beforeAll(async () => {
  root = await temporaryFolder();
  call = callerFor(root);
  await put(root, {
    'small.txt': 'one\r\ntwo\nthree',
    'empty.txt': '',
    'lines.txt': numbered(5000),
    'escapes.txt': '\u001b[31mred\u001b[0m\u0007\u202e\ttab\n',
    'long.txt': `short\n${'x'.repeat(30_000)}\nafter\n`,
    'bom.txt': '\ufeffmarked\n',
    'utf16le.txt': Buffer.from('\ufeffcaf\u00e9 \u0a0a\u{1f600}\r\nzwei\n', 'utf16le'),
    'utf16be.txt': utf16be('\ufeffcaf\u00e9 \u0a0a\nzwei\n'),
    'latin1.txt': Buffer.from('caf\u00e9\nna\u00efve\n', 'latin1'),
    'late-latin1.txt': Buffer.concat([Buffer.from(numbered(20_000)), Buffer.from('caf\u00e9\n', 'latin1')]),
    'print0.txt': 'some/long/path/a.txt\0some/long/path/b.txt\0',
    'euro.txt': '\u20ac'.repeat(10_000),
    program: Buffer.concat([Buffer.from('\u007fELF\u0002\u0001\u0001\0\0\0', 'latin1'), Buffer.alloc(100)]),
    random: Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919 * (index % 251)) % 256)),
    'pixel.png': Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  });
});

describe('read_file shows', () => {
  it('a small file exactly as it is, without a word more', async () => {
    expect(await read({ path: 'small.txt' })).toBe('one\r\ntwo\nthree');
    expect(await read({ path: 'escapes.txt' })).toBe('\u001b[31mred\u001b[0m\u0007\u202e\ttab\n');
    expect(await read({ path: 'empty.txt' })).toBe('[the file is empty]');
  });

  it('the first lines of a long file, and how to get the next', async () => {
    const first = await read({ path: 'lines.txt' });
    const [, last = ''] = /\[lines 1-(\d+) of 48,893 bytes; next: offset (\d+)\]$/.exec(first) ?? [];
    expect(first.startsWith('line 1\nline 2\n')).toBe(true);
    expect(first.length).toBeLessThan(16_000);
    const second = await read({ path: 'lines.txt', offset: Number(last) + 1 });
    expect(second.startsWith(`line ${Number(last) + 1}\n`)).toBe(true);
  });

  it('every byte exactly once when it is followed from window to window', async () => {
    let all = '';
    for (let offset = 1; ;) {
      const text = await read({ path: 'lines.txt', offset });
      all += text.replace(/\[lines [^\]]*\]$/, '');
      const [, next] = /next: offset (\d+)\]$/.exec(text) ?? [];
      if (next === undefined) break;
      offset = Number(next);
    }
    expect(all).toBe(numbered(5000));
  });

  it('a range of lines, with numbers when asked', async () => {
    expect(await read({ path: 'lines.txt', offset: 4000, limit: 2 })).toBe(
      'line 4000\nline 4001\n[lines 4000-4001 of 48,893 bytes; next: offset 4002]',
    );
    expect(await read({ path: 'small.txt', offset: 2, line_numbers: true })).toBe(
      '2\ttwo\n3\tthree\n[lines 2-3 of 14 bytes; end of file]',
    );
    expect(await failureOf(call('read_file', { path: 'small.txt', offset: 4 }))).toBe(
      'ARG_INVALID: offset: small.txt has 3 lines.',
    );
    expect(await failureOf(call('read_file', { path: 'lines.txt', offset: 5001 }))).toMatch(
      /lines.txt has 5000 lines/,
    );
  });

  it('the last lines', async () => {
    expect(await read({ path: 'lines.txt', tail: 2 })).toBe(
      'line 4999\nline 5000\n[lines 4999-5000 of 48,893 bytes]',
    );
    expect(await read({ path: 'small.txt', tail: 1, line_numbers: true })).toBe(
      '3\tthree\n[lines 3-3 of 14 bytes]',
    );
    expect(await read({ path: 'small.txt', tail: 10 })).toBe('one\r\ntwo\nthree');
    const most = await read({ path: 'lines.txt', tail: 2000 });
    expect(most).toMatch(/line 5000\n\[lines \d+-5000 of/);
    expect(most.length).toBeLessThan(16_000);
  });

  it('long lines cut, and says so', async () => {
    const text = await read({ path: 'long.txt' });
    expect(text).toMatch(/^short\nx{2000}…\nafter\n\[lines longer than 2,000 characters are cut at …\]$/);
    expect(await read({ path: 'long.txt', bytes: { from: 29_990, count: 30 } })).toBe(
      `${'x'.repeat(16)}\nafter\n[bytes 29990-30012 of 30,013 bytes; end of file]`,
    );
  });

  it('ranges of bytes that never split a character', async () => {
    const first = await read({ path: 'euro.txt', bytes: { from: 0, count: 10 } });
    expect(first).toBe('\u20ac\u20ac\u20ac\n[bytes 0-8 of 30,000 bytes; next: bytes {"from": 9}]');
    let all = '';
    for (let from = 0; ;) {
      const text = await read({ path: 'utf16le.txt', bytes: { from, count: 9 } });
      all += text.replace(/\n\[bytes [^\n]*\]$/, '').replace(/\[bytes [^\n]*\]$/, '');
      const [, next] = /next: bytes \{"from": (\d+)\}/.exec(text) ?? [];
      if (next === undefined) break;
      from = Number(next);
    }
    expect(all.replaceAll('\r', '').replaceAll('\n', '')).toBe('caf\u00e9 \u0a0a\u{1f600}zwei');
  });

  it('an image as an image', async () => {
    const { content } = await call('read_file', { path: 'pixel.png' });
    expect(content).toEqual([
      { type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBORw0KGgo/) },
    ]);
  });
});

describe('read_file decodes', () => {
  it('byte order marks, which are no part of the text', async () => {
    expect(await read({ path: 'bom.txt' })).toBe('marked\n[utf-8 with byte order mark]');
    expect(await read({ path: 'utf16le.txt' })).toBe(
      'caf\u00e9 \u0a0a\u{1f600}\r\nzwei\n[utf-16le with byte order mark]',
    );
    expect(await read({ path: 'utf16be.txt', offset: 2 })).toMatch(
      /^zwei\n\[lines 2-2 of .*; end of file; utf-16be/,
    );
    expect(await read({ path: 'utf16le.txt', tail: 1 })).toMatch(/^zwei\n\[lines 2-2 of/);
  });

  it('other encodings by the code page of the system, and says so', async () => {
    expect(await read({ path: 'latin1.txt' })).toBe(
      'caf\u00e9\nna\u00efve\n[not UTF-8: read as windows-1252]',
    );
    expect(await read({ path: 'late-latin1.txt', offset: 20_001 })).toMatch(
      /^caf\u00e9\n\[lines .*; not UTF-8: read as windows-1252\]$/,
    );
  });

  it('text with a NUL here and there', async () => {
    expect(await read({ path: 'print0.txt' })).toBe('some/long/path/a.txt\0some/long/path/b.txt\0');
  });

  it('nothing binary: it says what it is and how large', async () => {
    expect(await failureOf(call('read_file', { path: 'program' }))).toMatch(
      /^ENCODING: program: is an ELF program, 110 bytes\./,
    );
    expect(await failureOf(call('read_file', { path: 'random' }))).toMatch(
      /^ENCODING: random: is binary data, 5,000 bytes\./,
    );
  });
});

describe('read_file refuses', () => {
  it('ways that exclude each other', async () => {
    expect(await failureOf(call('read_file', { path: 'small.txt', offset: 1, tail: 1 }))).toMatch(
      /^ARG_INVALID: offset and tail exclude/,
    );
    expect(
      await failureOf(call('read_file', { path: 'small.txt', line_numbers: true, bytes: { from: 0 } })),
    ).toMatch(/^ARG_INVALID/);
    expect(await failureOf(call('read_file', { path: 'small.txt', bytes: { from: 14 } }))).toMatch(
      /small.txt has 14 bytes/,
    );
    expect(await failureOf(call('read_file', { path: 'small.txt', limit: 2001 }))).toMatch(
      /^ARG_INVALID: limit/,
    );
  });

  it('an image that is too large to show', async () => {
    await writeFile(join(root, 'large.jpg'), Buffer.of(0xff, 0xd8, 0xff, 0xe0));
    await truncate(join(root, 'large.jpg'), 6 * 1024 * 1024);
    expect(await failureOf(call('read_file', { path: 'large.jpg' }))).toMatch(/^TOO_LARGE.*6,291,456 bytes/);
  });

  it('to go on when the caller gives up', async () => {
    const handle = await open(join(root, 'far.log'), 'w');
    await handle.write('text\n'.repeat(20_000));
    await handle.truncate(3e9);
    await handle.close();
    const signal = AbortSignal.timeout(50);
    expect(await failureOf(call('read_file', { path: 'far.log', offset: 1_000_000 }, signal))).toMatch(
      /^CANCELLED/,
    );
  });
});
