import { execFile } from 'node:child_process';
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { effects } from '../../src/core/discoverer.ts';
import type { GrantWithEffects } from '../../src/core/policy.ts';
import { createTrust } from '../../src/machine/trust/trust.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';

const start = promisify(execFile);

/** A folder with a folder in it, and what remembers which of them is trusted. */
function setUp() {
  const [base, folder] = [temporaryFolder(), temporaryFolder()];
  const inner = join(folder, 'packages', 'a');
  mkdirSync(inner, { recursive: true });
  return { folder, inner, kept: join(base, 'a', 'trust'), trust: createTrust({ folder: join(base, 'a') }) };
}

/** A repository as git makes it, without git. */
function repositoryIn(folder: string, origin?: string): string {
  mkdirSync(join(folder, '.git'), { recursive: true });
  const remote = origin === undefined ? '' : `[remote "origin"]\n\turl = ${origin}\n`;
  writeFileSync(join(folder, '.git', 'config'), `[core]\n\tbare = false\n${remote}`);
  return folder;
}

const push: GrantWithEffects = {
  act: '["git_push","main"]',
  words: 'exactly git push origin main',
  effects: ['execute', 'network', 'publish'],
};

it('covers what is in the folder, until it is revoked', async () => {
  const { folder, inner, kept, trust } = setUp();
  expect(await trust.trust(folder)).toEqual({ folder });
  expect([await trust.isTrusted(inner), await trust.isTrusted(dirname(folder))]).toEqual([true, false]);
  expect([trust.revoke(folder), trust.revoke(folder), readdirSync(kept)]).toEqual([true, false, []]);
  expect(await trust.isTrusted(inner)).toBe(false);
});

it('belongs to the top of the repository inside the root, else the root, else the folder', async () => {
  const { folder, inner, trust } = setUp();
  expect(await trust.subjectOf(inner, [folder])).toEqual({ folder });
  const origin = 'git@github.com:a/b.git';
  repositoryIn(folder, origin);
  expect(await trust.subjectOf(inner, [dirname(folder)])).toEqual({ folder, origin });
  expect(await trust.subjectOf(inner, [folder, inner])).toEqual({ folder: inner, origin });
  expect(await trust.subjectOf(folder, [inner])).toEqual({ folder, origin });
});

it('takes a path through a link for the folder it leads to', async () => {
  const { folder, inner, kept, trust } = setUp();
  const link = join(kept, '..', '..', 'link');
  symlinkSync(folder, link);
  await trust.trust(link);
  expect([await trust.isTrusted(inner), await trust.isTrusted(join(link, 'packages'))]).toEqual([true, true]);
});

it('ends when another folder is in its place', async () => {
  const { folder, inner, trust } = setUp();
  await trust.trust(inner);
  await trust.always.add(inner, push);
  renameSync(inner, join(folder, 'old'));
  mkdirSync(inner);
  expect([await trust.isTrusted(inner), await trust.isTrusted(join(folder, 'old'))]).toEqual([false, false]);
  expect(await trust.list()).toMatchObject([
    { folder: inner, current: false, always: ['exactly git push origin main'] },
  ]);
  await trust.trust(inner);
  expect(await trust.always.has(inner, push)).toBe(false);
});

it('ends when the repository has another origin', async () => {
  const { folder, inner, trust } = setUp();
  repositoryIn(folder, 'https://ada:secret@example.org/a');
  expect(await trust.trust(folder)).toEqual({ folder, origin: 'https://example.org/a' });
  repositoryIn(folder, 'https://token@example.org/a');
  expect(await trust.isTrusted(inner)).toBe(true);
  repositoryIn(folder, 'https://example.org/b');
  expect(await trust.isTrusted(inner)).toBe(false);
});

it.each([
  [undefined, undefined, true],
  [undefined, 'https://example.org/b', false],
  ['https://example.org/a', undefined, false],
  ['https://example.org/a', 'https://example.org/a', true],
  ['https://example.org/a', 'https://example.org/b', false],
])('covers, given to a folder of %s, a repository in it of %s: %s', async (outer, nested, covered) => {
  const { folder, inner, trust } = setUp();
  await trust.trust(repositoryIn(folder, outer));
  mkdirSync(join(repositoryIn(inner, nested), 'src'));
  expect(await trust.isTrusted(join(inner, 'src'))).toBe(covered);
  renameSync(join(inner, '.git'), join(inner, 'git'));
  symlinkSync('git', join(inner, '.git'));
  expect(await trust.isTrusted(inner)).toBe(false);
});

