import { readdirSync } from 'node:fs';
import { chmod, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseGlob } from '../../../src/tools/files/listing/glob-pattern.ts';
import { processorMs } from '../../support/processor-ms.ts';
import { callerFor, failureOf, put, temporaryFolder, textOf as answerOf, type Caller } from './folder.ts';

/** An answer without the count in its last line. */
const textOf = (result: Parameters<typeof answerOf>[0]) =>
  answerOf(result).replace(/\n\[\d+ entr(?:y|ies)\]$/, '');

let root: string;
let call: Caller;
const find = async (given: object) => textOf(await call('list_files', given)).split('\n');

beforeAll(async () => {
  root = await temporaryFolder();
  call = callerFor(root);
  await put(root, {
    '.gitignore': 'built/\nsecret.ts\n',
    '.git/config.ts': '',
    '.eslintrc.ts': '',
    '.github/flow.ts': '',
    'a.ts': '',
    'b.js': '',
    'secret.ts': '',
    'built/out.ts': '',
    'src/c.ts': '',
    'src/d.tsx': '',
    'src/deep/e.ts': '',
    'src/deep/test/f.ts': '',
    'packages/x/src/g.ts': '',
    'packages/y/src/h.ts': '',
    'packages/y/lib/i.ts': '',
    'odd/new\nline.txt': '',
  });
  await symlink('..', join(root, 'src', 'up'));
});

