import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Settings } from '../../core/settings.ts';
import { createProjectConfigs } from '../../machine/config/project-config.ts';
import type { Host } from '../../machine/host.ts';
import { ToolcribError } from '../../core/errors.ts';
import { intersection, isInside } from '../../machine/paths/inside.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import type { RootedWorkspace } from '../../machine/paths/workspace.ts';
import type { ProgramFacts } from '../../machine/programs/installation.ts';
import { log } from '../log.ts';
import { namesIn } from '../../machine/catalogue.ts';
import type { Environment } from '../../machine/environment.ts';

/**
 * The folders a call may touch. A client can narrow what the operator gave and never widen it. Without an
 * operator's word the client's is taken, then CLAUDE_PROJECT_DIR, then the working folder if it looks like a
 * project; but never a folder so wide that it holds the whole home folder. Throws NO_ROOTS when the
 * operator's and the client's have nothing in common. `operator`: from --root, empty when none was given.
 * `client`: as file: addresses; undefined when it does not say.
 */
export async function effectiveRoots(
  operator: readonly string[],
  client: readonly string[] | undefined,
  host: Host,
  programs: readonly ProgramFacts[],
): Promise<string[]> {
  const workingFolder = process.cwd();
  const named = (client ?? []).map(folderOf).filter((folder) => folder !== undefined);
  if (operator.length > 0) {
    const ceiling = await realFolders(operator.map((folder) => resolve(folder)));
    if (client === undefined) return ceiling;
    const wanted = await realFolders(named);
    const both = intersection(ceiling, wanted);
    if (both.length === 0) throw nothingInBoth(operator, wanted.length > 0 ? wanted : client);
    return both;
  }
  const home = await realpath(host.home).catch(() => host.home);
  const narrow = (folders: readonly string[]) => folders.filter((folder) => !isInside(home, folder));
  if (named.length > 0) return narrow(await realFolders(named));
  const launched = host.env['CLAUDE_PROJECT_DIR'];
  if (launched && isAbsolute(launched)) return narrow(await realFolders([launched]));
  return (await looksLikeProject(workingFolder, host, programs))
    ? narrow(await realFolders([workingFolder]))
    : [];
}

function folderOf(address: string): string | undefined {
  try {
    return fileURLToPath(address);
  } catch {
    // Not a file: address; a folder elsewhere is none we could open.
    return undefined;
  }
}

/** The real paths of those that are there. */
const realFolders = async (folders: readonly string[]): Promise<string[]> => {
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  return [...new Set(real.filter((folder) => folder !== undefined))];
};

/** With both lists: another --root is not what is missing. */
function nothingInBoth(operator: readonly string[], client: readonly string[]): ToolcribError {
  const listed = (folders: readonly string[]) => folders.map(displayPath).join(', ');
  return new ToolcribError(
    'NO_ROOTS',
    `The server was given ${listed(operator)}, and the client has opened ${listed(client)}: ` +
      'nothing is in both.',
    'Open one of the first in the client, or start the server without --root and "roots": ' +
      'then the client decides.',
  );
}

/**
 * Hosts start servers anywhere, also in `/` or their own folder, so only a folder with a project's marks
 * counts.
 */
async function looksLikeProject(
  folder: string,
  host: Host,
  programs: readonly ProgramFacts[],
): Promise<boolean> {
  if (dirname(folder) === folder) return false;
  const signs = programs.flatMap(({ project = [] }) => project);
  const marks = new Set([...signs.filter((sign) => typeof sign === 'string'), '.git', 'README.md']);
  const names = await host.list(folder);
  const marked = names.filter((name) => marks.has(name));
  const facts = await Promise.all(marked.map((name) => host.stat(join(folder, name))));
  return facts.some((found) => found !== undefined);
}

/** The roots of a call, and the settings in force there. */
export interface OpenedRoots {
  readonly workspace: RootedWorkspace;
  readonly settings: Settings;
}

/** Opens the folders that a call may touch, given those that the client has opened. */
export type OpenRoots = (client: readonly string[] | undefined) => Promise<OpenedRoots>;

/**
 * The folders a call may touch, given what the client has said, and what holds there: opened once for all
 * calls that have the same.
 */
export function createRootOpener(
  settings: Settings,
  { host, catalogue }: Pick<Environment, 'host' | 'catalogue'>,
): OpenRoots {
  const projects = createProjectConfigs(() => Promise.resolve(namesIn(catalogue)));
  const found = new Map<string, { readonly roots: readonly string[]; readonly around: readonly string[] }>();
  const opened = new Map<string, RootedWorkspace>();
  /** Problems with settings that the log has already. */
  const told = new Set<string>();
  const look = async (client: readonly string[] | undefined) => ({
    roots: await effectiveRoots(settings.roots, client, host, catalogue.programs),
    // Also where the client has opened a folder below a root of the operator's.
    around: await realFolders(settings.roots),
  });
  return async (client: readonly string[] | undefined) => {
    const asked = JSON.stringify(client ?? null);
    const { roots, around } = found.get(asked) ?? (await look(client));
    // A folder that is no project yet may be one with the next call.
    if (roots.length > 0) found.set(asked, { roots, around });
    // A project's own settings can change at any time.
    const { roots: narrowed, settings: there } = await projects.inForce(settings, roots, around);
    if (there.unreadable !== undefined && !told.has(there.unreadable)) {
      told.add(there.unreadable);
      log(there.unreadable);
    }
    const key = JSON.stringify([narrowed, there.rules]);
    const known = opened.get(key);
    if (known) return { workspace: known, settings: there };
    const { openWorkspace } = await import('../../machine/paths/workspace.ts');
    const workspace = await openWorkspace(narrowed, { rules: there.rules });
    opened.set(key, workspace);
    return { workspace, settings: there };
  };
}
