import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod';
import { also } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { path } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool } from '../../core/tool.ts';
import { mostChangedBytes } from '../../machine/history/failures.ts';
import { refusal, shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import type { FileChange } from '../editing/change-files.ts';
import { changeTogether } from '../editing/change-together.ts';
import { manyChanged } from '../editing/change-text.ts';
import { planChange } from '../plan-change.ts';
import { fill } from '../reading/text-file.ts';
import type { Services } from '../services.ts';
import { movedTo } from './move-path.ts';

const params = z.strictObject({
  from: also(path('File or folder: src/a.ts'), 'source source_path src path'),
  to: also(path('New path, or folder with / at its end'), 'destination destination_path dest dst target'),
});

const mostFiles = 2000;

/** Copies a file, or a folder with the files in it, never onto something. */
export const copyPath = (services: Services): Tool =>
  defineTool({
    name: 'copy_path',
    program: 'files',
    title: 'Copy',
    description: 'Copy a file, or a folder with its files. Never replaces what is there. undo takes it back.',
    effects: ['write'],
    params,
    plan: (given, context) => {
      const work = { from: given.from, to: movedTo(given), dry_run: false };
      const dryRun = async () => ({ result: { content: [] } });
      return planChange({ verb: 'copy', given: work, paths: [work.from, work.to], dryRun }, context);
    },
    run: async ({ work }, context) => {
      const files = await copies(work, context);
      const changing = { kind: 'copy', call: () => JSON.stringify(work), services, diffCharacters: 0 };
      return manyChanged({ done: 'Copied', steps: await changeTogether(files, changing, context) }).result;
    },
  });

/** A new file for each one that is copied. Links are left: they would lead elsewhere from there. */
async function copies(
  { from, to }: { readonly from: string; readonly to: string },
  { workspace }: PlanContext,
): Promise<FileChange[]> {
  const gate = rooted(workspace);
  const source = await gate.open('any', from);
  await source.handle.close();
  if (source.stat.isFile()) return [copyOf(source.path, to, gate)];
  gate.refuseWhole(from);
  const found = await readdir(source.path, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  if (files.length > mostFiles)
    throw refusal(
      'TOO_LARGE',
      from,
      `holds more than ${mostFiles} files.`,
      'Copy what is in it, folder by folder.',
    );
  return files.map((entry) => {
    const file = join(entry.parentPath, entry.name);
    return copyOf(file, join(to, relative(source.path, file)), gate);
  });
}

const copyOf = (file: string, to: string, gate: ReturnType<typeof rooted>): FileChange => ({
  path: to,
  replacesAll: true,
  takesAny: true,
  async propose(before) {
    if (before) throw new ToolcribError('PATH_EXISTS', `${shownPath(to)}: is there already.`);
    const opened = await gate.open('file', file);
    try {
      const { size } = opened.stat;
      if (size > mostChangedBytes) throw refusal('TOO_LARGE', file, 'is too large to be copied.');
      const bytes = await fill(opened.handle, Buffer.allocUnsafe(size), 0);
      return { bytes, encoding: 'utf-8', notes: [] };
    } finally {
      await opened.handle.close();
    }
  },
});
