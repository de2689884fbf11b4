import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blame, diff, fetchFrom, log, looksOfGit, show, status } from './acts.ts';
import type { Session } from './session.ts';
import { makeRepository, makeWorld } from './world.ts';

const world = makeWorld({ '.gitattributes': '*.txt diff=evil filter=evil merge=evil\n' });
const inGit = (...path: string[]) => join(world.project, '.git', ...path);
const clean = join(world.home, 'clean.git');
/** A script that leaves a mark, beside the project. */
const evil = join(world.outside, 'evil.sh');
const neighbour = join(world.outside, 'neighbour');
const ofTheNeighbour = 'Subject of the neighbour';
let session: Session;
beforeAll(async () => {
  makeRepository(neighbour, world.env, ofTheNeighbour);
  writeFileSync(evil, world.trap(), { mode: 0o755 });
  writeFileSync(join(world.bin, 'ssh'), `#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n`, {
    mode: 0o755,
  });
  world.write('src/a.txt', 'one\nchanged\n');
  cpSync(inGit(), clean, { recursive: true });
  session = await world.open();
});
beforeEach(() => {
  rmSync(inGit(), { recursive: true, force: true });
  cpSync(clean, inGit(), { recursive: true });
});
afterAll(() => world.end());

/** Reads the index, the work tree, commits and their differences. */
const look = async () => {
  for (const act of [status(), diff(), log(), show(), blame('src/a.txt')]) await session.does(act);
};
const configure = (key: string, value: string) => world.git('config', key, value);

it('looks into an ordinary repository without a question', async () => {
  configure('remote.origin.url', 'https://example.invalid/shop.git');
  configure('branch.main.remote', 'origin');
  configure('pull.rebase', 'true');
  for (const act of looksOfGit()) await session.gets(act);
});

it('uses settings in these tests that make another git run programs', () => {
  configure('core.fsmonitor', evil);
  world.git('status');
  expect(world.sprung()).toBe(true);
  configure('diff.external', evil);
  world.git('diff');
  expect(world.sprung()).toBe(true);
});

describe('the configuration of a repository', () => {
  it.each([
    [['core.fsmonitor']],
    [['core.pager', 'pager.log', 'core.editor', 'sequence.editor']],
    [['diff.external']],
    [['diff.evil.command']],
    [['diff.evil.textconv']],
    [['filter.evil.clean', 'filter.evil.smudge']],
    [['filter.evil.process']],
    [['core.sshCommand', 'core.gitProxy', 'credential.helper', 'core.alternateRefsCommand']],
    [['gpg.program']],
    [['alias.status', 'alias.log', 'alias.diff']],
  ])('runs nothing that it names in %s when somebody looks', async (keys) => {
    for (const key of keys) configure(key, /^(?:alias|credential)/.test(key) ? `!${evil}` : evil);
    if (keys.includes('gpg.program')) configure('log.showSignature', 'true');
    await look();
    expect(world.sprung()).toBe(false);
  });
});

it('runs nothing that a file names which the configuration includes', async () => {
  writeFileSync(
    join(world.outside, 'included'),
    `[core]\n\tfsmonitor = ${evil}\n[diff]\n\texternal = ${evil}\n`,
  );
  for (const key of ['include.path', 'includeIf.gitdir:**.path']) {
    configure(key, join(world.outside, 'included'));
    await look();
  }
  expect(world.sprung()).toBe(false);
});

it('runs no hook when somebody looks, wherever hooks are', async () => {
  const names = ['post-index-change', 'reference-transaction', 'fsmonitor-watchman', 'pre-commit'];
  for (const folder of ['.git/hooks', 'tools/hooks'])
    for (const name of names) world.write(`${folder}/${name}`, world.trap(), 0o755);
  for (const path of ['.git/hooks', 'tools/hooks']) {
    configure('core.hooksPath', path);
    await look();
  }
  rmSync(join(world.project, 'tools'), { recursive: true });
  expect(world.sprung()).toBe(false);
});

describe('a repository that borrows from another one', () => {
  const showsNothing = async () => {
    const tip = world.git('-C', neighbour, 'rev-parse', 'HEAD').trim();
    for (const act of [...looksOfGit(), log(tip), show(tip), diff(tip)])
      expect((await session.does(act)).text).not.toContain(ofTheNeighbour);
  };

  it('shows nothing of it when its objects are alternates', async () => {
    writeFileSync(inGit('objects', 'info', 'alternates'), `${join(neighbour, '.git', 'objects')}\n`);
    await showsNothing();
  });

  it('shows nothing of it when everything is taken by a commondir', async () => {
    writeFileSync(inGit('commondir'), `${join(neighbour, '.git')}\n`);
    writeFileSync(inGit('HEAD'), 'ref: refs/heads/main\n');
    await showsNothing();
  });

  it('shows nothing of it when its .git is a file that leads there', async () => {
    rmSync(inGit(), { recursive: true });
    writeFileSync(inGit(), `gitdir: ${join(neighbour, '.git')}\n`);
    await showsNothing();
  });

  it('shows nothing of it when its folder of objects is a link', async () => {
    rmSync(inGit('objects'), { recursive: true });
    symlinkSync(join(neighbour, '.git', 'objects'), inGit('objects'));
    await showsNothing();
  });

  it('shows nothing of it when its work tree lies there', async () => {
    configure('core.worktree', neighbour);
    for (const act of looksOfGit())
      expect((await session.does(act)).text).not.toMatch(/file\.txt|of the neighbour/);
  });

  it('shows nothing of it when single objects are links', async () => {
    const tip = world.git('-C', neighbour, 'rev-parse', 'HEAD').trim();
    const [folder, file] = [tip.slice(0, 2), tip.slice(2)];
    cpSync(join(neighbour, '.git', 'objects'), inGit('objects'), { recursive: true });
    rmSync(inGit('objects', folder, file));
    symlinkSync(join(neighbour, '.git', 'objects', folder, file), inGit('objects', folder, file));
    await showsNothing();
  });
});

it('refuses to look when it cannot read the whole configuration', async () => {
  writeFileSync(inGit('config'), '[core\n\tfsmonitor = x\n');
  expect((await session.does(status())).refused).toBe(true);
});

it('overwrites no branch, whatever an old file about a remote asks for', async () => {
  world.git('clone', '--quiet', '--bare', neighbour, join(world.outside, 'up.git'));
  const mine = world.git('rev-parse', 'main');
  world.git('branch', 'precious');
  world.write(
    '.git/remotes/origin',
    `URL: ssh://example.invalid${join(world.outside, 'up.git')}\nPull: +refs/heads/main:refs/heads/precious\n`,
  );
  await session.does(fetchFrom('origin'));
  expect(world.git('rev-parse', 'precious')).toBe(mine);
});
