import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Precautions } from '../../core/discoverer.ts';
import type { Workspace } from '../../core/tool.ts';
import { protectedReason } from '../paths/protected-paths.ts';

/** What a person has to be told about files and folders that somebody would be given: one line for each, or nothing. */
export async function handedOut(
  handsOut: NonNullable<Precautions['handsOut']>,
  workspace: Workspace,
): Promise<string[]> {
  const told = await Promise.all(
    handsOut.map(async ({ path, says }) => {
      const why = await whyNot(path, workspace);
      return why === undefined ? [] : [`${says}: ${path} ${why}`];
    }),
  );
  return told.flat();
}

async function whyNot(path: string, workspace: Workspace): Promise<string | undefined> {
  if (!isAbsolute(path)) return '(it cannot be told where that is)';
  // What it leads to is what is given away.
  const real = await realpath(path).catch(() => path);
  const reason = protectedReason(real);
  if (reason) return `(${reason.effect})`;
  try {
    await workspace.resolve(real);
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    return '(outside the folders that are open)';
  }
}
