import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ProgramTrial } from './types.ts';

const git = (folder: string, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...words], {
    cwd: folder,
    stdio: 'ignore',
  });

/** A repository with two commits, a branch that changes the same line, and a bare one beside it. */
function begin(folder: string) {
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'add', 'a.txt', 'old.txt');
  git(folder, 'commit', '--quiet', '--message=One');
  git(folder, 'init', '--quiet', '--bare', 'far.git');
  git(folder, 'remote', 'add', 'far', './far.git');
  git(folder, 'config', 'user.name', 'Ada');
  git(folder, 'config', 'user.email', 'ada@example.org');
  return Promise.resolve({ env: {}, end: () => undefined });
}

/** Any answer but an error. */
const worked = /^(?![A-Z]+_[A-Z]+: )./;
const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+two\n';
const far = { remote: 'far', branch: 'fix' };

export default [
  {
    program: 'git',
    from: { apt: 'git' },
    start: begin,
    files: { 'a.txt': 'one\n', 'old.txt': 'old\n', '.gitignore': 'far.git\nwork\nkept\n' },
    calls: [
      ['status', {}, /^on main at [\da-f]+; 1 untracked\n\?\? \.gitignore/],
      ['add', { paths: ['.gitignore'] }, /1 staged/],
      ['unstage', { paths: ['.gitignore'] }, /^unstaged\n.*nothing to commit/],
      ['commit', { message: 'Über uns', paths: ['.gitignore'] }, /^1 file changed, 3 insertions/],
      ['apply_patch', { patch, check: true }, /^it fits/],
      ['apply_patch', { patch }, /1 changed/],
      ['diff', {}, /a\.txt \+1 -0|^\+two$/m],
      ['diff', { paths: ['nope'] }, /NOT_FOUND|no such|nope/],
      ['restore', { paths: ['a.txt'] }, /^put back\n.*nothing to commit/],
      ['log', { limit: 1 }, /^1 commit of 2|Über uns/],
      ['show', { ref: 'HEAD' }, /Über uns/],
      ['blame', { path: 'a.txt', lines: '1,1' }, /Ada .* 1\) one/],
      ['grep', { pattern: 'one' }, /a\.txt:1:one/],
      ['files', {}, /\.gitignore\na\.txt\nold\.txt/],
      ['describe', {}, /^[\da-f]{7,}/],
      ['config', {}, /user\.name=Ada/],
      ['set_config', { key: 'user.name', value: 'Grace' }, worked],
      ['note', { message: 'Seen.' }, worked],
      ['create_branch', { branch: 'fix' }, /^created\non fix/],
      ['move', { from: ['old.txt'], to: 'new.txt' }, /renamed|1 staged/],
      ['remove', { paths: ['new.txt'] }, /staged/],
      ['reset', { ref: 'HEAD' }, worked],
      ['reset_hard', { ref: 'HEAD' }, /^HEAD is now at/],
      ['branches', {}, /^2 branches\n\* fix/],
      ['checkout', { branch: 'main' }, /^switched\non main/],
      ['compare', { base: 'fix' }, /0 ahead|same|0 behind/],
      ['rename_branch', { branch: 'fix', to: 'mend' }, worked],
      ['create_branch', { branch: 'try' }, /^created\non try/],
      ['checkout', { branch: 'mend' }, /^switched\non mend/],
      ['discard_branch', { branch: 'try' }, worked],
      ['create_branch', { branch: 'fix' }, /^created\non fix/],
      ['delete_branch', { branch: 'mend' }, worked],
      ['add_remote', { name: 'up', url: 'https://localhost:1/a.git' }, worked],
      ['set_remote_url', { name: 'up', url: 'https://localhost:1/b.git' }, worked],
      ['remotes', {}, /^2 remotes\n[^]*localhost:1\/b\.git/],
      ['push', { ...far, set_upstream: true }, /new branch|fix/],
      ['set_upstream', { upstream: 'far/fix' }, /far\/fix/],
      ['fetch', { remote: 'far' }, worked],
      ['pull', {}, /up to date|fix/],
      ['force_push', far, /fix/],
      ['delete_remote_branch', far, /deleted|fix/],
      ['remove_remote', { name: 'up' }, worked],
      ['tag', { tag: 'v1', message: 'First' }, worked],
      ['tags', {}, /^1 tag\nv1 .*First/],
      ['delete_tag', { tag: 'v1' }, /Deleted tag|no tags/],
      ['reflog', {}, /HEAD@\{0\}/],
      ['submodules', {}, /PATH_NOT_FOUND.*\.gitmodules/],
      ['update_submodules', {}, worked],
      ['worktrees', {}, /fix/],
      ['add_worktree', { folder: 'work', branch: 'beside' }, /beside|work/],
      ['remove_worktree', { folder: 'work' }, worked],
      ['init', { folder: 'kept/new' }, /Initialized|new/],
      ['clone', { url: 'https://localhost:1/a.git', folder: 'kept/clone' }, /PROGRAM_FAILED[^]*localhost/],
      ['format_patch', { from: 'HEAD~1', folder: 'kept/patches' }, /^written/],
      ['bisect_start', { bad: 'HEAD', good: ['HEAD~1'] }, /first bad commit|bisect/i],
      ['bisect', { mark: 'reset' }, worked],
    ],
  },
  {
    program: 'git',
    from: { apt: 'git' },
    start: (folder) => {
      const began = begin(folder);
      const write = (text: string) =>
        execFileSync('tee', ['a.txt'], { cwd: folder, input: text, stdio: 'pipe' });
      git(folder, 'switch', '--quiet', '--create', 'feature');
      write('theirs\n');
      git(folder, 'commit', '--quiet', '--all', '--message=Theirs');
      git(folder, 'switch', '--quiet', 'main');
      write('ours\n');
      git(folder, 'commit', '--quiet', '--all', '--message=Ours');
      execFileSync('touch', [join(folder, 'left.txt')]);
      return began;
    },
    files: { 'a.txt': 'one\n', 'old.txt': 'old\n' },
    calls: [
      ['clean', { paths: ['left.txt'] }, /Removing left\.txt|left\.txt/],
      ['merge', { branch: 'feature' }, /a\.txt[^]*ours[^]*theirs/],
      ['merge', { step: 'abort' }, /main/],
      ['rebase', { branch: 'feature' }, /a\.txt[^]*theirs[^]*ours/],
      ['rebase', { step: 'abort' }, /main/],
      ['cherry_pick', { commits: ['feature'] }, /a\.txt[^]*ours[^]*theirs/],
      ['cherry_pick', { step: 'abort' }, /main/],
      ['revert', { commits: ['HEAD'] }, /Revert "Ours"|reverted|main/],
      ['stash', { untracked: true }, /nothing to commit; 1 stash/],
      ['apply_patch', { patch }, /1 changed/],
      ['stash', { message: 'half' }, /clean|half|0 changed/],
      ['stashes', {}, /^2 stashes\n.*half/],
      ['apply_stash', {}, /1 changed/],
      ['restore', { paths: ['a.txt'] }, /^put back/],
      ['drop_stash', { index: 0 }, /Dropped|no stashes|clean/],
    ],
  },
] satisfies ProgramTrial[];
