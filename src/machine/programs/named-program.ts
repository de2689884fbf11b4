import { stat } from 'node:fs/promises';
import { basename, posix } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import type { Host } from '../host.ts';
import { rooted } from '../paths/workspace.ts';
import { whichProgram } from './discovery.ts';
import type { SearchPath } from './installation.ts';
import { isExecutable, ownProgram, projectFolders } from './project-folders.ts';

/** A program that a caller has named, and where it was found. */
export interface NamedProgram {
  /** Absolute path of what is started. */
  readonly program: string;
  /** Arguments before all others; see Installation. */
  readonly leading: readonly string[];
  /** For one of the project, which can change: its stamp. */
  readonly digest?: string;
}

interface NameContext {
  readonly folder: string;
  readonly workspace: Workspace;
  readonly host: Host;
  readonly path: SearchPath;
  /** Where projects keep copies of their own: `node_modules/.bin/eslint`. */
  readonly own: readonly string[];
  /** Whether what runs before it may make it: `cc -o hello hello.c && ./hello`. */
  readonly mayBeMade: boolean;
}

/**
 * The program of a name: a copy that the project keeps of one that is known for it, else the one on the machine's own
 * search path, in which no project has a part, else what lies beside such copies; or of a path, which has to lead to an
 * executable file inside the roots. Throws PROGRAM_NOT_FOUND, ARG_INVALID, and what the gate throws.
 */
export const namedProgram = (name: string, where: NameContext): Promise<NamedProgram> =>
  /[\\/]/.test(name) ? programAt(name, where) : programNamed(name, where);

async function programNamed(name: string, where: NameContext): Promise<NamedProgram> {
  const { folder, workspace, host, path, own } = where;
  const copies = own.filter((place) => basename(place).replace(/\.(?:exe|cmd|bat)$/i, '') === name);
  const copy = ownProgram(copies, folder, workspace.roots);
  if (copy !== undefined) return stamped(copy);
  const search = await whichProgram(name, host, path);
  const project = projectFolders(workspace.roots);
  if ('installed' in search && !project.holds(search.installed.program)) {
    const { program, leading } = search.installed;
    return { program, leading };
  }
  // A folder of scripts that people write, such as `bin`, is none that a package manager fills.
  const folders = new Set(own.map((place) => posix.dirname(place)).filter((folder) => folder.includes('/')));
  const endings = host.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  const beside = [...folders].flatMap((folder) => endings.map((ending) => `${folder}/${name}${ending}`));
  const isPlain = /^[\w.+@-]+$/.test(name);
  const found = isPlain ? ownProgram(beside, folder, workspace.roots) : undefined;
  if (found !== undefined) return stamped(found);
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
  // Nobody can set the time of a file's last change of any kind.
  const { dev, ino, size, ctimeMs } = await stat(program);
  return { program, leading: [], digest: [dev, ino, size, ctimeMs].join() };
}
