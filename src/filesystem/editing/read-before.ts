import { ToolcribError } from '../../core/errors.ts';
import type { Before } from '../../machine/history/existing-file.ts';
import { sha256 } from '../../machine/history/log.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import type { RootedWorkspace } from '../../machine/paths/workspace.ts';

/** All of a file that would be changed; undefined when there is none. Throws what opening throws, and TOO_LARGE. */
export async function readBefore(
  path: string,
  workspace: RootedWorkspace,
  mostBytes: number,
): Promise<Before | undefined> {
  const opened = await workspace.openFile(path).catch((error: unknown) => {
    if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
    throw error;
  });
  if (!opened) return undefined;
  const { handle, stat } = opened;
  try {
    if (stat.size > mostBytes)
      throw new ToolcribError(
        'TOO_LARGE',
        `${shownPath(path)}: has ${stat.size.toLocaleString('en')} bytes.`,
      );
    const bytes = await handle.readAll();
    return { bytes, stat, hash: async () => sha256(bytes) };
  } finally {
    await handle.close();
  }
}
