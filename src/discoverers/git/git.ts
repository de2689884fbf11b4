import { defineDiscoverer } from '../../core/discoverer.ts';
import { changing } from './changing.ts';
import { contents } from './contents.ts';
import { inspectRepository } from './inspect.ts';
import { looking } from './looking.ts';

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
    // Messages in English: hints are found by what they say.
    LANGUAGE: 'en',
  },
  hints: [
    {
      // A name of no remote is taken for a path.
      says: /does not appear to be a git repository/,
      wayOut: 'There is no remote of that name, or nothing at its address; git_remotes lists them.',
    },
    {
      says: /transport '.*' not allowed|lazy fetching disabled/,
      wayOut: 'An object is missing here, and looking never fetches; git_fetch may bring it.',
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
  // After trust, git is git: what else is switched off where it only looks stands in inspect.ts.
  hardening: [
    '--no-pager',
    // Names, not patterns. The stronger --literal-pathspecs breaks stash push --include-untracked (git 2.39).
    '--noglob-pathspecs',
    // It would go on in the background after the call.
    '-c',
    'gc.auto=0',
    '-c',
    'maintenance.auto=false',
  ],
  inspect: inspectRepository,
  actions: { ...looking, ...contents, ...changing },
});