describe('list_files with a glob', () => {
  it('finds by name in any folder, without what git ignores or a dot hides', async () => {
    const all = [
      'a.ts',
      'packages/x/src/g.ts',
      'packages/y/lib/i.ts',
      'packages/y/src/h.ts',
      'src/c.ts',
      'src/deep/e.ts',
      'src/deep/test/f.ts',
    ];
    expect(await find({ glob: '*.ts' })).toEqual(all);
    expect(await find({ glob: '**/*.ts' })).toEqual(all);
    expect(await find({ glob: '**/[a-z].ts' })).toEqual(all);
  });

  it('brings back what is ignored or hidden only when asked', async () => {
    expect(await find({ glob: '*.ts', ignored: true })).toEqual(
      expect.arrayContaining(['secret.ts', 'built/out.ts']),
    );
    const hidden = await find({ glob: '*.ts', hidden: true });
    expect(hidden).toEqual(expect.arrayContaining(['.eslintrc.ts', '.github/flow.ts']));
    expect(hidden).not.toContain('.git/config.ts');
    expect(await find({ glob: '**/.eslintrc.*' })).toEqual(['.eslintrc.ts']);
    expect(await find({ glob: '.github/**' })).toEqual(['.github/flow.ts']);
    expect(await find({ glob: 'built/**' })).toEqual(['built/out.ts']);
  });

  it('finds by path', async () => {
    expect(await find({ glob: 'src/**/*.{ts,tsx}' })).toEqual([
      'src/c.ts',
      'src/d.tsx',
      'src/deep/e.ts',
      'src/deep/test/f.ts',
    ]);
    expect(await find({ glob: 'src/*.ts' })).toEqual(['src/c.ts']);
    expect(await find({ glob: './*.ts' })).toEqual(['a.ts']);
    expect(await find({ glob: 'packages/*/src/*.ts' })).toEqual([
      'packages/x/src/g.ts',
      'packages/y/src/h.ts',
    ]);
    expect(await find({ glob: '**/test/**' })).toEqual(['src/deep/test/f.ts']);
    expect(await find({ glob: '{src,packages}/**/[!a-f].ts' })).toHaveLength(3);
  });

  it('names files in a form that the next call can take', async () => {
    expect(await find({ glob: '*.ts', path: 'src/deep' })).toEqual(['src/deep/e.ts', 'src/deep/test/f.ts']);
    expect(await find({ glob: '*.txt' })).toEqual(['"odd/new\\nline.txt"']);
    const other = await temporaryFolder();
    await put(other, { 'z.ts': '' });
    expect(textOf(await callerFor(root, other)('list_files', { glob: '*', path: other }))).toBe(
      join(other, 'z.ts'),
    );
  });

  it.runIf(process.platform === 'linux')('reads each name in its own encoding', async () => {
    const folder = await temporaryFolder();
    await put(folder, { 'caf\u00e9.ts': '' });
    await writeFile(
      Buffer.concat([Buffer.from(`${folder}/latin-`), Buffer.of(0xe9), Buffer.from('.ts')]),
      '',
    );
    expect(textOf(await callerFor(folder)('list_files', { glob: '*.ts' }))).toBe(
      'caf\u00e9.ts\nlatin-\u00e9.ts',
    );
  });

  it('sorts by time, newest first', async () => {
    await utimes(join(root, 'src', 'c.ts'), 2e9, 2e9);
    await utimes(join(root, 'a.ts'), 1e9, 1e9);
    const sorted = await find({ glob: '*.ts', sort: 'modified' });
    expect([sorted[0], sorted.at(-1)]).toEqual(['src/c.ts', 'a.ts']);
  });

  it('reports when there is more, and when there is nothing', async () => {
    expect(await find({ glob: '*.ts', limit: 2 })).toEqual([
      'a.ts',
      'packages/x/src/g.ts',
      expect.stringMatching(/^\[entries 1-2 of 7; next: cursor [\w-]+\]$/),
    ]);
    expect(await find({ glob: '*.rb' })).toEqual(['No files match.']);
    expect(await failureOf(call('list_files', { glob: 'none/*.rb' }))).toMatch(/^PATH_NOT_FOUND: none/);
  });

  it.each(['path', 'modified'] as const)('lists every file once, page by page, by %s', async (sort) => {
    const all = (await find({ glob: '*.ts', sort })).filter((line) => !line.startsWith('['));
    const paged: string[] = [];
    let next: string | undefined;
    do {
      const lines = await find({ glob: '*.ts', sort, limit: 3, ...(next ? { cursor: next } : {}) });
      next = /cursor ([\w-]+)\]$/.exec(lines.pop()!)?.[1];
      paged.push(...lines);
    } while (next);
    expect(paged).toEqual(all);
    expect(paged).toHaveLength(7);
  });

  it('applies ignore rules only inside a repository, except for those of ripgrep', async () => {
    const bare = await temporaryFolder();
    await put(bare, { '.gitignore': 'a\n', '.ignore': 'b\n', a: '', b: '', c: '' });
    const inBare = callerFor(bare);
    expect(textOf(await inBare('list_files', { glob: '*' }))).toBe('a\nc');
    await put(bare, { '.git/HEAD': '' });
    expect(textOf(await inBare('list_files', { glob: '*' }))).toBe('c');
    expect(textOf(await inBare('list_files', { glob: '*', ignored: true }))).toBe('a\nb\nc');
  });

  it('sorts whole paths, not folder by folder', async () => {
    const folder = await temporaryFolder();
    await put(folder, { 'a/b': '', 'a-b': '', 'a.b': '', ab: '', 'a/-': '', 'A/z': '' });
    expect(textOf(await callerFor(folder)('list_files', { glob: '*' }))).toBe('A/z\na-b\na.b\na/-\na/b\nab');
  });

  it('shows the first of many files, wherever they lie', async () => {
    const folder = await temporaryFolder();
    const names = Array.from({ length: 300 }, (_, index) => `${index % 17}/${index % 5}/${index}.ts`);
    await put(folder, Object.fromEntries(names.map((name) => [name, ''])));
    const lines = textOf(await callerFor(folder)('list_files', { glob: '*.ts', limit: 20 })).split('\n');
    expect(lines.slice(0, 20)).toEqual(names.toSorted().slice(0, 20));
    expect(lines[20]).toMatch(/^\[entries 1-20 of 300; /);
  });

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'names the folders that it could not read, and goes on',
    async () => {
      const folder = await temporaryFolder();
      await put(folder, { 'locked/x.ts': '', 'open/y.ts': '' });
      await chmod(join(folder, 'locked'), 0);
      const text = textOf(await callerFor(folder)('list_files', { glob: '*.ts' }));
      expect(text).toBe('open/y.ts\n[1 entry; not searched: locked: Permission denied (os error 13)]');
      await chmod(join(folder, 'locked'), 0o755);
    },
  );

  it('ends with the call, and leaves no folder open', async () => {
    const folder = await temporaryFolder();
    for (let index = 0; index < 40; index++) {
      const names = Array.from({ length: 100 }, (_, file) => [`${index}/${file % 10}/${file}.ts`, '']);
      await put(folder, Object.fromEntries(names) as Record<string, string>);
    }
    const inFolder = callerFor(folder);
    const failure = failureOf(inFolder('list_files', { glob: '*.ts' }, AbortSignal.abort()));
    expect(await failure).toMatch(/^CANCELLED/);
    if (process.platform !== 'linux') return;
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    await inFolder('list_files', { glob: '*.ts' });
    expect(open()).toBeLessThanOrEqual(before);
  });

  it.each(['[', 'src/[a/x', '[z-a]'])(
    'refuses what is not a glob, by the name of the parameter: %s',
    async (glob) => {
      expect(await failureOf(call('list_files', { glob }))).toMatch(/^ARG_INVALID: glob/);
      expect(await failureOf(call('grep', { glob, pattern: 'x' }))).toMatch(/^ARG_INVALID: glob/);
    },
  );

  it('refuses patterns that lead out', async () => {
    for (const pattern of ['../*', 'src/../../*', '/etc/*', 'C:\\x', '{..,src}/*']) {
      expect(await failureOf(call('list_files', { glob: pattern }))).toMatch(/^ARG_INVALID: glob/);
    }
  });
});

