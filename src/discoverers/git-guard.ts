import type { Effect, Guard, Precautions } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { isOrdinaryConfig } from './git-config.ts';

/**
 * Keys with which a repository names programs to run, or servers to send things to, under names of its own choosing.
 * Keys with fixed names that matter to every action are overridden in git.ts without asking.
 */
const watched =
  '^(blame\\.ignorerevsfile|core\\.(worktree|sshcommand|gitproxy|askpass|alternaterefscommand)' +
  '|(filter|gpg|credential|url|protocol|http)\\..*' +
  '|merge\\..*\\.driver|remote\\..*\\.(uploadpack|receivepack|vcs|proxy|push|fetch|mirror))$';

/** Settings of HTTP that neither send anything elsewhere nor weaken the connection. */
const harmless = /^http\.(.*\.)?(postbuffer|version|maxrequests|lowspeedlimit|lowspeedtime)$/;

/** Reading configuration runs nothing. --show-scope came with git 2.26: an older one fails here, and nothing is run. */
export const gitGuard: Guard = {
  argv: ['config', '--null', '--show-scope', '--get-regexp', watched],
  succeedsWith: [0, 1],
  ordinary: { file: 'config', accepts: isOrdinaryConfig },
  // git asks submodules for their state before it stages or switches, and does so with their configuration.
  nested: {
    effects: ['write'],
    argv: ['ls-files', '--stage', '-z', '--', ':/'],
    folders: (stdout) =>
      stdout.split('\0').flatMap((entry) => /^160000 [^\t]*\t(.+)$/s.exec(entry)?.[1] ?? []),
    marker: '.git',
  },
  read: (stdout, { effects }) => precautionsFor(ownEntries(stdout), effects),
};

interface Entry {
  key: string;
  value: string;
}

/** Entries of the repository itself; those of the user and the machine are the operator's own. */
function ownEntries(stdout: string): Entry[] {
  const parts = stdout.split('\0');
  const entries: Entry[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [scope, entry] = [parts[index] ?? '', parts[index + 1] ?? ''];
    if (scope !== 'local' && scope !== 'worktree') continue;
    const end = entry.indexOf('\n');
    entries.push(
      end < 0 ? { key: entry, value: '' } : { key: entry.slice(0, end), value: entry.slice(end + 1) },
    );
  }
  return entries;
}

function precautionsFor(entries: readonly Entry[], effects: readonly Effect[]): Precautions {
  const argv: string[] = [];
  const notes: string[] = [];
  const set = (key: string, value: string) => {
    // git -c ends the key at the first "=", and would then set another one.
    if (/[=\n]/.test(key)) throw untrusted(key);
    argv.push('-c', `${key}=${value}`);
  };
  const filters = [
    ...new Set(entries.flatMap(({ key }) => /^(filter\..*)\.(?:clean|smudge|process)$/.exec(key)?.[1] ?? [])),
  ];
  for (const filter of filters) {
    for (const stage of ['clean', 'smudge', 'process']) set(`${filter}.${stage}`, '');
    // A required filter without a command is an error.
    set(`${filter}.required`, 'false');
  }
  if (filters.length > 0)
    notes.push(`switched off, since the repository configures them: ${filters.join(', ')}`);
  for (const { key } of entries) {
    // A merge driver that fails leaves a conflict, which is the truth about a file nobody merged.
    if (/^merge\..*\.driver$/.test(key)) set(key, 'false');
    if (/^gpg\..*(?:program|command)$/.test(key)) set(key, 'false');
  }
  if (effects.includes('network')) refuseNetwork(entries);
  // git quotes the first line of a file that is no such list, whatever file that is.
  const list = entries.find(
    ({ key, value }) => key === 'blame.ignorerevsfile' && /^[~/\\]|\.\.|:/.test(value),
  );
  if (list) throw untrusted(list.key);
  return {
    argv,
    notes,
    // A list of one transport that does not exist: reading never fetches.
    env: { GIT_ALLOW_PROTOCOL: effects.includes('network') ? 'https:ssh' : 'none' },
    ...(entries.some(({ key }) => key === 'core.worktree')
      ? { mustBeInside: ['rev-parse', '--show-toplevel'] }
      : {}),
  };
}

const reachesOut =
  /^(core\.(sshcommand|gitproxy|askpass|alternaterefscommand)|(credential|url|protocol|http|remote)\..*)$/;
/** What git itself writes when it clones: branches of the remote go where only remote branches are. */
const ordinaryFetch = /^\+?refs\/(?:heads\/[^:]*:refs\/remotes\/|tags\/[^:]*:refs\/tags\/)/;

function refuseNetwork(entries: readonly Entry[]): void {
  const found = entries.find(
    ({ key, value }) => reachesOut.test(key) && !harmless.test(key) && !isOrdinary(key, value),
  );
  if (found) throw untrusted(found.key);
}

const isOrdinary = (key: string, value: string): boolean =>
  /^remote\..*\.fetch$/.test(key) && ordinaryFetch.test(value);

function untrusted(key: string): ToolcribError {
  return new ToolcribError(
    'REPO_UNTRUSTED',
    `The repository's own configuration sets ${JSON.stringify(key)}, which can run a program, send data elsewhere or overwrite branches.`,
    'Look at it with git config --local --list; if it is yours, move it to your global configuration.',
  );
}