it('knows a linked work tree by the origin of its repository', async () => {
  const { inner, trust } = setUp();
  const { git } = temporaryRepository();
  git('remote', 'add', 'origin', 'ssh://git@example.org/a');
  git('worktree', 'add', '--quiet', join(inner, 'tree'));
  const tree = { folder: join(inner, 'tree'), origin: 'ssh://example.org/a' };
  expect(await trust.trust(tree.folder)).toEqual(tree);
  git('remote', 'set-url', 'origin', 'ssh://git@example.org/b');
  expect(await trust.isTrusted(tree.folder)).toBe(false);
});

const tooWide = [homedir(), dirname(homedir()), parse(homedir()).root, '/no/such/folder'];
it.each(tooWide)('is never given to %s', async (wide) => {
  const { trust } = setUp();
  expect(await trust.subjectOf(wide, [])).toMatchObject({ refused: expect.stringMatching(/^(is|holds) /) });
  await expect(trust.trust(wide)).rejects.toMatchObject({ code: 'ARG_INVALID' });
  await expect(trust.always.add(wide, push)).rejects.toMatchObject({ code: 'WRITE_FAILED' });
});

it('keeps answers of "always" beside it', async () => {
  const { folder, inner, trust } = setUp();
  const vitest: GrantWithEffects = {
    act: '["npx","vitest"]',
    words: 'exactly npx vitest',
    effects: ['execute'],
  };
  await trust.always.add(folder, push);
  await trust.always.add(folder, vitest);
  expect([await trust.always.has(inner, push), await trust.isTrusted(inner)]).toEqual([true, false]);
  await trust.trust(folder);
  expect(await trust.always.has(inner, { ...vitest })).toBe(true);
  expect(await trust.always.has(inner, { ...vitest, act: '["npx"]' })).toBe(false);
  repositoryIn(inner, 'https://example.org/b');
  expect(await trust.always.has(inner, push)).toBe(false);
  const words = ['exactly git push origin main', 'exactly npx vitest'];
  expect(await trust.list()).toMatchObject([{ folder, always: words }]);
});

it('uses no answer of "always" for a stronger effect than that it was given for', () => {
  const subset = fc.subarray([...effects], { minLength: 1 });
  return fc.assert(
    fc.asyncProperty(subset, subset, async (agreed, wanted) => {
      const { folder, trust } = setUp();
      await trust.always.add(folder, { ...push, effects: agreed });
      const isCovered = wanted.every((effect) => agreed.includes(effect));
      expect(await trust.always.has(folder, { ...push, effects: wanted })).toBe(isCovered);
    }),
    { numRuns: 40 },
  );
});

it('takes no answer of an earlier form, which covered more, and keeps the trust beside it', async () => {
  const { folder, kept, trust } = setUp();
  await trust.trust(folder);
  const file = join(kept, readdirSync(kept)[0]!);
  const record = JSON.parse(readFileSync(file, 'utf8'));
  const old = [
    { kind: 'action', tool: 'git_push' },
    { kind: 'prefix', program: 'sqlite3', words: ['x.db'] },
  ];
  writeFileSync(file, JSON.stringify({ ...record, always: old }));
  expect([await trust.isTrusted(folder), await trust.list()]).toMatchObject([true, [{ always: [] }]]);
});

it('ignores a damaged file', async () => {
  const { folder, kept, trust } = setUp();
  await trust.trust(folder);
  const file = join(kept, readdirSync(kept)[0]!);
  expect([statSync(kept).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
  for (const damaged of ['{', '{}', JSON.stringify({ project: folder, digest: '', trustedAt: '' })]) {
    writeFileSync(file, damaged);
    expect([await trust.isTrusted(folder), await trust.list()]).toEqual([false, []]);
  }
});

it('keeps what several processes trust at once', async () => {
  const { folder, inner, kept, trust } = setUp();
  const outfile = join(kept, '..', '..', 'trust.cjs');
  buildSync({ entryPoints: ['src/machine/trust/trust.ts'], outfile, bundle: true, platform: 'node' });
  const [file, state] = [outfile, dirname(kept)].map((path) => JSON.stringify(path));
  const program = `require(${file}).createTrust({ folder: ${state} }).trust(process.argv[1])`;
  const folders = [folder, inner, dirname(inner)];
  await Promise.all(folders.map((each) => start(process.execPath, ['--eval', program, each])));
  expect(await trust.list()).toHaveLength(3);
});
