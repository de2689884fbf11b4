import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../tools/files/folder.ts';
import { connect } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

let root: string;
let client: Client;

beforeAll(async () => {
  root = await temporaryFolder();
  client = await connect('2025-11-25', { roots: [root] });
});
afterAll(() => client.close());

const call = async (name: string, given: object): Promise<string> =>
  textOf(await client.callTool({ name, arguments: { ...given } }));
const edit = (path: string, old: string, next: string, more: object = {}) =>
  call('edit_file', { path, old_string: old, new_string: next, ...more });
/** A file that has been written behind the server's back, and read through it. */
async function readFresh(name: string, content: string | Buffer, more: object = {}): Promise<string> {
  writeFileSync(join(root, name), content);
  return call('read_file', { path: name, ...more });
}
const bytesOf = (name: string): Buffer => readFileSync(join(root, name));

describe('ATTACK 63: files that other programs run', () => {
  it('does not make such files by moving a folder', async () => {
    mkdirSync(join(root, 'x'), { recursive: true });
    writeFileSync(join(root, 'x', 'tasks.json'), '{}');
    expect(await call('move_path', { from: 'x', to: '.vscode' })).toMatch(/^PATH_PROTECTED: /);
    expect(existsSync(join(root, '.vscode'))).toBe(false);
  });

  it('does not delete such files, alone or with their folder', async () => {
    mkdirSync(join(root, '.vscode'), { recursive: true });
    writeFileSync(join(root, '.vscode', 'tasks.json'), '{}');
    expect(await call('delete_path', { path: '.vscode/tasks.json' })).toMatch(/^NEEDS_CONFIRM: /);
    expect(await call('delete_path', { path: '.vscode' })).toMatch(/^PATH_PROTECTED: /);
    expect(await call('delete_path', { path: '.' })).toMatch(/^PATH_PROTECTED: /);
    expect(existsSync(join(root, '.vscode', 'tasks.json'))).toBe(true);
  });

  it.each(['lnk/', 'lnk/.', 'lnk//'])(
    'deletes a link named with a slash, %s, and not what it leads to',
    async (path) => {
      mkdirSync(join(root, 'target'), { recursive: true });
      writeFileSync(join(root, 'target', 'a'), 'a');
      if (!existsSync(join(root, 'lnk'))) symlinkSync('target', join(root, 'lnk'));
      expect(await call('delete_path', { path })).toMatch(/^Deleted lnk.*, a link/);
      expect(readdirSync(join(root, 'target'))).toEqual(['a']);
    },
  );
});

describe('ATTACK 64: text that occurs more than once', () => {
  it('is not edited, and the answer names its lines', async () => {
    await readFresh('a.txt', 'foo\nbar\nfoo\nx foo\n');
    const answer = await edit('a.txt', 'foo', 'baz');
    expect(answer).toMatch(/^AMBIGUOUS_EDIT: .*3 times.*lines? 1, 3/s);
    expect(String(bytesOf('a.txt'))).toBe('foo\nbar\nfoo\nx foo\n');
    expect(await edit('a.txt', 'foo', 'baz', { replace_all: true })).toMatch(
      /^Edited a\.txt: \+3 -3, 3 places/,
    );
    expect(String(bytesOf('a.txt'))).toBe('baz\nbar\nbaz\nx baz\n');
  });
});

describe('ATTACK 65: line endings', () => {
  it.each([
    ['one\r\ntwo\r\nthree\r\n', 'one\r\n2\r\nzwei\r\nthree\r\n'],
    ['one\ntwo\r\nthree\n', 'one\n2\r\nzwei\r\nthree\n'],
    ['one\r\ntwo\nthree\r\n', 'one\r\n2\nzwei\nthree\r\n'],
  ])('keeps the ending of each line in %j', async (before, after) => {
    await readFresh('eol.txt', before);
    expect(await edit('eol.txt', 'one\ntwo\nthree', 'one\n2\nzwei\nthree')).toMatch(/^Edited/);
    expect(String(bytesOf('eol.txt'))).toBe(after);
  });
});

