import { defineDiscoverer } from '../core/discoverer.ts';
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
  },
  ceiling: 'GIT_CEILING_DIRECTORIES',
  // What a repository's own configuration could otherwise have git run, whatever the action. Drivers with names of
  // the repository's choosing are found and switched off by the guard.
  hardening: [
    '--no-pager',
    // Looking must not write: no refresh of the index on the way.
    '--no-optional-locks',
    '--literal-pathspecs',
    '-c',
    'core.fsmonitor=false',
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'safe.bareRepository=explicit',
    '-c',
    'log.showSignature=false',
    '-c',
    'submodule.recurse=false',
    '-c',
    'gc.auto=0',
    '-c',
    'maintenance.auto=false',
  ],
  guard: gitGuard,
  actions: { ...looking, ...changing },
});
