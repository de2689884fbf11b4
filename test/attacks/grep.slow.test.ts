import { execFileSync } from 'node:child_process';
import { mkdir, open, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bindTool } from '../../src/tools/define-tool.ts';
import grepTool from '../../src/tools/files/grep.ts';
import {
  callerFor,
  failureOf,
  put,
  session,
  temporaryFolder,
  textOf,
  type Caller,
} from '../tools/files/folder.ts';
import { callContext, planAndRun } from '../support/call-context.ts';

const onUnix = process.platform !== 'win32';

describe.runIf(onUnix)('ignore files that are not regular files', () => {
  const fifo = (path: string) => execFileSync('mkfifo', [path]);
  const zeros = (path: string) => symlink('/dev/zero', path);
  const large = (path: string) =>
    writeFile(path, Array.from({ length: 400_000 }, (_, index) => `x${index}*y\n`).join(''));
  const rows: [name: string, make: (path: string) => unknown, refused: RegExp][] = [
    ['app/.gitignore', fifo, /^PATH_NOT_REGULAR: .*app\/\.gitignore: is not a regular file.*Set ignored/],
    ['.rgignore', fifo, /^PATH_NOT_REGULAR: .*\.rgignore: /],
    ['app/deep/er/.ignore', fifo, /^PATH_NOT_REGULAR: .*app\/deep\/er\/\.ignore: /],
    ['app/.git/info/exclude', fifo, /^PATH_NOT_REGULAR: .*app\/\.git\/info\/exclude: /],
    ['app/.ignore', zeros, /^PATH_NOT_REGULAR: .*app\/\.ignore: /],
    ['app/.ignore', large, /^TOO_LARGE: .*app\/\.ignore: has too many ignore rules/],
  ];

  it.each(rows)('ATTACK 57: %s that ripgrep would wait for is named soon', async (name, make, refused) => {
    const top = await temporaryFolder();
    await put(top, { 'app/.git/HEAD': 'ref: refs/heads/main\n', 'app/a.txt': 'needle\n' });
    await mkdir(dirname(join(top, name)), { recursive: true });
    await make(join(top, name));
    const call = callerFor(join(top, 'app'));
    expect(await failureOf(call('grep', { pattern: 'needle' }))).toMatch(refused);
    expect(textOf(await call('grep', { pattern: 'needle', ignored: true }))).toBe('a.txt\n1:needle');
    expect(textOf(await call('grep', { pattern: 'needle', path: 'a.txt' }))).toBe('a.txt\n1:needle');
  });
});

describe('the cost of a search', () => {
  let root: string;
  let call: Caller;
  beforeAll(async () => {
    root = await temporaryFolder();
    call = callerFor(root);
  });

  /** Runs a call that must not hold much memory in this process. */
  async function cheaply(given: object): Promise<string> {
    const before = process.memoryUsage();
    const text = await call('grep', given).then(textOf, (error: Error) => error.message);
    const after = process.memoryUsage();
    expect(after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed).toBeLessThan(64e6);
    expect(text.length).toBeLessThan(16_000);
    return text;
  }

  /** A file of one line of 100 MB with a word in its middle. */
  async function oneLine(name: string): Promise<void> {
    const file = await open(join(root, name), 'w');
    const chunk = Buffer.alloc(10_000_000, 'x');
    for (let written = 0; written < 5; written++) await file.write(chunk);
    await file.write('needle');
    for (let written = 0; written < 5; written++) await file.write(chunk);
    await file.close();
  }

  it('ATTACK 68: a line of 100 MB is shown in part', async () => {
    await mkdir(join(root, 'line'));
    await oneLine('line/one.json');
    const shown = /^line\/one\.json\n1:x{500}…$/;
    expect(await cheaply({ pattern: 'needle', path: 'line' })).toMatch(shown);
    expect(await cheaply({ pattern: 'needle', path: 'line/one.json' })).toMatch(shown);
    expect(await cheaply({ pattern: 'needle', path: 'line', mode: 'count' })).toMatch(/^line\/one\.json:1\n/);
    expect(await cheaply({ pattern: 'x', path: 'line' })).toMatch(/^line\/one\.json\n1:x{500}…$/);
    expect(await cheaply({ pattern: 'x\\n', path: 'line/one.json', multiline: true })).toMatch(/^No matches/);
  });

  it('ATTACK 68: a file of 30 GB is not read into memory to find matches that span lines', async () => {
    await put(root, { 'hole/a.txt': 'one\ntwo\n', 'hole/huge': '' });
    await truncate(join(root, 'hole/huge'), 30 * 1024 ** 3);
    expect(await cheaply({ pattern: 'one\\ntwo', path: 'hole', multiline: true })).toBe(
      'hole/a.txt\n1:one\n2:two',
    );
  });

  it('ATTACK 68: millions of matches make one page', async () => {
    await put(root, { 'many/a.txt': 'match\n'.repeat(3_000_000), 'many/b.txt': 'match\n'.repeat(1_000_000) });
    for (const given of [{}, { path: 'many/a.txt' }, { context: 20 }])
      expect(await cheaply({ pattern: 'match', path: 'many', ...given })).toMatch(
        / there are more; narrow it by path or glob\]$/,
      );
    expect(await cheaply({ pattern: 'match', path: 'many', mode: 'count' })).toBe(
      'many/a.txt:3000000\nmany/b.txt:1000000\n[4,000,000 matching lines in 2 files]',
    );
  });

  it.each(['(a{1000}){1000}', '((a{1,99}){1,99}){1,99}', '(?:\\w{200}){200}', '(?i)(?:\\pL{99}){99}'])(
    'ATTACK 69: the expression %s, which would take much memory, is refused at once',
    async (pattern) => {
      expect(await cheaply({ pattern })).toMatch(/^pattern: .*size limit.*Repeat less/);
    },
  );

  it.each(['((a{1,50}){1,50}){1,50}', '(a{1,100}){1,100}', '(a?){300}a{300}', '(\\w*a){12}$'])(
    'ATTACK 69: the expression %s, which would take much time, ends soon',
    async (pattern) => {
      await put(root, { 'slow/a.txt': `${'a'.repeat(50_000)}!\n` });
      expect(await cheaply({ pattern, path: 'slow' })).toMatch(/^slow\/a\.txt|^No matches/);
    },
  );

  it('ATTACK 18: an encoding is never an option', async () => {
    expect(await failureOf(call('grep', { pattern: 'x', encoding: '--pre=./evil.sh' }))).toMatch(
      /^ARG_INVALID: encoding/,
    );
  });

  it('ATTACK 71: neither the configuration of ripgrep nor a link changes what is searched', async () => {
    const outside = await temporaryFolder();
    await put(outside, { 'secret.txt': 'needle\n', config: '--follow\n--hidden\n' });
    await put(root, { 'links/.hidden': 'needle\n', 'links/a.txt': 'needle\n' });
    if (onUnix) await symlink(outside, join(root, 'links', 'out'));
    const { environment } = session;
    const configured = async (names: readonly string[], settings: Readonly<Record<string, string>>) => ({
      ...(await environment.childEnvironment(names, settings)),
      RIPGREP_CONFIG_PATH: join(outside, 'config'),
    });
    const tool = bindTool(grepTool, {
      ...session,
      environment: { ...environment, childEnvironment: configured },
    });
    const found = await planAndRun(
      tool,
      { pattern: 'needle', path: 'links', mode: 'files' },
      await callContext([root]),
    );
    expect(textOf(found)).toBe('links/a.txt');
  });
});
