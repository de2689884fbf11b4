import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  callerFor,
  callerWith,
  failureOf,
  put,
  session,
  temporaryFolder,
  textOf,
  type Caller,
} from './folder.ts';

let root: string;
let call: Caller;
const list = async (given: object) => textOf(await call('list_files', given)).split('\n');

/** All lines but the last of each page, page by page; `between` runs after each page. */
async function pages(given: object, between = async (_shown: string[]) => {}): Promise<string[]> {
  const all: string[] = [];
  for (let cursor: string | undefined; ;) {
    const lines = await list({ ...given, ...(cursor === undefined ? {} : { cursor }) });
    const footer = lines.pop()!;
    all.push(...lines);
    await between(all);
    cursor = /next: cursor ([\w-]+)\]$/.exec(footer)?.[1];
    if (cursor === undefined) return all;
  }
}

describe.skipIf(process.platform === 'win32')('a ripgrep that dies without a message', () => {
  const dead = ['exit 0', 'exit 2', 'exit 101', 'kill -9 $$', 'kill -SEGV $$', 'echo "rg: " >&2; exit 2'];
  it.each(dead)('is reported as a failure: %s', async (script) => {
    const program = join(root, 'dead-rg');
    await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const broken = callerWith({ ...session, ripgrep: () => Promise.resolve(program) }, root);
    const calls = [
      ['list_files', { path: 'mixed', glob: '*.txt' }],
      ['grep', { pattern: 'x' }],
      ['replace_in_files', { pattern: 'xyz', replacement: 'b' }],
    ] as const;
    for (const [name, given] of calls)
      expect(await failureOf(broken(name, given))).toMatch(
        /^PROGRAM_FAILED: ripgrep (?:ended with exit code \d+|was ended by a signal) and said nothing\. Call again; /,
      );
  });

  it('has what it found before listed, with a note that some is missing', async () => {
    const program = join(root, 'dying-rg');
    await writeFile(program, "#!/bin/sh\nprintf './a.txt\\0001:1:found\\n'\nexit 101\n", { mode: 0o755 });
    const broken = callerWith({ ...session, ripgrep: () => Promise.resolve(program) }, root);
    expect(textOf(await broken('grep', { pattern: 'x' }))).toBe(
      'a.txt\n1:found\n[ripgrep ended with exit code 101 and said nothing about it, so not all was searched: call again]',
    );
  });
});

beforeAll(async () => {
  root = await temporaryFolder();
  call = callerFor(root);
  await put(root, {
    'mixed/b.txt': 'bb',
    'mixed/a/inner.txt': 'x',
    'mixed/a/deep/end.txt': 'x',
    'mixed/.hidden': '',
    'mixed/a.b': 'x'.repeat(1234),
  });
  await symlink('../elsewhere', join(root, 'mixed', 'link'));
  if (process.platform !== 'win32') execFileSync('mkfifo', [join(root, 'mixed', 'pipe')]);
  await put(
    root,
    Object.fromEntries(
      Array.from({ length: 2000 }, (_, index) => [`many/file-${String(index).padStart(4, '0')}.txt`, 'x']),
    ),
  );
});

