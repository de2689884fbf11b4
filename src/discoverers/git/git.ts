import { defineDiscoverer } from '../core/discoverer.ts';
import { contents } from './git-contents.ts';
import { gitGuard } from './git-guard.ts';
import { changing } from './git-changing.ts';
import { looking } from './git-looking.ts';

export const git = defineDiscoverer({
  id: 'git',
  title: 'Git',
  category: 'vcs',
  homepage: 'https://git-scm.com',
  programs: ['git'],
  version: { args: ['--version'], pattern: /git version (\S+)/ },
  elsewhere: {
    darwin: ['/Library/Developer/CommandLineTools/usr/bin/git'],
    win32: ['%ProgramFiles%\\Git\\cmd\\git.exe', '%LOCALAPPDATA%\\Programs\\Git\\cmd\\git.exe'],
  },
  install: {
    linux: 'sudo apt install git (or dnf, pacman, zypper)',
    darwin: 'xcode-select --install, or brew install git',
    win32: 'winget install Git.Git',
  },
  signals: { folders: ['.git'] },
  environment: ['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'GNUPGHOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM'],
  settings: {
    GIT_EDITOR: ':',
    GIT_SEQUENCE_EDITOR: ':',
    // Set but empty: neither core.askPass nor SSH_ASKPASS is consulted.
    GIT_ASKPASS: '',
    // A promisor remote would be asked for missing objects, by a program the repository names.
    GIT_NO_LAZY_FETCH: '1',
    GIT_MERGE_AUTOEDIT: 'no',
    // Messages in English: hints are found by what they say.
    LANGUAGE: 'en',
  },
  ceiling: 'GIT_CEILING_DIRECTORIES',
  hints: [
    {
      says: /not a git repository/,
      wayOut:
        'There is no repository between this folder and its root. If it begins above the root, the server has to be started with --root at its top.',
    },
    {
      // A name of no remote is taken for a path.
      says: /transport 'file' not allowed/,
      wayOut:
        'There is no remote of that name, or its address is a folder, and only https and ssh are used; git_remotes lists them.',
    },
    {
      says: /transport '.*' not allowed/,
      wayOut: 'Only https and ssh are used; git_remotes tells whether there is such a remote.',
    },
    {
      says: /tell me who you are|unable to auto-detect email/i,
      wayOut: 'Set user.name and user.email with git config --global.',
    },
    {
      says: /no upstream branch|no tracking information/,
      wayOut: 'git_push with set_upstream gives it one.',
    },
    {
      says: /needs? a single revision|unknown revision|bad revision|invalid reference/,
      wayOut: 'git_branches, git_tags and git_log have the names there are.',
    },
    {
      says: /could not read (Username|Password)|Permission denied \(publickey|terminal prompts disabled/,
      wayOut:
        'git has no credentials for this remote, and cannot ask. Set up a credential helper or an ssh agent.',
    },
  ],
  // What a repository's own configuration could otherwise have git run, whatever the action. Hooks, and drivers with
  // names of the repository's choosing, are found and switched off by the guard.
  hardening: [
    '--no-pager',
    // Looking must not write: no refresh of the index on the way.
    '--no-optional-locks',
    // Names, not patterns. The stronger --literal-pathspecs breaks stash push --include-untracked (git 2.39).
    '--noglob-pathspecs',
    '-c',
    'core.fsmonitor=false',
    '-c',
    'safe.bareRepository=explicit',
    '-c',
    'log.showSignature=false',
    '-c',
    'submodule.recurse=false',
    '-c',
    // git diff would write the index in spite of --no-optional-locks.
    'diff.autoRefreshIndex=false',
    '-c',
    // The other forms start another git inside the submodule, without these settings.
    'diff.submodule=short',
    '-c',
    'gc.auto=0',
    '-c',
    'maintenance.auto=false',
  ],
  repository: {
    folder: '.git',
    // Hooks are not written, and often are a link to where they are shared.
    written: {
      deep: ['logs', 'refs', 'info', 'rr-cache', 'worktrees', 'modules'],
      leave: ['hooks'],
      bulk: ['objects'],
    },
  },
  guard: gitGuard,
  actions: { ...looking, ...contents, ...changing },
});