describe('a glob pattern', () => {
  it.each([
    ['*.ts', 'x/y/a.ts', true],
    ['a*b*c', 'aXbXc', true],
    ['a*b*c', 'aXbX', false],
    ['?.ts', 'a.ts', true],
    ['?.ts', 'ab.ts', false],
    ['[!a-c]x', 'dx', true],
    ['[!a-c]x', 'bx', false],
    ['[]]x', ']x', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['{a,b{c,d}}', 'bd', true],
    ['{a,b{c,d}}', 'b', false],
    ['{a', '{a', true],
    ['**/x/**/y', 'x/y', true],
    ['**/x/**/y', 'a/x/b/c/y', true],
    ['**/x/**/y', 'a/b/c/y', false],
    ['**', 'a/b', true],
    ['*/b', 'a/b', true],
    ['*/b', 'a/a/b', false],
    ['?', '\u{1f600}', true],
    ['[\\]]x', ']x', true],
    ['[[:digit:]]*', '7a', true],
    ['[[:digit:]]*', 'a7', false],
    ['[a-c-]', '-', true],
    ['a/**', 'a/b/c', true],
    ['**/a/*', 'x/a/b', true],
    ['**/a/*', 'x/a/b/c', false],
    ['*.{ts,md}', 'a/b.md', true],
  ])('%s chooses %s: %s', (pattern, path, chosen) => {
    const { folder, matches } = parseGlob(pattern);
    expect(path.startsWith(folder)).toBe(true);
    expect(matches(path.slice(folder === '' ? 0 : folder.length + 1))).toBe(chosen);
  });

  it.each([
    ['*a'.repeat(300) + 'b', 'a'.repeat(255)],
    ['**/*a*b*/'.repeat(100) + 'c', `${'a'.repeat(30)}/`.repeat(130) + 'c'],
  ])('takes little time to match, whatever it is', (pattern, path) => {
    const started = process.cpuUsage();
    expect(parseGlob(pattern).matches(path)).toBe(false);
    expect(processorMs(started)).toBeLessThan(10_000);
  });
});
