import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { glob } from '../../src/filesystem/listing/glob.ts';
import { parseIgnoreRules } from '../../src/filesystem/listing/ignore-rules.ts';
import { createPace } from '../../src/filesystem/listing/pace.ts';
import { findRipgrep } from '../../src/machine/programs/find-ripgrep.ts';
import { callerFor, put, services, temporaryFolder, textOf } from './folder.ts';
import { callContext, planAndRun } from '../support/call-context.ts';
import { processorMs } from '../support/processor-ms.ts';

const parse = (text: string) =>
  parseIgnoreRules(text, createPace({ signal: new AbortController().signal, mostMs: 1000 }));

describe('ignore rules', () => {
  it.each([
    ['a', 'x/', 'a', false, 'ignored'],
    ['a', '', 'ab', false, undefined],
    ['a/', '', 'a', false, undefined],
    ['a/', '', 'a', true, 'ignored'],
    ['/a', 'x/', 'a', false, undefined],
    ['/a', '', 'a', false, 'ignored'],
    ['x/a', 'x/', 'a', false, 'ignored'],
    ['x/a', 'y/x/', 'a', false, undefined],
    ['*.log\n!keep.log', '', 'keep.log', false, 'kept'],
    ['!keep.log\n*.log', '', 'keep.log', false, 'ignored'],
    ['*.log\n!keep.log/', '', 'keep.log', false, 'ignored'],
    ['*.tar.gz', '', 'x.tar.gz', false, 'ignored'],
    ['\\#a', '', '#a', false, 'ignored'],
    ['#a', '', '#a', false, undefined],
    ['\\!a', '', '!a', false, 'ignored'],
    ['a  ', '', 'a', false, 'ignored'],
    ['a\\ ', '', 'a ', false, 'ignored'],
    ['a\\  ', '', 'a ', false, 'ignored'],
    ['a\t', '', 'a', false, undefined],
    ['a\r\nb\r', '', 'b', false, 'ignored'],
    ['\ufeffa', '', 'a', false, 'ignored'],
    ['**/a', 'x/y/', 'a', false, 'ignored'],
    ['x/**', '', 'x', true, undefined],
    ['x/**', 'x/', 'y', true, 'ignored'],
    ['x/**/y', 'x/', 'y', false, 'ignored'],
    ['x/**/y', 'x/a/b/', 'y', false, 'ignored'],
    ['x/*', 'x/', 'y', false, 'ignored'],
    ['x/*', 'x/y/', 'z', false, undefined],
    ['a**b', '', 'axxb', false, 'ignored'],
    ['[ab]c', '', 'bc', false, 'ignored'],
    ['[!ab]c', '', 'bc', false, undefined],
    ['[]-]', '', ']', false, 'ignored'],
    ['[[:digit:]]x', '', '7x', false, 'ignored'],
    ['[z-a]', '', 'z', false, 'ignored'],
    ['[z-a]', '', 'b', false, undefined],
    ['[a', '', '[a', false, undefined],
    ['a\\', '', 'a\\', false, undefined],
    ['x[a/b]y', '', 'xay', false, 'ignored'],
    ['x\\/y', 'x/', 'y', false, 'ignored'],
    ['{a,b}', '', 'a', false, undefined],
    ['{a,b}', '', '{a,b}', false, 'ignored'],
  ])('%j about %j: %j (folder: %s) is %s', async (text, prefix, name, isFolder, verdict) => {
    expect((await parse(text))?.verdict(prefix, name, isFolder)).toBe(verdict);
  });

  it('are none in a file without any', async () => {
    for (const text of ['', '\n\r\n', '# a\n', '/', '!', '   ']) expect(await parse(text)).toBeUndefined();
  });

  it('ATTACK 69: end soon, whatever they are', async () => {
    const bombs = [
      '*a'.repeat(100),
      '**/a/'.repeat(80) + 'b',
      `${'*'.repeat(2000)}b`,
      '?*'.repeat(100),
      `${'[a-z]*'.repeat(60)}!`,
    ];
    const rules = (await parse(`${bombs.join('\n')}\n`))!;
    const started = process.cpuUsage();
    expect(rules.verdict('a/'.repeat(100), 'a'.repeat(250), false)).toBe('ignored');
    rules.verdict('a/'.repeat(100), `${'a'.repeat(240)}c`, false);
    expect(processorMs(started)).toBeLessThan(1000);
  });
});