describe('list_files', () => {
  it('names every entry, and what kind it is', async () => {
    expect(await list({ path: 'mixed' })).toEqual([
      '.hidden',
      'a/',
      'a.b',
      'b.txt',
      'link -> ../elsewhere',
      'pipe  [fifo]',
      '[6 entries]',
    ]);
  });

  it('shows sizes when asked', async () => {
    expect((await list({ path: 'mixed', sizes: true })).slice(1, 4)).toEqual([
      'a/',
      'a.b  1,234',
      'b.txt  2',
    ]);
  });

  it('shows deeper entries by paths that the next call can take', async () => {
    expect(await list({ path: 'mixed', depth: 3 })).toEqual([
      join('mixed', 'a.b'),
      join('mixed', 'a', 'deep', 'end.txt'),
      join('mixed', 'a', 'inner.txt'),
      join('mixed', 'b.txt'),
      '[4 entries]',
    ]);
    expect(await list({ path: 'mixed', depth: 2 })).toContain(join('mixed', 'a', 'deep/'));
  });

  it('sorts by time, newest first', async () => {
    await put(root, { 'times/a': '', 'times/b': '' });
    await utimes(join(root, 'times', 'a'), 1e9, 1e9);
    expect(await list({ path: 'times', sort: 'modified' })).toEqual(['b', 'a', '[2 entries]']);
  });

  it('reports that a folder is empty', async () => {
    await mkdir(join(root, 'empty'), { recursive: true });
    expect(await list({ path: 'empty' })).toEqual(['[0 entries]']);
  });

  it('gives every entry once, page by page', async () => {
    const all = await pages({ path: 'many', limit: 130 });
    expect(all).toHaveLength(2000);
    expect(new Set(all).size).toBe(2000);
    const whole = await list({ path: 'mixed', depth: 10 });
    expect(await pages({ path: 'mixed', depth: 10, limit: 1 })).toEqual(whole.slice(0, -1));
  });

  it('fits 2,000 entries into one answer when asked to, else 16,000 characters', async () => {
    expect(await list({ path: 'many', limit: 2000 })).toHaveLength(2001);
    const long = await temporaryFolder();
    const files = Array.from({ length: 500 }, (_, index) => [`${'n'.repeat(200)}-${index}`, '']);
    await put(long, Object.fromEntries(files) as Record<string, string>);
    const usual = textOf(await callerFor(long)('list_files', {}));
    expect(usual.length).toBeLessThan(16_000);
    expect(usual).toMatch(/next: cursor/);
    const more = textOf(await callerFor(long)('list_files', { limit: 2000 }));
    expect(more.length).toBeGreaterThan(60_000);
    expect(more.length).toBeLessThan(64_000);
  });

  it('names folders that are ignored and enters them only when asked', async () => {
    const project = await temporaryFolder();
    await put(project, {
      '.git/HEAD': '',
      '.gitignore': 'built/\n*.log\n',
      'a.log': '',
      'built/out.js': '',
      'src/built/out.js': '',
      'src/c.ts': '',
    });
    const inProject = callerFor(project);
    const named = async (given: object) => textOf(await inProject('list_files', given)).split('\n');
    expect(await named({ depth: 3 })).toEqual(['src/c.ts', '[1 entry]']);
    expect(await named({})).toEqual([
      '.git/',
      '.gitignore',
      'a.log  [ignored]',
      'built/  [ignored]',
      'src/',
      '[5 entries]',
    ]);
    expect(await named({ depth: 2, ignored: true })).toContain('built/out.js');
    expect(await named({ depth: 2, hidden: true, ignored: true })).not.toContain('.git/HEAD');
    expect(await named({ path: '.git' })).toEqual(['HEAD', '[1 entry]']);
  });

  it('marks entries that rules of any file leave out, the last and the nearest first', async () => {
    const project = await temporaryFolder();
    await put(project, {
      '.git/info/exclude': 'excluded\n',
      '.gitignore': '# a comment\n*.log\n!keep.log\n/sub/anchored\nfolder/\n\\#odd\ndeep/**/x.txt\n',
      'sub/.gitignore': '!again.log\n',
      ...Object.fromEntries(
        ['a.log', 'again.log', 'keep.log', 'anchored', 'folder', '#odd', 'own.txt', 'excluded', 'b.txt'].map(
          (name) => [`sub/${name}`, ''],
        ),
      ),
    });
    const lines = textOf(await callerFor(project)('list_files', { path: 'sub' })).split('\n');
    expect(lines).toEqual([
      '#odd  [ignored]',
      '.gitignore',
      'a.log  [ignored]',
      'again.log',
      'anchored  [ignored]',
      'b.txt',
      'excluded  [ignored]',
      'folder',
      'keep.log',
      'own.txt',
      '[10 entries]',
    ]);
  });

  it('quotes names that could be taken for something else', async () => {
    if (process.platform === 'win32') return;
    const odd = [
      'a  [fifo]',
      'b -> c',
      'd\n[9 entries]',
      '[1 entry]',
      'e:',
      ' f',
      'g "h"',
      'plain name',
      'i\u202ej',
    ];
    await put(root, Object.fromEntries(odd.map((name) => [`odd/${name}`, ''])));
    await symlink('x  [y]', join(root, 'odd', 'z'));
    expect(await list({ path: 'odd' })).toEqual([
      '" f"',
      '"[1 entry]"',
      '"a  [fifo]"',
      '"b -> c"',
      '"d\\n[9 entries]"',
      '"e:"',
      '"g \\"h\\""',
      '"i\\u{202e}j"',
      'plain name',
      'z -> "x  [y]"',
      '[10 entries]',
    ]);
  });

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'goes on past a folder that may not be read',
    async () => {
      const folder = await temporaryFolder();
      await put(folder, { 'locked/x': '', 'open/y': '' });
      await chmod(join(folder, 'locked'), 0);
      expect(textOf(await callerFor(folder)('list_files', { depth: 2 }))).toBe(
        'open/y\n[1 entry; not searched: locked: Permission denied (os error 13)]',
      );
      await chmod(join(folder, 'locked'), 0o755);
    },
  );

  it('refuses a cursor that is not its own, and what is not a folder', async () => {
    expect(await failureOf(call('list_files', { cursor: '!!' }))).toMatch(/^ARG_INVALID: cursor/);
    expect(await failureOf(call('list_files', { path: 'mixed/b.txt' }))).toMatch(/^PATH_NOT_REGULAR/);
    expect(await failureOf(call('list_files', { path: 'none' }))).toMatch(/^PATH_NOT_FOUND/);
  });
});
