import { ToolcribError } from '../core/errors.ts';

/** One line of configuration: the key as git prints it, its section and name in lower case. */
export interface Entry {
  readonly key: string;
  readonly value: string;
}

/** What git has read, by whose it is. */
export interface Entries {
  /** Of the repository itself: anybody may have written them. */
  readonly own: readonly Entry[];
  /** Of the user and the machine, in the order in which they count: the operator's own. */
  readonly users: readonly Entry[];
  /** The files that `own` comes from, relative to the top of the work tree: also what they include. */
  readonly files: readonly string[];
}

/** Reads what `git config --null --show-scope --show-origin` prints. */
export function readEntries(stdout: string): Entries {
  const parts = stdout.split('\0');
  const own: Entry[] = [];
  const users: Entry[] = [];
  const files = new Set<string>();
  for (let index = 0; index + 2 < parts.length; index += 3) {
    const [scope = '', origin = '', entry = ''] = parts.slice(index, index + 3);
    // Those of the command line are ours.
    const list = { local: own, worktree: own, global: users, system: users }[scope];
    const end = entry.indexOf('\n');
    list?.push(
      end < 0 ? { key: entry, value: '' } : { key: entry.slice(0, end), value: entry.slice(end + 1) },
    );
    if (list === own && origin.startsWith('file:')) files.add(origin.slice('file:'.length));
  }
  return { own, users, files: [...files] };
}

/** The user's value of a key; the last one counts. */
export const usersValue = ({ users }: Entries, key: string): string | undefined =>
  users.findLast((entry) => entry.key === key)?.value;

/** Arguments that set a key for one run of git. Throws REPO_UNTRUSTED for a key that cannot be set so. */
export function setting(key: string, value: string): string[] {
  // git -c ends the key at the first "=", and would then set another one.
  if (/[=\n]/.test(key)) throw untrusted(key);
  return ['-c', `${key}=${value}`];
}

/** What is said of a key that nothing can be done about. */
export function untrusted(key: string): ToolcribError {
  return new ToolcribError(
    'REPO_UNTRUSTED',
    `The repository's own configuration sets ${JSON.stringify(key)}, which can run a program, send data elsewhere or overwrite branches.`,
    'Look at it with git config --local --list; if it is yours, move it to your global configuration.',
  );
}
