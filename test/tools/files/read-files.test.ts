import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { callerFor, failureOf, put, temporaryFolder, textOf, withoutNumbers, type Caller } from './folder.ts';

const megabyte = 1024 * 1024;
const png = Buffer.from('89504e470d0a1a0a', 'hex');
let root: string;
let call: Caller;
const read = async (given: object) => withoutNumbers(textOf(await call('read_file', given)));
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

beforeAll(async () => {
  const top = await temporaryFolder();
  await put(top, { 'outside.txt': 'secret' });
  root = join(top, 'app');
  await mkdir(root);
  call = callerFor(root);
  await put(root, {
    'a.txt': 'one\r\ntwo\n',
    'b.txt': 'no line feed at the end',
    'empty.txt': '',
    'long.txt': numbered(5000),
    'longer.txt': numbered(9000),
    'doc.pdf': '%PDF-1.7\n\u0000\u0001',
    'pixel.png': png,
    program: Buffer.from('7f454c4602010100', 'hex'),
  });
});

describe('read_file with several paths', () => {
  it('shows small files whole and exactly, in the order asked for, each under its path', async () => {
    expect(await read({ path: ['b.txt', 'a.txt', 'empty.txt'] })).toBe(
      '==> b.txt <==\nno line feed at the end\n\n==> a.txt <==\none\r\ntwo\n\n==> empty.txt <==\n[the file is empty]\n',
    );
  });

  it('shows the failure of one file in its place, without failing the others', async () => {
    const result = await call('read_file', {
      paths: ['gone.txt', 'a.txt', 'program', '../outside.txt', '.'],
    });
    const text = withoutNumbers(textOf(result));
    expect(result.isError).toBeUndefined();
    expect(text).toMatch(
      /^==> gone.txt <==\n\[PATH_NOT_FOUND: gone.txt: does not exist.*\]\n\n==> a.txt <==\none/,
    );
    expect(text).toMatch(/\n==> program <==\n\[ENCODING: program: is binary data/);
    expect(text).toMatch(/\n==> ..\/outside.txt <==\n\[PATH_OUTSIDE_ROOTS: /);
    expect(text).toMatch(/\n==> . <==\n\[PATH_NOT_REGULAR: /);
    expect(text).not.toContain('secret');
  });

  it('fails when all of the files fail', async () => {
    const result = await call('read_file', { path: ['gone.txt', 'program'] });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/PATH_NOT_FOUND[^]*ENCODING/);
  });

  it('shows long files as far as there is room, each at least its share, and names the rest', async () => {
    const text = await read({ path: ['long.txt', 'a.txt', 'longer.txt'] });
    expect(text.length).toBeLessThanOrEqual(16_000);
    expect(text.length).toBeGreaterThan(10_000);
    expect(text).toContain('==> a.txt <==\none\r\ntwo\n');
    const [, first, , second] =
      /\[lines 1–(\d+) of .*; next: start_line (\d+)\][^]*\[lines 1–(\d+) of .*; next: start_line/.exec(
        text,
      )!;
    expect(Number(first)).toBeGreaterThan(400);
    expect(Number(second)).toBeGreaterThan(700);
  });

  it('shows as many lines of each as are asked for', async () => {
    expect(await read({ path: ['long.txt', 'a.txt'], limit: 1 })).toBe(
      '==> long.txt <==\nline 1\n[line 1 of 5,000; next: start_line 2]\n\n==> a.txt <==\none\r\n[line 1 of 2; next: start_line 2]\n',
    );
  });

  it('shows fifty files in one answer that is no longer than another', async () => {
    const name = (index: number) => `${'folder/'.repeat(30)}${index}.txt`;
    await put(
      root,
      Object.fromEntries(Array.from({ length: 50 }, (_, index) => [name(index), numbered(1000)])),
    );
    const text = await read({ path: Array.from({ length: 50 }, (_, index) => name(index)) });
    expect(text.length).toBeLessThanOrEqual(16_000);
    for (let index = 0; index < 50; index++)
      expect(text).toMatch(new RegExp(`/${index}.txt <==\\nline 1\\n`));
    expect(await failureOf(call('read_file', { path: Array(51).fill('a.txt') }))).toMatch(
      /^ARG_INVALID: path/,
    );
  });

  it('shows images and documents between the texts', async () => {
    const { content } = await call('read_file', { path: ['a.txt', 'pixel.png', 'doc.pdf', 'b.txt'] });
    expect(content).toEqual([
      { type: 'text', text: '==> a.txt <==\n1\tone\r\n2\ttwo\n\n==> pixel.png <==\n' },
      { type: 'image', mimeType: 'image/png', data: png.toString('base64') },
      {
        type: 'text',
        text: expect.stringMatching(/^\n==> doc.pdf <==\n\[doc.pdf: a PDF document, 11 bytes\]\n?$/),
      },
      { type: 'resource', resource: expect.objectContaining({ mimeType: 'application/pdf' }) },
      { type: 'text', text: '\n==> b.txt <==\n1\tno line feed at the end\n' },
    ]);
  });

  it('shows images up to 5 MB together, and names those beyond', async () => {
    for (const name of ['1.png', '2.png', '3.png']) {
      await writeFile(join(root, name), png);
      await truncate(join(root, name), 2 * megabyte);
    }
    const result = await call('read_file', { path: ['1.png', '2.png', '3.png', 'pixel.png'] });
    expect(result.content?.map(({ type }) => type)).toEqual([
      'text',
      'image',
      'text',
      'image',
      'text',
      'image',
    ]);
    expect(textOf(result)).toMatch(
      /==> 3.png <==\n\[TOO_LARGE: 3.png: is an image of 2,097,152 bytes; at most 1,048,\d+ bytes can be shown with the others. Read by itself it is shown.\]/,
    );
  });
});

it('ends read_file with paths when the caller gives up', async () => {
  expect(await failureOf(call('read_file', { path: ['a.txt', 'b.txt'] }, AbortSignal.abort()))).toMatch(
    /^CANCELLED/,
  );
});
