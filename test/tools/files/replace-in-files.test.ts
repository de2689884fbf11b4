import { chmod, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { callerFor, failureOf, put, temporaryFolder, textOf, type Caller } from './folder.ts';

let root: string;
let call: Caller;
const replace = async (given: object) => textOf(await call('replace_in_files', given));
const at = async (path: string) => readFile(join(root, path), 'utf8');

beforeEach(async () => {
  root = await temporaryFolder();
  call = callerFor(root);
});

describe('replace_in_files', () => {
  it('renames 165 places in 18 files by one call, a line a file, and one undo', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 18 }, (_, index) => [
        `src/${String(index).padStart(2, '0')}.ts`,
        'getUser(1);\n'.repeat(index === 0 ? 12 : 9),
      ]),
    );
    await put(root, { ...files, 'other.txt': 'getUsers\n' });
    const text = await replace({ pattern: '\\bgetUser\\(', replacement: 'fetchUser(', glob: '**/*.ts' });
    const [first, ...lines] = text.split('\n');
    expect(first).toMatch(/^Changed 18 files, 165 places: \+165 -165 \(change [\w-]+\)$/);
    expect(lines).toHaveLength(18);
    expect(lines[0]).toBe('src/00.ts: 12');
    expect(await at('src/17.ts')).toBe('fetchUser(1);\n'.repeat(9));
    expect(textOf(await call('undo', {}))).toMatch(
      /^\S+ {2}\S+ \S+ {2}replace 18 files: src\/00\.ts, .* \+165 -165\n\[/,
    );
    expect(textOf(await call('undo', { last: 1 }))).toMatch(/^Took back replace 18 files/);
    for (const [path, content] of Object.entries(files)) expect(await at(path)).toBe(content);
    expect(textOf(await call('undo', {}))).toMatch(/^\S+ {2}\S+ \S+ {2}undo 18 files: [^\n]*\n\[/);
  });

  it('takes groups by number and name, and a dollar without a group for itself', async () => {
    await put(root, { 'a.php': 'f(a, b)\n' });
    const swap = { pattern: 'f\\((\\w), (?<second>\\w)\\)', path: 'a.php' };
    for (const [replacement, expected] of [
      ['g($2, $1)', 'g(b, a)'],
      ['$1_x ${second}y', 'a_x by'],
      ['$second$$', 'b$'],
      ['\\2\\1', 'ba'],
      ['$&!', 'f(a, b)!'],
      ['$this->$9 $', '$this->$9 $'],
    ] as const) {
      await replace({ ...swap, replacement });
      expect(await at('a.php')).toBe(`${expected}\n`);
      await call('undo', { last: 1 });
    }
    const noted = await replace({ ...swap, replacement: '$name' });
    expect(noted).toContain('[$name: no group, taken as text]');
  });

  it('takes text literally, both ways', async () => {
    await put(root, { 'a.txt': 'a.b(c) axb(c)\n' });
    await replace({ pattern: 'a.b(c)', replacement: '$1 \\1 ${x}', literal: true });
    expect(await at('a.txt')).toBe('$1 \\1 ${x} axb(c)\n');
  });

  it('changes no byte but those it replaces: endings, marks, UTF-16, broken bytes, mode', async () => {
    const broken = Buffer.concat([Buffer.from('é ü ö ä X '), Buffer.of(0xff), Buffer.from(' X')]);
    const wide = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
    await put(root, {
      'crlf.txt': 'X a\r\nb X\r\nX',
      'bom.txt': '\ufeffX\r\nX\n',
      'wide.txt': wide('X grün X\r\n'),
      'broken.txt': broken,
      'run.sh': 'echo X\n',
    });
    await chmod(join(root, 'run.sh'), 0o751);
    await replace({ pattern: 'X$|X', replacement: 'ÿ' });
    expect(await at('crlf.txt')).toBe('ÿ a\r\nb ÿ\r\nÿ');
    expect(await at('bom.txt')).toBe('\ufeffÿ\r\nÿ\n');
    expect(await readFile(join(root, 'wide.txt'))).toEqual(wide('ÿ grün ÿ\r\n'));
    expect(await readFile(join(root, 'broken.txt'))).toEqual(
      Buffer.concat([Buffer.from('é ü ö ä ÿ '), Buffer.of(0xff), Buffer.from(' ÿ')]),
    );
    expect((await stat(join(root, 'run.sh'))).mode & 0o777).toBe(0o751);
  });

  it('replaces across lines, an empty match, and by an empty text', async () => {
    await put(root, { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'x\ny\n' });
    await replace({ pattern: 'one\\ntwo\\n', replacement: '' });
    expect(await at('a.txt')).toBe('three\n');
    await replace({ pattern: '^', replacement: '> ', path: 'b.txt' });
    expect(await at('b.txt')).toBe('> x\n> y\n');
  });

  it('leaves and names what is protected, binary, ignored, or of no known encoding', async () => {
    await put(root, {
      '.git/HEAD': '',
      '.gitignore': 'built\n',
      'built/a.js': 'name\n',
      '.vscode/tasks.json': '{"name":1}',
      'a.txt': 'name\n',
      binary: Buffer.from('name\n\0\0\0'),
      'latin.txt': Buffer.from('name caf\u00e9 na\u00efve\n', 'latin1'),
    });
    await symlink('/etc/hostname', join(root, 'link'));
    const text = await replace({ pattern: 'name', replacement: 'title', hidden: true });
    expect(text).toMatch(/^Changed 1 file, 1 place: /);
    expect(text).toContain('left .vscode/tasks.json: PATH_PROTECTED');
    expect(text).toContain('left latin.txt: ENCODING');
    expect(await at('.vscode/tasks.json')).toBe('{"name":1}');
    expect(await at('built/a.js')).toBe('name\n');
    expect(await at('a.txt')).toBe('title\n');
    expect(await at('binary')).toContain('name');
  });

  it('only shows what it would change', async () => {
    await put(root, { 'a.txt': 'one\n' });
    const text = await replace({ pattern: 'one', replacement: 'two', dry_run: true });
    expect(text).toMatch(/^Would change 1 file, 1 place: \+1 -1\na\.txt: 1\n/);
    expect(text).toContain('-one\n+two\n');
    expect(await at('a.txt')).toBe('one\n');
  });

  it('fails where nothing matches, where it leads out, and where the pattern is wrong', async () => {
    await put(root, { 'a.txt': 'f(x)\n' });
    const failure = (given: object) => failureOf(call('replace_in_files', { replacement: 'y', ...given }));
    expect(await failure({ pattern: 'g\\(x' })).toMatch(
      /^NOT_FOUND: pattern: nothing matches; nothing was changed/,
    );
    expect(await failure({ pattern: 'f(x' })).toMatch(/^ARG_INVALID: pattern: regex parse error/);
    expect(await failure({ pattern: 'x', path: '../..' })).toMatch(/^PATH_OUTSIDE_ROOTS/);
    expect(await failure({ pattern: 'x', glob: '../*' })).toMatch(/^ARG_INVALID: glob/);
    expect(await at('a.txt')).toBe('f(x)\n');
  });
});
