import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import { rooted } from '../paths/workspace.ts';

/** Settings that a person wrote are not larger. */
const mostBytes = 1024 * 1024;

/**
 * The text of a file of the project, undefined when there is none. Through the gate: what is no plain file inside the roots
 * cannot be looked at, and is refused with what the gate throws; TOO_LARGE beyond 1 MB.
 */
export async function textIn(path: string, workspace: Workspace): Promise<string | undefined> {
  const opened = await rooted(workspace)
    .openFile(path)
    .catch((error: unknown) => {
      if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
      throw error;
    });
  if (!opened) return undefined;
  try {
    if (opened.stat.size > mostBytes)
      throw new ToolcribError('TOO_LARGE', `${path}: is too large to be checked.`);
    return (await opened.handle.readAll()).toString('utf8');
  } finally {
    await opened.handle.close();
  }
}
