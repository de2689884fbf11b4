import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod';
import { also } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { path } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { mostChangedBytes } from '../../machine/history/failures.ts';
import { displayPath, refusal } from '../../machine/paths/display-path.ts';
import { rooted, type RootedWorkspace } from '../../machine/paths/workspace.ts';
import { stepTool } from './change-tool.ts';
import type { FileChange } from './editing/change-files.ts';
import { targetOf, targetParam, type MoveEnds } from './editing/move-target.ts';

const mostFiles = 2000;

/** Copies a file, or a folder with the files in it; never onto something that exists. */
export default stepTool({
  name: 'copy_path',
  title: 'Copy',
  description: 'Copy a file, or a folder with its files. Never replaces what is there. undo takes it back.',
  listed: 'no',
  params: z.strictObject({
    from: also(path('File or folder: src/a.ts'), 'source source_path src path'),
    to: targetParam,
  }),
  kind: 'copy',
  done: 'Copied',
  subject: (values) => `copy ${values.from} to ${targetOf(values)}`,
  paths: (values) => [values.from, targetOf(values)],
  steps: copySteps,
});

/**
 * The steps of a copy: a new file for each file. Links are left out, as they could lead elsewhere from there.
 */
async function copySteps({ from, to }: MoveEnds, { workspace }: PlanContext): Promise<FileChange[]> {
  const gate = rooted(workspace);
  const target = targetOf({ from, to });
  const source = await gate.open('any', from);
  await source.handle.close();
  if (source.stat.isFile()) return [copyFile(source.path, target, gate)];
  gate.refuseWhole(from);
  const entries = await readdir(source.path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  if (files.length > mostFiles)
    throw refusal(
      'TOO_LARGE',
      from,
      `holds more than ${mostFiles} files.`,
      'Copy what is in it, folder by folder.',
    );
  return files.map((entry) => {
    const file = join(entry.parentPath, entry.name);
    return copyFile(file, join(target, relative(source.path, file)), gate);
  });
}

const copyFile = (file: string, target: string, gate: RootedWorkspace): FileChange => ({
  path: target,
  replacesAll: true,
  allowsUnseen: true,
  async propose(before) {
    if (before) throw new ToolcribError('PATH_EXISTS', `${displayPath(target)}: is there already.`);
    const opened = await gate.open('file', file);
    try {
      const { size } = opened.stat;
      if (size > mostChangedBytes) throw refusal('TOO_LARGE', file, 'is too large to be copied.');
      return { bytes: await opened.handle.read(0, size), encoding: 'utf-8', notes: [] };
    } finally {
      await opened.handle.close();
    }
  },
});
