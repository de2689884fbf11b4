import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import type { Host } from '../host.ts';
import { rooted } from '../paths/workspace.ts';
import { whichProgram } from './discovery.ts';
import type { SearchPath } from './installation.ts';
import { isExecutable } from './is-executable.ts';
import { projectFolders } from './project-folders.ts';

/** A program that a caller has named, and where it was found. */
export interface NamedProgram {
  /** Absolute path of what is started. */
  readonly program: string;
  /** Arguments before all others; see Installation. */
  readonly leading: readonly string[];
  /** For one of the project, which can change: its stamp. */
  readonly digest?: string;
}

interface Where {
  readonly folder: string;
  readonly workspace: Workspace;
  readonly host: Host;
  readonly path: SearchPath;
}

/**
 * The program of a name on the machine's own search path, in which no project has a part; or of a path, which has to
 * lead to an executable file inside the roots. Throws PROGRAM_NOT_FOUND, ARG_INVALID, and what the gate throws.
 */
export const namedProgram = (name: string, where: Where): Promise<NamedProgram> =>
  /[\\/]/.test(name) ? programAt(name, where) : programNamed(name, where);

async function programNamed(name: string, { workspace, host, path }: Where): Promise<NamedProgram> {
  const search = await whichProgram(name, host, path);
  if (!('installed' in search))
    throw new ToolcribError(
      'PROGRAM_NOT_FOUND',
      `program: ${JSON.stringify(name)} was not found: ${search.why}.`,
      `One of the project is named by its path, such as ./${basename(name)}.`,
    );
  const { program, leading } = search.installed;
  const project = await projectFolders(workspace.roots);
  if (await project.holds(program))
    throw new ToolcribError(
      'PROGRAM_NOT_FOUND',
      `program: ${program} lies in the project, which must not choose what ${JSON.stringify(name)} is.`,
      'Name it by its path if it is meant.',
    );
  return { program, leading };
}

async function programAt(name: string, { folder, workspace }: Where): Promise<NamedProgram> {
  const { handle, path } = await rooted(workspace).open('file', name, { from: folder });
  await handle.close();
  if (!(await isExecutable(path)))
    throw new ToolcribError(
      'ARG_INVALID',
      `program: ${JSON.stringify(name)} is not executable.`,
      'A script is an argument of the program that reads it.',
    );
  // Nobody can set the time of a file's last change of any kind.
  const { dev, ino, size, ctimeMs } = await stat(path);
  return { program: path, leading: [], digest: [dev, ino, size, ctimeMs].join() };
}
