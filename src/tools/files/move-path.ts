import { readdir } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { flag, path } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { mostChangedBytes } from '../../machine/history/failures.ts';
import { refusal, displayPath } from '../../machine/paths/display-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { stepTool } from './change-tool.ts';
import type { FileChange } from './editing/change-files.ts';

const target = also(
  path('New path, or folder with / at its end'),
  'destination destination_path new_path dest dst target',
);

interface Ends {
  readonly from: string;
  readonly to: string;
}

/** As mv does: into the folder, under its name. */
const targetOf = ({ from, to }: Ends): string =>
  to.endsWith('/') || to.endsWith(sep) ? to + basename(from) : to;

/** Moves or renames, never onto something. */
export const movePath = stepTool({
  name: 'move_path',
  title: 'Move or rename',
  description: 'Move or rename a file, link or folder. Never replaces what is there. undo takes it back.',
  params: z.strictObject({
    from: also(path('File, link or folder: src/a.ts'), 'source source_path old_path src path'),
    to: target,
    dry_run: unlisted(flag('Only say whether it can be done')),
  }),
  kind: 'move',
  done: 'Moved',
  subject: (given) => `move ${given.from} to ${targetOf(given)}`,
  paths: (given) => [given.from, targetOf(given)],
  itself: true,
  steps: (given) => [{ path: given.from, movesTo: targetOf(given) }],
});

/** Moves a file, link or folder into the history. */
export const deletePath = stepTool({
  name: 'delete_path',
  title: 'Delete',
  description:
    'Delete a file, a link (not what it names) or a folder with all that is in it. undo brings it back.',
  params: z.strictObject({
    path: also(path('File, link or folder: src/a.ts'), 'file_path target target_file file'),
    dry_run: unlisted(flag('Only say what would go')),
  }),
  kind: 'delete',
  done: 'Deleted',
  subject: (given) => `delete ${given.path}`,
  paths: (given) => [given.path],
  itself: true,
  steps: (given) => [{ path: given.path, isRemoved: true }],
});

const mostFiles = 2000;

/** Copies a file, or a folder with the files in it, never onto something. */
export const copyPath = stepTool({
  name: 'copy_path',
  title: 'Copy',
  description: 'Copy a file, or a folder with its files. Never replaces what is there. undo takes it back.',
  params: z.strictObject({
    from: also(path('File or folder: src/a.ts'), 'source source_path src path'),
    to: target,
  }),
  kind: 'copy',
  done: 'Copied',
  subject: (given) => `copy ${given.from} to ${targetOf(given)}`,
  paths: (given) => [given.from, targetOf(given)],
  steps: copies,
});

/** A new file for each one that is copied. Links are left: they would lead elsewhere from there. */
async function copies({ from, to }: Ends, { workspace }: PlanContext): Promise<FileChange[]> {
  const gate = rooted(workspace);
  const target = targetOf({ from, to });
  const source = await gate.open('any', from);
  await source.handle.close();
  if (source.stat.isFile()) return [copyOf(source.path, target, gate)];
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
    return copyOf(file, join(target, relative(source.path, file)), gate);
  });
}

const copyOf = (file: string, to: string, gate: ReturnType<typeof rooted>): FileChange => ({
  path: to,
  replacesAll: true,
  takesAny: true,
  async propose(before) {
    if (before) throw new ToolcribError('PATH_EXISTS', `${displayPath(to)}: is there already.`);
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
