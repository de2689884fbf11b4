import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { git } from '../../src/discoverers/git.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { temporaryFolder, temporaryRepository, type Repository } from '../support/repository.ts';

const secret = 'hunter2-from-elsewhere';

/** A repository, and a file beside it that nothing may say anything of. */
function withSecret() {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, `${secret}:x:0:0\n[remote "x"]\n\turl = ${secret}\n`);
  return { repository: temporaryRepository(), file };
}

const looking: [string, Record<string, unknown>][] = [
  ['status', {}],
  ['log', {}],
  ['blame', { path: 'src/a.txt', last: 3 }],
  ['branches', {}],
  ['remotes', {}],
];

async function refusesAll({ folder }: Repository): Promise<void> {
  for (const [name, given] of looking) {
    const said = saidBy(await callAction(git, name, given, { folder }));
    expect(said, name).toMatch(/^(?:REPO_UNTRUSTED|PATH_OUTSIDE_ROOTS)/);
    expect(said, name).not.toContain(secret);
  }
}

it.each([
  'info/grafts',
  'info/attributes',
  'refs/heads/leak',
  'logs/refs/heads/leak',
  'worktrees/a/gitdir',
  'shallow',
])('ATTACK 20: .git/%s that leads elsewhere is not read, and so not quoted', async (path) => {
  const { repository, file } = withSecret();
  const place = join(repository.folder, '.git', path);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(file, place);
  await refusesAll(repository);
  // Inside the repository it is somebody's way of sharing.
  rmSync(place);
  repository.write('.git/shared', '');
  symlinkSync(join(repository.folder, '.git', 'shared'), place);
  const said = saidBy(await callAction(git, 'remotes', {}, { folder: repository.folder }));
  expect(said).not.toContain('REPO_UNTRUSTED');
});

it.each(['blame.ignoreRevsFile', 'mailmap.file', 'fetch.fsck.skipList', 'include.path'])(
  'ATTACK 20: %s does not lead out through a link of the work tree',
  async (key) => {
    const { repository, file } = withSecret();
    symlinkSync(file, join(repository.folder, 'leak'));
    repository.git('config', key, key === 'include.path' ? '../leak' : 'leak');
    if (key === 'include.path') writeFileSync(file, `[remote "x"]\n\turl = https://${secret}/\n`);
    await refusesAll(repository);
    rmSync(join(repository.folder, 'leak'));
    repository.write('leak', '');
    const said = saidBy(
      await callAction(git, 'blame', { path: 'src/a.txt', last: 3 }, { folder: repository.folder }),
    );
    expect(said).toContain('First commit');
  },
);