describe.runIf(process.platform === 'linux')('a walk leaves out what git and ripgrep leave out', () => {
  const names = [
    'a',
    'b',
    'ab',
    'a.b',
    'a.b.c',
    'x.log',
    'a b',
    'a ',
    '#a',
    '!a',
    '[a]',
    '{a,b}',
    '-',
    'A',
    '.h',
    '.h.log',
  ];
  const folders = ['a', 'b', 'x', 'a.b', 'd e', '.f'];
  const simple = [...names, ...folders].map((name) => name.replace(/^[#!]/, '\\$&').replace(/ $/, '\\ '));
  const piece = (...more: string[]) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...simple.filter((name) => !/[[{]/.test(name))) },
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          '*',
          '?',
          '*.b',
          'a*',
          '*.log',
          '*b*',
          '[ab]',
          '[!a]',
          '[a-b]*',
          '[]a]',
          'a?b',
          '.*',
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom('**', '\\a', '\\*', ...more) },
    );
  const ruleOf = (pieces: fc.Arbitrary<string>) =>
    fc
      .tuple(
        fc.constantFrom('', '', '', '!'),
        fc.constantFrom('', '', '/', '**/'),
        fc.array(pieces, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '', '/', '/**', '/*'),
        fc.constantFrom('', '', ' ', '\r'),
      )
      .map(([not, start, pieces, end, blank]) => `${not}${start}${pieces.join('/')}${end}${blank}`);
  // Before 2.41 it depends on addresses in memory what git makes of `a**/` (wildmatch.c, `prev_p < text`).
  const ripgrepRule = ruleOf(piece('a**')).filter((rule) => !/\\ +$/.test(rule));
  /** What git understands and ripgrep reads otherwise. */
  const gitRule = fc.oneof(
    { weight: 5, arbitrary: ruleOf(piece('[\\]a]')) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '{a,b}',
        '[[:alpha:]]',
        '[[:punct:]]*',
        'a\t',
        'b\\',
        'x[a/b]y',
        '[b-a]',
        '[a',
        '!',
        '/',
        '//a',
        '***',
        'a\\/b',
        '*[',
        '[!]a]',
        '\\',
        'a/\\',
        '[a-',
        '[[:x:]]',
        '!!a',
      ),
    },
  );
  const ruleFile = (rule: fc.Arbitrary<string>) =>
    fc
      .tuple(fc.constantFrom('', '', '\ufeff', '# x\n\n'), fc.array(rule, { minLength: 1, maxLength: 5 }))
      .map(([start, rules]) => `${start}${rules.join('\n')}\n`);
  const tree = (rule: fc.Arbitrary<string>, rest: readonly string[]) =>
    fc.record({
      files: fc.uniqueArray(
        fc
          .tuple(fc.array(fc.constantFrom(...folders), { maxLength: 3 }), fc.constantFrom(...names))
          .map(([path, name]) => [...path, name].join('/')),
        { minLength: 4, maxLength: 25 },
      ),
      rules: fc.array(
        fc.tuple(
          fc.array(fc.constantFrom(...folders), { maxLength: 2 }),
          fc.constantFrom('.gitignore', ...rest),
          ruleFile(rule),
        ),
        { minLength: 1, maxLength: 4 },
      ),
    });

  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
  };

  /** A repository with a folder for each of some generated trees. */
  async function repositoryOf(
    rule: fc.Arbitrary<string>,
    rest: readonly string[],
    seed: number,
  ): Promise<string> {
    const root = await temporaryFolder();
    execFileSync('git', ['init', '-q'], { cwd: root, env });
    for (const [index, { files, rules }] of fc.sample(tree(rule, rest), { numRuns: 150, seed }).entries()) {
      const all = [
        ...files.map((path) => [path, ''] as const),
        ...rules.map(([path, name, text]) => [[...path, name].join('/'), text] as const),
      ];
      for (const [path, text] of all) {
        const whole = join(root, String(index), path);
        // A file may be where another one needs a folder.
        const isFree = await mkdir(join(whole, '..'), { recursive: true }).then(
          () => true,
          () => false,
        );
        if (isFree) await writeFile(whole, text).catch(() => undefined);
      }
    }
    return root;
  }

  async function found(folder: string): Promise<string[]> {
    const tool = glob({ ...services, env: () => ({}) });
    const all: string[] = [];
    for (let cursor: string | undefined; ;) {
      const given = { pattern: '**', hidden: true, limit: 2000, ...(cursor === undefined ? {} : { cursor }) };
      const context = await callContext([folder]);
      const lines = textOf(await planAndRun(tool, given, context)).split('\n');
      cursor = /^\[files.*next: cursor ([\w-]+)\]$/.exec(lines.at(-1)!)?.[1];
      all.push(...lines.filter((line) => !line.startsWith('[files ')));
      if (cursor === undefined) return all.sort();
    }
  }

  const listed = (text: string): string[] =>
    text
      .split('\0')
      .filter((path) => path !== '')
      .sort();

  /** The differences, each with the rules of its tree: what a failure has to show. */
  function differences(root: string, ours: readonly string[], theirs: readonly string[]): string[] {
    const wrong = [
      ...ours.filter((path) => !theirs.includes(path)).map((path) => `only ours: ${path}`),
      ...theirs.filter((path) => !ours.includes(path)).map((path) => `only theirs: ${path}`),
    ];
    return wrong.slice(0, 5).map((line) => {
      const top = join(root, /: (\d+)\//.exec(line)![1]!);
      const files = execFileSync('find', [top, '-name', '.*ignore'], { encoding: 'utf8' }).trim().split('\n');
      return [line, ...files.map((file) => `${file}: ${JSON.stringify(readFileSync(file, 'utf8'))}`)].join(
        '\n',
      );
    });
  }

  const seeds = (process.env['IGNORE_SEEDS'] ?? '1').split(',').map(Number);

  it.each(seeds)('as git does (seed %i)', async (seed) => {
    const root = await repositoryOf(gitRule, [], seed);
    const byGit = execFileSync('git', ['ls-files', '-z', '-o', '-c', '--exclude-standard'], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
    expect(differences(root, await found(root), listed(byGit))).toEqual([]);
  });

  it.each(seeds)('as ripgrep does, which has rules of its own (seed %i)', async (seed) => {
    const root = await repositoryOf(ripgrepRule, ['.ignore', '.rgignore'], seed);
    const byRipgrep = execFileSync(
      await findRipgrep(),
      ['--no-config', '--files', '--null', '--hidden', '--glob=!.git'],
      { cwd: root, env, encoding: 'utf8' },
    );
    expect(differences(root, await found(root), listed(byRipgrep))).toEqual([]);
  });

  it('of other trees than generated ones', async () => {
    const root = await temporaryFolder();
    execFileSync('git', ['init', '-q'], { cwd: root, env });
    await put(root, {
      '.gitignore': 'out\n*.tmp\n!keep.tmp\n/only-top\nname with blank\n',
      '.git/info/exclude': 'excluded\n',
      '.ignore': '!kept-by-ignore.tmp\n',
      '.rgignore': 'by-ripgrep\n',
      'out/x': '',
      'a/out/x': '',
      'a/keep.tmp': '',
      'a/x.tmp': '',
      'kept-by-ignore.tmp': '',
      'by-ripgrep': '',
      'a/only-top': '',
      'only-top': '',
      'a/excluded': '',
      'a/name with blank': '',
      'nested/.git/HEAD': 'ref: refs/heads/main\n',
      'nested/x.tmp': '',
      'nested/.gitignore': 'y\n',
      'nested/y': '',
      'deep/.gitignore': '!out\nx\n',
      'deep/out/y': '',
      'deep/out/x': '',
    });
    const byRipgrep = execFileSync(
      await findRipgrep(),
      ['--no-config', '--files', '--null', '--hidden', '--glob=!.git'],
      {
        cwd: root,
        env,
        encoding: 'utf8',
      },
    );
    expect(await found(root)).toEqual(listed(byRipgrep));
    expect(listed(byRipgrep)).toContain('nested/x.tmp');
    const deep = await temporaryFolder();
    await rename(root, join(deep, 'repository'));
    // The rules of the folders above hold although these lie outside the root.
    expect(await found(join(deep, 'repository', 'a'))).toEqual(['keep.tmp', 'only-top']);
  });
});

describe('ignore files', () => {
  let root: string;
  const files = async (given: object = {}) =>
    textOf(await callerFor(root)('glob', { pattern: '*', ...given })).split('\n');

  beforeAll(async () => {
    root = await temporaryFolder();
    await put(root, { '.git/HEAD': '', 'a.txt': '', 'b.txt': '', 'sub/a.txt': '', 'sub/b.txt': '' });
  });

  it.skipIf(process.platform === 'win32').each([
    ['a FIFO', (at: string) => execFileSync('mkfifo', [at]), undefined],
    ['a folder', (at: string) => mkdir(at), undefined],
    ['a link to rules elsewhere', (at: string) => symlink(join(root, 'a.txt'), at), undefined],
    ['a link to a device', (at: string) => symlink('/dev/zero', at), undefined],
    ['a link in a circle', (at: string) => symlink(at, at), undefined],
    [
      'of 1 GB',
      (at: string) => writeFile(at, 'a.txt\n').then(() => truncate(at, 1e9)),
      /\.gitignore \(too large/,
    ],
  ])('ATTACK 57: %s is no ignore file, and keeps nobody waiting', async (_, make, note) => {
    await writeFile(join(root, 'a.txt'), 'b.txt\n');
    for (const folder of ['.', 'sub']) {
      const at = join(root, folder, '.gitignore');
      await make(at);
      const lines = await files();
      expect(lines.slice(0, 4)).toEqual(['a.txt', 'b.txt', 'sub/a.txt', 'sub/b.txt']);
      if (note) expect(lines[4]).toMatch(note);
      else expect(lines).toHaveLength(4);
      await rm(at, { recursive: true });
    }
  });

  it('count only inside a repository, but for those of ripgrep', async () => {
    const bare = await temporaryFolder();
    await put(bare, { '.gitignore': 'a\n', '.ignore': 'b\n', a: '', b: '', c: '' });
    const inBare = async () => textOf(await callerFor(bare)('glob', { pattern: '*' }));
    expect(await inBare()).toBe('a\nc');
    await put(bare, { '.jj/x': '' });
    expect(await inBare()).toBe('c');
    expect(textOf(await callerFor(bare)('glob', { pattern: '*', ignored: true }))).toBe('a\nb\nc');
  });

  it('of this user count in every repository', async () => {
    const home = await temporaryFolder();
    const inHome = async (more: Record<string, string> = {}) => {
      const tool = glob({ ...services, env: () => ({ HOME: home, ...more }) });
      const context = await callContext([root]);
      return textOf(await planAndRun(tool, { pattern: '*' }, context));
    };
    await put(home, {
      '.config/git/ignore': 'a.txt\n',
      'mine/rules': '/b.txt\n',
      'other/git/ignore': 'sub\n',
    });
    expect(await inHome()).toBe('b.txt\nsub/b.txt');
    expect(await inHome({ XDG_CONFIG_HOME: join(home, 'other') })).toBe('a.txt\nb.txt');
    await put(home, {
      '.gitconfig': '[user]\n\tname = excludesFile\n[core] # x\n\tExcludesFile = "~/mine/rules" ; y\n',
    });
    // Anchored at the repository's top.
    expect(await inHome()).toBe('a.txt\nsub/a.txt\nsub/b.txt');
  });

  it('of a repository are found from a worktree and a submodule', async () => {
    const outer = await temporaryFolder();
    await put(outer, {
      'main/.git/info/exclude': 'a\n',
      'main/.git/worktrees/tree/commondir': '../..\n',
      'tree/.git': `gitdir: ${join(outer, 'main/.git/worktrees/tree')}\n`,
      'tree/a': '',
      'tree/b': '',
      'main/.git/modules/part/info/exclude': 'b\n',
      'main/part/.git': 'gitdir: ../.git/modules/part\n',
      'main/part/a': '',
      'main/part/b': '',
    });
    expect(textOf(await callerFor(join(outer, 'tree'))('glob', { pattern: '*' }))).toBe('b');
    expect(textOf(await callerFor(join(outer, 'main'))('glob', { pattern: '*' }))).toBe('part/a');
    expect(textOf(await callerFor(join(outer, 'main', 'part'))('glob', { pattern: '*' }))).toBe('a');
  });
});
