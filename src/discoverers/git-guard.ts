import type { Circumstances, Guard, Precautions } from '../core/discoverer.ts';
import { isOrdinaryConfig } from './git-config.ts';
import { driversOff } from './git-drivers.ts';
import { readEntries, setting, untrusted, usersValue, type Entries } from './git-entries.ts';
import { hooksOff } from './git-hooks.ts';
import { unknownOff } from './git-known.ts';
import { refuseDetours, refuseOverwriting, usersTransport } from './git-transport.ts';

/**
 * Reading configuration runs nothing. All of it is read: what nobody here knows is set aside. --show-scope came with git
 * 2.26: an older one fails here, and nothing is run.
 */
export const gitGuard = {
  argv: ['config', '--null', '--show-scope', '--show-origin', '--list'],
  succeedsWith: [0],
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
  refuseElsewhere(entries);
  const around = within.trusted ? readEntries(within.answer).own : [];
  // What is set here counts in the repository around it as well, whose own drivers may run.
  const all = { ...entries, users: [...entries.users, ...around] };
  const { argv, filters } = driversOff(all);
  const off = [...(projectCode.includes('filter') ? filters : []), ...hooksOff(all, projectCode).off];
  return {
    argv: [...argv, ...hooksOff(all, projectCode).argv, ...unknownOff(all)],
    env: {},
    notes: off.length > 0 ? [noteOf(off)] : [],
    ...staysInside(entries),
  };
}

function precautionsFor(entries: Entries, circumstances: Circumstances): Precautions {
  const { effects } = circumstances;
  const network = effects.includes('network');
  refuseElsewhere(entries);
  if (network) refuseOverwriting(entries);
  const always = staysInside(entries);
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

/** git quotes lines of a file that is no such list, whatever file that is. */
const quoted = /^(?:blame\.ignorerevsfile|mailmap\.file|(?:.*\.)?fsck\.skiplist)$/s;

const staysInside = ({ own, files }: Entries): Pick<Precautions, 'mustBeInside' | 'reads'> => ({
  ...(own.some(({ key }) => key === 'core.worktree') && { mustBeInside: ['rev-parse', '--show-toplevel'] }),
  reads: [
    ...files.map((path) => ({ path, says: 'configuration' })),
    ...own.filter(({ key }) => quoted.test(key)).map(({ key, value }) => ({ path: value, says: key })),
  ],
});

const noteOf = (keys: readonly string[]): string =>
  `switched off, since the repository configures them: ${[...new Set(keys)].join(', ')}`;

/** Arguments without which something of the repository would run, and what the caller is told about that. */
function switchedOff(
  entries: Entries,
  { effects, projectCode, hooks }: Circumstances,
): Pick<Precautions, 'argv' | 'notes'> {
  const drivers = driversOff(entries);
  const configured = hooksOff(entries, projectCode);
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
    ...configured.off,
  ];
  return {
    argv: [
      '-c',
      'core.hooksPath=/dev/null',
      ...configured.argv,
      ...drivers.argv,
      ...transport.argv,
      ...attributes,
      ...unknownOff(entries),
    ],
    notes: [
      ...(off.length > 0 ? [noteOf(off)] : []),
      ...(hooks.length > 0
        ? [`hooks that were not run, since nobody has trusted the project: ${hooks.join(', ')}`]
        : []),
    ],
  };
}

/** Throws REPO_UNTRUSTED for what is clearly elsewhere, in one of the ways in which git can write that. */
function refuseElsewhere({ own }: Entries): void {
  const found = own.find(({ key, value }) =>
    key === 'extensions.refstorage'
      ? !/^\w*$/.test(value)
      : quoted.test(key) && /^[~/\\%]|\.\.|:/.test(value),
  );
  if (found) throw untrusted(found.key);
}
