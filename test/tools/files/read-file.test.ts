import { createHash } from 'node:crypto';
import { open, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { notebookText } from '../../../src/tools/files/reading/notebook.ts';
import {
  callerFor,
  failureOf,
  put,
  session,
  temporaryFolder,
  textOf,
  withoutNumbers,
  type Caller,
} from './folder.ts';

let root: string;
let call: Caller;
const read = async (given: object) => withoutNumbers(textOf(await call('read_file', given)));
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
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
    'gbk.txt': Buffer.from('c4e3bac3'.repeat(500), 'hex'),
    'doc \u00fc.pdf': '%PDF-1.7\n\0\x01\x02',
    'euro.txt': '\u20ac'.repeat(10_000),
    program: Buffer.concat([Buffer.from('\u007fELF\u0002\u0001\u0001\0\0\0', 'latin1'), Buffer.alloc(100)]),
    random: Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919 * (index % 251)) % 256)),
    'pixel.png': Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  });
});

describe('read_file', () => {
  it('shows a small file with its line numbers, without a word more', async () => {
    expect(await read({ path: 'small.txt' })).toBe('one\r\ntwo\nthree');
    expect(await read({ path: 'escapes.txt' })).toBe('\u001b[31mred\u001b[0m\u0007\u202e\ttab\n');
    expect(await read({ path: 'empty.txt' })).toBe('[the file is empty]');
    expect(textOf(await call('read_file', { path: 'small.txt' }))).toBe('1\tone\r\n2\ttwo\n3\tthree');
  });

  it('shows the first lines of a long file, and how to get the next', async () => {
    const first = await read({ path: 'lines.txt' });
    const [, last = ''] = /\[lines 1–[\d,]+ of 5,000; next: start_line (\d+)\]$/.exec(first) ?? [];
    expect(first.startsWith('line 1\nline 2\n')).toBe(true);
    expect(first.length).toBeLessThan(16_000);
    const second = await read({ path: 'lines.txt', start_line: Number(last) });
    expect(second.startsWith(`line ${last}\n`)).toBe(true);
  });

  it('shows every byte exactly once when it is followed from window to window', async () => {
    let all = '';
    for (let offset = 1; ;) {
      const text = await read({ path: 'lines.txt', offset });
      all += text.replace(/\[lines [^\]]*\]$/, '');
      const [, next] = /next: start_line (\d+)\]$/.exec(text) ?? [];
      if (next === undefined) break;
      offset = Number(next);
    }
    expect(all).toBe(numbered(5000));
  });

  it('shows a range of lines', async () => {
    expect(await read({ path: 'lines.txt', offset: 4000, limit: 2 })).toBe(
      'line 4000\nline 4001\n[lines 4,000–4,001 of 5,000; next: start_line 4002]',
    );
    expect(await read({ path: 'small.txt', start_line: 2 })).toBe('two\nthree\n[lines 2–3 of 3]');
    expect(await failureOf(call('read_file', { path: 'small.txt', offset: 4 }))).toBe(
      'ARG_INVALID: start_line: small.txt has 3 lines.',
    );
    expect(await failureOf(call('read_file', { path: 'lines.txt', offset: 5001 }))).toMatch(
      /lines.txt has 5000 lines/,
    );
  });

  it('takes line numbers behind a path, and by the names that other tools use', async () => {
    const lines = 'line 40\nline 41\n[lines 40–41 of 5,000; next: start_line 42]';
    for (const given of [
      { path: 'lines.txt:40-41' },
      { path: 'lines.txt', start_line: 40, end_line: 41 },
      { file_path: 'lines.txt', offset: '40', limit: 2 },
      { absolutePath: join(root, 'lines.txt'), view_range: [40, 41] },
    ])
      expect(await read(given)).toBe(lines);
    await put(root, { 'odd:3': 'called so\n' });
    expect(await read({ path: 'odd:3' })).toBe('called so\n');
    expect(await failureOf(call('read_file', { path: 'gone.txt:3' }))).toMatch(/^PATH_NOT_FOUND: gone.txt: /);
  });

  it('shows the last lines of a file', async () => {
    expect(await read({ path: 'lines.txt', tail: 2 })).toBe(
      'line 4999\nline 5000\n[lines 4,999–5,000 of 5,000]',
    );
    expect(await read({ path: 'small.txt', tail: 1 })).toBe('three\n[line 3 of 3]');
    expect(await read({ path: 'small.txt', tail: 10 })).toBe('one\r\ntwo\nthree');
    const most = await read({ path: 'lines.txt', tail: 2000 });
    expect(most).toMatch(/line 5000\n\[lines [\d,]+–5,000 of/);
    expect(most.length).toBeLessThan(16_000);
  });

  it('cuts long lines, and marks so', async () => {
    const text = await read({ path: 'long.txt' });
    expect(text).toMatch(/^short\nx{2000}…\nafter\n\[lines longer than 2,000 characters are cut at …\]$/);
  });

  it('shows a line whole that begins with what could be the rest of a character', async () => {
    const lines = Buffer.concat([
      Buffer.from(numbered(200_000)),
      Buffer.from('\u00a35\n\u00bfqu\u00e9?\n', 'latin1'),
    ]);
    await put(root, { 'pounds.txt': lines });
    expect(await read({ path: 'pounds.txt', tail: 2, encoding: 'latin1' })).toMatch(
      /^\u00a35\n\u00bfqu\u00e9\?\n\[lines 200,001–200,002 of 200,002/,
    );
  });

  it('shows lines as long as one read', async () => {
    for (const length of [65_535, 65_536, 65_537, 131_072, 400_000]) {
      const text = `${'x'.repeat(length - 1)}\nafter\n`;
      await put(root, { 'edge.txt': text, 'edge.big': text.repeat(30) });
      for (const path of ['edge.txt', 'edge.big']) {
        const shown = await read({ path, limit: 2 });
        expect(shown.replace(/\n\[lines 1–2 of (?:.*next: start_line 3|2); /, '\n[')).toBe(
          `${'x'.repeat(2000)}…\nafter\n[lines longer than 2,000 characters are cut at …]`,
        );
        expect(await read({ path, offset: 2, limit: 1 })).toMatch(/^after\n\[/);
      }
    }
  });

  it('shows the last lines of a large file with their numbers', async () => {
    await put(root, { 'large.txt': numbered(200_000) });
    expect(await read({ path: 'large.txt', tail: 1 })).toBe('line 200000\n[line 200,000 of 200,000]');
    expect(await read({ path: 'large.txt', tail: 2 })).toBe(
      'line 199999\nline 200000\n[lines 199,999–200,000 of 200,000]',
    );
  });

  it('shows any line of a large file, also after it has changed', async () => {
    const at = (line: number) => read({ path: 'changing.txt', offset: line, limit: 1 });
    await put(root, { 'changing.txt': numbered(300_000) });
    expect(await at(299_999)).toMatch(/^line 299999\n\[line 299,999 of .*; next: start_line 300000\]$/);
    for (const line of [2, 150_000, 93_206, 300_000])
      expect(await at(line)).toMatch(new RegExp(`^line ${line}\n`));
    expect(await failureOf(call('read_file', { path: 'changing.txt', offset: 300_001 }))).toMatch(
      /has 300000 lines/,
    );
    await put(root, { 'changing.txt': `new\n${numbered(300_000)}` });
    expect(await at(299_999)).toMatch(/^line 299998\n/);
    await put(root, { 'wide.txt': Buffer.from(`\ufeff${numbered(200_000)}`, 'utf16le') });
    expect(await read({ path: 'wide.txt', offset: 123_456, limit: 1 })).toMatch(/^line 123456\n/);
  });

  it('shows a PDF as a document, with its kind in words', async () => {
    const { content } = await call('read_file', { path: 'doc \u00fc.pdf' });
    expect(content).toEqual([
      { type: 'text', text: '[doc \u00fc.pdf: a PDF document, 12 bytes]' },
      {
        type: 'resource',
        resource: {
          uri: pathToFileURL(join(root, 'doc \u00fc.pdf')).href,
          mimeType: 'application/pdf',
          blob: Buffer.from('%PDF-1.7\n\0\x01\x02').toString('base64'),
        },
      },
    ]);
    await writeFile(join(root, 'large.pdf'), '%PDF-1.7\n');
    await truncate(join(root, 'large.pdf'), 6 * 1024 * 1024);
    expect(await failureOf(call('read_file', { path: 'large.pdf' }))).toMatch(
      /^TOO_LARGE: large.pdf: is a PDF document of 6,291,456 bytes; at most 5,242,880 bytes can be shown\.$/,
    );
  });

  it('shows an image as an image', async () => {
    const { content } = await call('read_file', { path: 'pixel.png' });
    expect(content).toEqual([
      { type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBORw0KGgo/) },
    ]);
  });
});

describe('read_file and encodings', () => {
  it('decodes byte order marks, which are no part of the text', async () => {
    expect(await read({ path: 'bom.txt' })).toBe('marked\n[utf-8 with byte order mark]');
    expect(await read({ path: 'utf16le.txt' })).toBe(
      'caf\u00e9 \u0a0a\u{1f600}\r\nzwei\n[utf-16le with byte order mark]',
    );
    expect(await read({ path: 'utf16be.txt', offset: 2 })).toMatch(/^zwei\n\[line 2 of 2; utf-16be/);
    expect(await read({ path: 'utf16le.txt', tail: 1 })).toMatch(/^zwei\n\[line 2 of/);
  });

  it('refuses other encodings that are not named, and suggests the likely name', async () => {
    for (const path of ['latin1.txt', 'late-latin1.txt'])
      expect(await failureOf(call('read_file', { path }))).toBe(
        `ENCODING: ${path}: is not UTF-8, and has no byte order mark. Name its encoding with encoding: likely windows-1252.`,
      );
    expect(await read({ path: 'latin1.txt', encoding: 'latin1' })).toBe('caf\u00e9\nna\u00efve\n');
    expect(await failureOf(call('read_file', { path: 'gbk.txt' }))).toMatch(/likely .*gbk/);
    const late = { path: 'late-latin1.txt', offset: 20_001, encoding: 'windows-1252' };
    expect(await read(late)).toMatch(/^caf\u00e9\n\[line 20,001 /);
  });

  it('accepts text with a NUL here and there', async () => {
    expect(await read({ path: 'print0.txt' })).toBe('some/long/path/a.txt\0some/long/path/b.txt\0');
  });

  it('refuses binary files with their kind and size', async () => {
    expect(await failureOf(call('read_file', { path: 'program' }))).toMatch(
      /^ENCODING: program: is binary data, 110 bytes, and not text\./,
    );
    expect(await failureOf(call('read_file', { path: 'random' }))).toMatch(
      /^ENCODING: random: is binary data, 5,000 bytes, and not text\./,
    );
  });
});

describe('read_file and notebooks', () => {
  const notebook = {
    metadata: { language_info: { name: 'python' } },
    nbformat: 4,
    cells: [
      { cell_type: 'markdown', source: ['# Title\n', 'text'] },
      {
        cell_type: 'code',
        source: 'plot(x)\n',
        outputs: [
          { output_type: 'stream', text: ['\u001b[32mgreen\u001b[0m\n'] },
          { output_type: 'display_data', data: { 'image/png': 'AAAA\nAAA=\n', 'text/plain': '<Figure>' } },
          { output_type: 'execute_result', data: { 'text/html': '<b>hi</b>' } },
          { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\u001b[0;31mE\u001b[0m', 'at 1'] },
        ],
      },
    ],
  };
  const note = '[a notebook shown as text; edits work on its JSON, which encoding utf-8 shows]';
  const shown = [
    '[1] markdown\n# Title\ntext\n\n[2] code (python)\nplot(x)\n[2] output\ngreen\n',
    '[2] output\n<Figure>\n[image/png, 5 bytes]\n[2] output\n[text/html, 9 characters]\n[2] error\nE\nat 1\n',
  ].join('');

  it('shows the cells as text, one after the other, and notes that this is not the file itself', async () => {
    await put(root, { 'book.ipynb': JSON.stringify(notebook) });
    expect(await read({ path: 'book.ipynb' })).toBe(shown + note);
    expect(await read({ path: 'book.ipynb', offset: 5, limit: 2 })).toBe(
      `[2] code (python)\nplot(x)\n[lines 5–6 of 16; next: start_line 7; ${note.slice(1)}`,
    );
    expect(await read({ path: 'book.ipynb', tail: 1 })).toMatch(/^at 1\n\[line 16 of 16/);
    expect(await read({ path: 'book.ipynb', encoding: 'utf-8' })).toBe(JSON.stringify(notebook));
    expect(session.knownFiles.get(join(root, 'book.ipynb'))?.hash).toBe(sha256(JSON.stringify(notebook)));
  });

  it('shows a notebook without cells', () => {
    expect(notebookText('{"cells":[]}')).toBe('[no cells]\n');
  });

  it('cuts long output of a cell', async () => {
    const outputs = [{ output_type: 'stream', text: 'a'.repeat(1e6) }];
    await put(root, {
      'long.ipynb': JSON.stringify({ cells: [{ cell_type: 'code', source: '', outputs }] }),
    });
    expect(await read({ path: 'long.ipynb' })).toMatch(
      /^\[1\] code\n\[1\] output\na{2000}\n\[… 996,000 characters left out here …\]\na{2000}\n/,
    );
  });

  it.each([
    '{"cells": [',
    '[]',
    '{"cells": 1}',
    '<<<<<<< HEAD',
    '['.repeat(100_000),
    `{"__proto__": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  ])('shows a file as it is when it is not a notebook (%#)', async (text) => {
    await put(root, { 'none.ipynb': text });
    expect(await read({ path: 'none.ipynb' })).toMatch(/no notebook that is understood, shown as it is\]$/);
  });

  it('shows a notebook whatever its values are', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('error', 'image/png', 'code'));
    const cell = fc.dictionary(
      fc.constantFrom('cell_type', 'source', 'outputs', 'data', 'traceback', '__proto__'),
      value,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(cell, value), { maxLength: 4 }), value, async (cells, metadata) => {
        expect(typeof notebookText(JSON.stringify({ cells, metadata }))).toBe('string');
      }),
    );
    expect(
      notebookText(`{"cells":[{"source":${deep},"outputs":[{"output_type":"error","ename":${deep}}]}]}`),
    ).toMatch(/^\[1\] cell/);
  });

  it('shows a notebook of many megabytes by name only', async () => {
    await put(root, { 'huge.ipynb': `{"cells":[\n${'"",\n'.repeat(1.4e6)}]}` });
    expect(await failureOf(call('read_file', { path: 'huge.ipynb' }))).toMatch(
      /^TOO_LARGE: .*encoding utf-8/,
    );
    expect(await read({ path: 'huge.ipynb', limit: 1, encoding: 'utf-8' })).toMatch(/^\{"cells":\[\n/);
  });
});

describe('read_file in an encoding that is named', () => {
  it('decodes by it, whatever the bytes look like', async () => {
    expect(await read({ path: 'latin1.txt', encoding: 'iso-8859-2' })).toBe('caf\u00e9\nna\u010fve\n');
    expect(await read({ path: 'pixel.png', encoding: 'latin1', limit: 1 })).toMatch(/PNG/);
    expect(await read({ path: 'utf16be.txt', encoding: 'utf-16be', offset: 2 })).toMatch(/^zwei\n/);
  });

  it('refuses text that is not of the encoding, and names that are none', async () => {
    expect(await failureOf(call('read_file', { path: 'latin1.txt', encoding: 'utf-8' }))).toMatch(
      /^ENCODING: latin1.txt: is not UTF-8.*likely windows-1252/,
    );
    expect(await failureOf(call('read_file', { path: 'latin1.txt', encoding: 'klingon' }))).toMatch(
      /^ARG_INVALID: encoding: /,
    );
  });
});

describe('read_file with wrong parameters', () => {
  it('refuses parameters that exclude each other', async () => {
    expect(await failureOf(call('read_file', { path: 'small.txt', offset: 2, tail: 1 }))).toMatch(
      /^ARG_INVALID: tail and start_line exclude/,
    );
    expect(await failureOf(call('read_file', {}))).toMatch(/^ARG_INVALID: path: is required/);
    expect(await failureOf(call('read_file', { path: 'small.txt', start_line: 3, end_line: 2 }))).toMatch(
      /^ARG_INVALID: end_line/,
    );
  });

  it('refuses an image that is too large to show', async () => {
    await writeFile(join(root, 'large.jpg'), Buffer.of(0xff, 0xd8, 0xff, 0xe0));
    await truncate(join(root, 'large.jpg'), 6 * 1024 * 1024);
    expect(await failureOf(call('read_file', { path: 'large.jpg' }))).toMatch(/^TOO_LARGE.*6,291,456 bytes/);
  });

  it('stops when the caller gives up', async () => {
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
