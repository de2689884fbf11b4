import { program } from '../../core/grammar.ts';
import { changing } from './changing.ts';
import { contents } from './contents.ts';
import { inspectRepository } from './inspect.ts';
import { integrating } from './integrating.ts';
import { looking } from './looking.ts';
import { sharing } from './sharing.ts';

const all = { ...looking, ...contents, ...changing, ...integrating, ...sharing };
// What is used most comes first: it is what a list of tools has room for.
const first = ['status', 'diff', 'log', 'show', 'add', 'commit', 'branches', 'checkout'] as const;
const next = ['create_branch', 'pull', 'push', 'stash'] as const;
const usual = Object.fromEntries([...first, ...next].map((key) => [key, all[key]]));

// Nothing that sends, discards, or runs a command that it is given. Long options may be cut: --upl is
// --upload-pack.
const harmful = '(?!.* --(?:disc|exe|forc|ou|str|upl))';
const harmless = '--(?!all|contains|format|list|merged|no-merged|sort|verbose)';
const named = String.raw`(?!.* (?:-\w*[cCdDfFmMu]|${harmless}))`;
const verbs = [
  'add|blame|cherry-pick|commit|describe|diff|fetch|log|ls-files|mv|pull',
  'reflog(?= -|$)|rev-list|rev-parse|revert|shortlog|show|status|bisect(?! run)',
  String.raw`merge(?!.* -\w*s)|rebase(?!.* -\w*[sx])|(?:branch|tag)${named}`,
  String.raw`stash(?= (?:apply|list|pop|push|show|-)|$)|switch(?!.* (?:-\w*[fC]|--f|--di))`,
  String.raw`checkout -b(?!.* (?:-\w*f|--f))`,
];
const everyday = new RegExp(`^(?:--no-pager )?${harmful}(?:${verbs.join('|')})(?: |$)`);

export default program('git', {
  title: 'Git',
  category: 'vcs',
  site: 'https://git-scm.com',
  get: { apt: 'git', brew: 'git', winget: 'Git.Git' },
  version: { args: ['--version'], pattern: /git version (\S+)/ },
  elsewhere: {
    darwin: ['/Library/Developer/CommandLineTools/usr/bin/git'],
    win32: ['%ProgramFiles%\\Git\\cmd\\git.exe', '%LOCALAPPDATA%\\Programs\\Git\\cmd\\git.exe'],
  },
  project: ['.git'],
  everyday: { git: everyday },
  environment: ['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'GNUPGHOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM'],
  settings: {
    // Messages in English: hints are found by what they say.
    LANGUAGE: 'en',
    // Nobody is there to write a message: what git proposes is taken.
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_MERGE_AUTOEDIT: 'no',
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
      says: /no changes added to commit|nothing added to commit/,
      wayOut: 'Nothing is staged: paths=["src"] stages these first, all=true every change of tracked files.',
    },
    {
      says: /unmerged files|you have unmerged|needs merge|unmerged paths|resolve your current index first/,
      wayOut:
        'What is in conflict is to be mended first: git_diff shows both sides; ' +
        'git_integrate action=abort ends what is under way.',
    },
    { says: /bad revision 'HEAD'|does not have any commits/, wayOut: 'There is no commit yet.' },
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
  before: [
    '--no-pager',
    // Names, not patterns. The stronger --literal-pathspecs breaks stash push --include-untracked (git 2.39).
    '--noglob-pathspecs',
    // It would go on in the background after the call.
    ...['-c', 'gc.auto=0', '-c', 'maintenance.auto=false'],
    // Names as they are, and both sides of a conflict without their base.
    ...['-c', 'core.quotePath=false', '-c', 'merge.conflictStyle=merge', '-c', 'advice.detachedHead=false'],
  ],
  inspect: inspectRepository,
  actions: { ...usual, ...all },
  listed: {
    status: { listed: 'first', hint: 'git status, branch, changed files' },
    diff: { listed: 'first', hint: 'show uncommitted changes as a diff' },
    log: { listed: 'yes', hint: 'git history, list commits' },
    show: { listed: 'yes', hint: 'show a commit or an old file' },
    commit: { listed: 'first', hint: 'commit changes, stage files' },
  },
});