describe('ATTACK 66: encodings', () => {
  // Text of some length, since a few bytes could be anything.
  const latin = 'Größe und Übermaß: für Männer schöner Söhne\n';
  const cases: [name: string, bytes: Buffer, old: string, next: string, after: Buffer, encoding?: string][] =
    [
      [
        'Latin-1',
        Buffer.from(`${latin}ascii line\n`, 'latin1'),
        'ascii line',
        'öffnen',
        Buffer.from(`${latin}öffnen\n`, 'latin1'),
        'latin1',
      ],
      [
        'GBK',
        // 你好，世界。这是一个测试文件。
        Buffer.from(
          'c4e3bac3a3accac0bde7a1a3d5e2cac7d2bbb8f6b2e2cad4cec4bcfea1a30d0a6173636969206c696e650d0a',
          'hex',
        ),
        'ascii line',
        '你好',
        Buffer.from('c4e3bac3a3accac0bde7a1a3d5e2cac7d2bbb8f6b2e2cad4cec4bcfea1a30d0ac4e3bac30d0a', 'hex'),
        'gbk',
      ],
      [
        'UTF-16 with a mark',
        Buffer.from('\ufeffgrün\r\nrot\r\n', 'utf16le'),
        'rot',
        'röt',
        Buffer.from('\ufeffgrün\r\nröt\r\n', 'utf16le'),
      ],
      ['UTF-8 with a mark', Buffer.from('\ufeffgrün\nrot\n'), 'rot', 'röt', Buffer.from('\ufeffgrün\nröt\n')],
    ];
  it.each(cases)(
    'reads and edits %s without losing a byte',
    async (_, before, old, next, after, encoding) => {
      const named = encoding === undefined ? {} : { encoding };
      if (encoding !== undefined) expect(await readFresh('encoded.txt', before)).toContain(`ENCODING: `);
      const shown = await readFresh('encoded.txt', before, named);
      expect(shown).not.toContain('\ufffd');
      expect(shown).toContain(old);
      expect(await edit('encoded.txt', old, next)).toMatch(/^Edited/);
      expect(bytesOf('encoded.txt')).toEqual(after);
    },
  );

  it('refuses a character that the encoding lacks', async () => {
    const before = Buffer.from(`${latin}ascii\n`, 'latin1');
    await readFresh('latin.txt', before, { encoding: 'latin1' });
    expect(await edit('latin.txt', 'ascii', '漢')).toMatch(/^ENCODING: .*漢/);
    expect(bytesOf('latin.txt')).toEqual(before);
  });

  it('keeps UTF-8 as UTF-8, with the one byte that is not', async () => {
    const before = Buffer.concat([
      Buffer.from('naïve café\n'.repeat(100)),
      Buffer.of(0xff),
      Buffer.from('\nworld\n'),
    ]);
    const shown = await readFresh('broken.txt', before);
    expect(shown).toContain('naïve café');
    expect(shown).toMatch(/no UTF-8/);
    expect(await edit('broken.txt', 'world', 'wörld')).toMatch(/^Edited/);
    expect(bytesOf('broken.txt')).toEqual(
      Buffer.concat([Buffer.from('naïve café\n'.repeat(100)), Buffer.of(0xff), Buffer.from('\nwörld\n')]),
    );
  });

  it('refuses a binary file, and brings it back after a deletion', async () => {
    const bytes = Buffer.from('89abcdeffffeeddc0001020304050607'.repeat(20), 'hex');
    expect(await readFresh('binary', bytes)).toMatch(/^ENCODING: /);
    const change = /change ([\w-]+)/.exec(await call('delete_path', { path: 'binary' }))?.[1];
    expect(await call('undo', { since: change })).toMatch(/^Took back delete binary.*\(to redo: /);
    expect(bytesOf('binary')).toEqual(bytes);
  });
});

describe('ATTACK 67: files that have changed since they were read, or were never read', () => {
  it('does not overwrite such a file before its content was shown', async () => {
    writeFileSync(join(root, 'unread.txt'), 'one\n');
    const write = () => call('write_file', { path: 'unread.txt', content: 'two\n' });
    expect(await write()).toMatch(/^NOT_READ: [^]*\none\n/);
    expect(String(bytesOf('unread.txt'))).toBe('one\n');
    expect(await write()).toMatch(/^Wrote/);
    writeFileSync(join(root, 'named.txt'), 'one\n');
    expect(await edit('named.txt', 'one', 'two')).toMatch(/^Edited/);
    await readFresh('stale.txt', 'one\n');
    writeFileSync(join(root, 'stale.txt'), 'two\n');
    expect(await edit('stale.txt', 'one', '1')).toMatch(/^STALE_FILE: .*-one\n\+two/s);
    expect(String(bytesOf('stale.txt'))).toBe('two\n');
  });

  it('does not edit such a file of the same size with its times set back', async () => {
    await readFresh('forged.txt', 'one\n');
    const then = new Date(2020, 1, 1);
    utimesSync(join(root, 'forged.txt'), then, then);
    await call('read_file', { path: 'forged.txt' });
    writeFileSync(join(root, 'forged.txt'), 'two\n');
    utimesSync(join(root, 'forged.txt'), then, then);
    expect(await edit('forged.txt', 'o', '0')).toMatch(/^STALE_FILE: /);
  });

  it('does not edit such a file by a version of other content', async () => {
    const result = await client.callTool({ name: 'read_file', arguments: { path: 'stale.txt' } });
    const version = result._meta?.['toolcrib/version'];
    const edit = { old_string: 'two', new_string: '2' };
    expect(await call('edit_file', { path: 'stale.txt', ...edit, version: 'AAAAAAAAAAAAAAAA' })).toMatch(
      /^STALE_FILE/,
    );
    expect(await call('edit_file', { path: 'stale.txt', ...edit, version })).toMatch(/^Edited/);
  });

  it('leaves a read-only file as it is', async () => {
    await readFresh('locked.txt', 'one\n');
    chmodSync(join(root, 'locked.txt'), 0o444);
    expect(await edit('locked.txt', 'one', 'two')).toMatch(/^PATH_DENIED: /);
  });

  it('edits a file without a new read after an edit was taken back', async () => {
    await readFresh('undone.txt', 'one\n');
    const change = /change ([\w-]+)/.exec(await edit('undone.txt', 'one', 'two'))?.[1];
    expect(await call('undo', { last: 1, dry_run: true })).toMatch(/^Would take back/);
    await edit('undone.txt', 'two', '2');
    await edit('undone.txt', '2', 'two');
    await call('undo', { since: change });
    expect(await edit('undone.txt', 'one', 'three')).toMatch(/^Edited/);
  });
});

describe('a dry run', () => {
  it.each(['plain.txt/', 'plain.txt/b', 'circle', 'new-folder/'])(
    'refuses write_file to %s in the same words as the real call',
    async (path) => {
      writeFileSync(join(root, 'plain.txt'), 'one\n');
      if (!readdirSync(root).includes('circle')) symlinkSync('circle', join(root, 'circle'));
      const real = await call('write_file', { path, content: 'x' });
      expect(real).toMatch(/^(?:PATH_NOT_FOUND|ARG_INVALID): /);
      expect(await call('write_file', { path, content: 'x', dry_run: true })).toBe(real);
      expect(String(bytesOf('plain.txt'))).toBe('one\n');
    },
  );
});
