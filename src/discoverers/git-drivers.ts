import { setting, untrusted, usersValue, type Entries } from './git-entries.ts';

/** What signs, where neither the user nor the repository says so. */
const usualSigners: Readonly<Record<string, string>> = {
  'gpg.program': 'gpg',
  'gpg.openpgp.program': 'gpg',
  'gpg.x509.program': 'gpgsm',
  'gpg.ssh.program': 'ssh-keygen',
  'gpg.ssh.defaultkeycommand': '',
};

/** Arguments with which none of the repository's drivers runs, and the names of those there are. */
export interface DriversOff {
  readonly argv: readonly string[];
  readonly filters: readonly string[];
  readonly merges: readonly string[];
  readonly signers: readonly string[];
}

/**
 * Switches off drivers that the repository configures. Where the user has one of the same name (git-lfs), that one
 * stays. Throws REPO_UNTRUSTED for what has no name that can be overridden, and for programs that git-lfs would run.
 */
export function driversOff(entries: Entries): DriversOff {
  const stages = keysOf(entries, /^filter\..*\.(?:clean|smudge|process)$/);
  const filters = [...new Set(stages.map((key) => key.slice(0, key.lastIndexOf('.'))))];
  const merges = keysOf(entries, /^merge\..*\.driver$/);
  const signers = keysOf(entries, /^gpg\..*(?:program|command)$/);
  refuseExtensions(entries);
  return {
    argv: [
      // Only those that are there: with an empty `process` git does not look for the others, which may be the user's.
      ...stages.flatMap((key) => setting(key, usersStage(key, entries))),
      // A required filter without a command is an error.
      ...filters.flatMap((filter) =>
        setting(`${filter}.required`, usersValue(entries, `${filter}.required`) ?? 'false'),
      ),
      // A merge driver that fails leaves a conflict, which is the truth about a file nobody merged.
      ...merges.flatMap((key) => setting(key, usersValue(entries, key) ?? 'false')),
      ...signers.flatMap((key) => setting(key, signerFor(key, entries))),
    ],
    filters,
    merges,
    signers,
  };
}

/** Keys of the repository that say something else than the user does (`git lfs install --local` says the same again). */
const keysOf = (entries: Entries, pattern: RegExp): string[] => [
  ...new Set(
    entries.own
      .filter(({ key, value }) => pattern.test(key) && value !== usersValue(entries, key))
      .map(({ key }) => key),
  ),
];

/** Throws REPO_UNTRUSTED where an empty `process` would keep git from the user's own commands of the same filter. */
function usersStage(key: string, entries: Entries): string {
  const users = usersValue(entries, key);
  const filter = key.slice(0, key.lastIndexOf('.'));
  const others = [`${filter}.clean`, `${filter}.smudge`].some((other) => usersValue(entries, other));
  if (users === undefined && key.endsWith('.process') && others) throw untrusted(key);
  return users ?? '';
}

/** Two keys are names of one setting, and the later one would win over what the user has set by the other. */
function signerFor(key: string, entries: Entries): string {
  const twin = { 'gpg.program': 'gpg.openpgp.program', 'gpg.openpgp.program': 'gpg.program' }[key];
  const users = usersValue(entries, key) ?? (twin === undefined ? undefined : usersValue(entries, twin));
  return users ?? usualSigners[key] ?? 'false';
}

const extensions = /^lfs\.(?:.*\.)?(?:extension|customtransfer|standalonetransferagent)/s;

/** The user's own git-lfs asks the repository which further programs to run. */
function refuseExtensions({ own, users }: Entries): void {
  const found = own.find(({ key }) => extensions.test(key));
  if (found && users.some(({ key }) => /^filter\..*\.(?:clean|smudge|process)$/.test(key)))
    throw untrusted(found.key);
}
