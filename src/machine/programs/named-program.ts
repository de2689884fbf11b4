import { stat } from 'node:fs/promises';
import { basename, posix } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import type { Host } from '../host.ts';
import { rooted } from '../paths/workspace.ts';
import { whichProgram } from './discovery.ts';
import type { SearchPath } from './installation.ts';
import { isExecutable, ownProgram, projectFolders } from './project-folders.ts';

/** The program that a name in a call stands for. */
export interface NamedProgram {
  /** The absolute path of the file that is started. */
  readonly program: string;
  /** The arguments before all others; see Installation. */
  readonly leading: readonly string[];
  /** The stamp of a program of the project, which can change. */
  readonly digest?: string;
}

interface NameContext {
  readonly folder: string;
  readonly workspace: Workspace;
  readonly host: Host;
  readonly path: SearchPath;
  /** The paths at which projects have copies of their own: `node_modules/.bin/eslint`. */
  readonly own: readonly string[];
  /** True where an earlier command may create it: `cc -o hello hello.c && ./hello`. */
  readonly mayBeMade: boolean;
}

/**
 * Finds the program of a name: the project's copy of a known program, otherwise the one on the machine's
 * search path, in which no project has a part, otherwise a file beside such copies. A path has to lead to an
 * executable file inside the roots. Throws PROGRAM_NOT_FOUND, ARG_INVALID, and what opening a path throws.
 */
export const namedProgram = (name: string, context: NameContext): Promise<NamedProgram> =>
  /[\\/]/.test(name) ? programAt(name, context) : programNamed(name, context);

async function programNamed(name: string, context: NameContext): Promise<NamedProgram> {
  const { folder, workspace, host, path, own } = context;
  const copies = own.filter((file) => basename(file).replace(/\.(?:exe|cmd|bat)$/i, '') === name);
  const copy = ownProgram(copies, folder, workspace.roots);
  if (copy !== undefined) return stamped(copy);
  const search = await whichProgram(name, host, path);
  const project = projectFolders(workspace.roots);
  if ('installed' in search && !project.holds(search.installed.program)) {
    const { program, leading } = search.installed;
    return { program, leading };
  }
  // Package managers do not fill a folder of scripts that people write, such as `bin`.
  const folders = new Set(own.map((file) => posix.dirname(file)).filter((parent) => parent.includes('/')));
  const endings = host.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  const beside = [...folders].flatMap((parent) => endings.map((ending) => `${parent}/${name}${ending}`));
  const isPlain = /^[\w.+@-]+$/.test(name);
  const neighbour = isPlain ? ownProgram(beside, folder, workspace.roots) : undefined;
  if (neighbour !== undefined) return stamped(neighbour);
  const why =
    'why' in search
      ? search.why
      : `${search.installed.program} lies in the project, which must not choose it`;
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `command: ${JSON.stringify(name)} was not found: ${why}.`,
    `One of the project is named by its path, such as ./${basename(name)}.`,
  );
}

async function programAt(name: string, { folder, workspace, mayBeMade }: NameContext): Promise<NamedProgram> {
  const opened = await rooted(workspace)
    .open('file', name, { from: folder })
    .catch((error: unknown) => {
      if (mayBeMade && error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
      throw error;
    });
  if (!opened) {
    const program = await workspace.resolve(name, { from: folder });
    return { program, leading: [], digest: 'not there yet' };
  }
  const { handle, path } = opened;
  await handle.close();
  if (!isExecutable(path))
    throw new ToolcribError(
      'ARG_INVALID',
      `command: ${JSON.stringify(name)} is not executable.`,
      'A script is an argument of the program that reads it.',
    );
  return stamped(path);
}

async function stamped(program: string): Promise<NamedProgram> {
  // Programs can set every time of a file except ctime.
  const { dev, ino, size, ctimeMs } = await stat(program);
  return { program, leading: [], digest: [dev, ino, size, ctimeMs].join() };
}
