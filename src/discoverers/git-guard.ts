import type { Circumstances, Guard, Precautions } from '../core/discoverer.ts';
import { isOrdinaryConfig } from './git-config.ts';
import { driversOff } from './git-drivers.ts';
import { readEntries, setting, untrusted, usersValue, type Entries } from './git-entries.ts';
import { refuseDetours, refuseOverwriting, usersTransport } from './git-transport.ts';

/**
 * Keys with which a repository names programs to run, files to read, or servers to send things to. Those with fixed
 * names that matter to every action are overridden in git.ts without asking, and are here to be told about.
 */
const watched =
  '^(blame\\.ignorerevsfile|mailmap\\.file|fetch\\.bundleuri|(.*\\.)?fsck\\.skiplist|ssh\\.variant|diff\\.external' +
  '|core\\.(worktree|sshcommand|gitproxy|askpass|alternaterefscommand|attributesfile|fsmonitor|hookspath)' +
  '|(filter|gpg|credential|url|protocol|http)\\..*|lfs\\.(.*\\.)?(extension|customtransfer|standalonetransferagent).*' +
  '|diff\\..*\\.(textconv|command)|merge\\..*\\.driver' +
  '|remote\\..*\\.(uploadpack|receivepack|vcs|proxy|push|fetch|mirror))$';

/** Reading configuration runs nothing. --show-scope came with git 2.26: an older one fails here, and nothing is run. */
export const gitGuard = {
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
  hooks: {
    folder: 'hooks',
    elsewhere(stdout) {
      const { own, users } = readEntries(stdout);
      return [...users, ...own].findLast(({ key }) => key === 'core.hookspath')?.value;
    },
  },
  read(stdout, circumstances) {
    const entries = readEntries(stdout);
    return circumstances.within
      ? precautionsForNested(entries, circumstances, circumstances.within)
      : precautionsFor(entries, circumstances);
  },
} satisfies Guard;

/** git starts itself in submodules with the arguments it was given, and asks for nothing but their state. */
function precautionsForNested(
  entries: Entries,
  { projectCode }: Circumstances,
  within: NonNullable<Circumstances['within']>,
): Precautions {
  refuseOtherFiles(entries);
  const around = within.trusted ? readEntries(within.answer).own : [];
  // What is set here counts in the repository around it as well, whose own drivers may run.
  const { argv, filters } = driversOff({ own: entries.own, users: [...entries.users, ...around] });
  return {
    argv,
    env: {},
    notes: projectCode.includes('filter') && filters.length > 0 ? [noteOf(filters)] : [],
    ...workTreeInside(entries),
  };
}

function precautionsFor(entries: Entries, circumstances: Circumstances): Precautions {
  const { effects } = circumstances;
  const network = effects.includes('network');
  refuseOtherFiles(entries);
  if (network) refuseOverwriting(entries);
  const always = workTreeInside(entries);
  // Looking runs nothing, wherever it is: that it does not is what hosts are told.
  if (circumstances.trusted && effects.some((effect) => effect !== 'read')) {
    return {
      argv: [],
      notes: [],
      env: { GIT_ALLOW_PROTOCOL: transports, GIT_NO_LAZY_FETCH: '0' },
      ...always,
    };
  }
  if (network) refuseDetours(entries);
  return {
    ...switchedOff(entries, circumstances),
    // A list of one transport that does not exist: reading never fetches.
    env: { GIT_ALLOW_PROTOCOL: network ? transports : 'none' },
    ...always,
  };
}

const transports = 'https:ssh';

const workTreeInside = ({ own }: Entries): Pick<Precautions, 'mustBeInside'> =>
  own.some(({ key }) => key === 'core.worktree') ? { mustBeInside: ['rev-parse', '--show-toplevel'] } : {};

const noteOf = (keys: readonly string[]): string =>
  `switched off, since the repository configures them: ${[...new Set(keys)].join(', ')}`;

/** Arguments without which something of the repository would run, and what the caller is told about that. */
function switchedOff(
  entries: Entries,
  { effects, projectCode, hooks }: Circumstances,
): Pick<Precautions, 'argv' | 'notes'> {
  const drivers = driversOff(entries);
  // What only reads never reaches another machine, nor does what it starts.
  const transport = effects.every((effect) => effect === 'read')
    ? { argv: [], off: [] }
    : usersTransport(entries);
  const attributes = entries.own.some(({ key }) => key === 'core.attributesfile')
    ? setting('core.attributesFile', usersValue(entries, 'core.attributesfile') ?? '~/.config/git/attributes')
    : [];
  const named = (kind: string, pattern: RegExp) =>
    projectCode.includes(kind) ? entries.own.flatMap(({ key }) => (pattern.test(key) ? [key] : [])) : [];
  const off = [
    ...(projectCode.includes('filter') ? drivers.filters : []),
    ...named('fsmonitor', /^core\.fsmonitor$/),
    ...named('diff', /^diff\.(?:external|.*\.(?:textconv|command))$/),
    ...(projectCode.includes('merge') ? drivers.merges : []),
    ...(projectCode.includes('sign') ? drivers.signers : []),
    ...(projectCode.includes('transport') ? transport.off : []),
    ...(attributes.length > 0 ? ['core.attributesfile'] : []),
  ];
  return {
    argv: ['-c', 'core.hooksPath=/dev/null', ...drivers.argv, ...transport.argv, ...attributes],
    notes: [
      ...(off.length > 0 ? [noteOf(off)] : []),
      ...(hooks.length > 0
        ? [`hooks that were not run, since nobody has trusted the project: ${hooks.join(', ')}`]
        : []),
    ],
  };
}

/** git quotes lines of a file that is no such list, whatever file that is. */
function refuseOtherFiles({ own }: Entries): void {
  const found = own.find(
    ({ key, value }) =>
      /^(?:blame\.ignorerevsfile|mailmap\.file|(?:.*\.)?fsck\.skiplist)$/.test(key) &&
      /^[~/\\%]|\.\.|:/.test(value),
  );
  if (found) throw untrusted(found.key);
}
