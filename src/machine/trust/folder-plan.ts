import { join } from 'node:path';
import { foldName } from '../paths/protected-paths.ts';
import type { RunsFinder } from './find-runs.ts';
import type { FolderEntries } from './folder-entries.ts';
import type { Breathe } from './run-file.ts';
import { gitHook, gitSettings, type Runs } from './runs.ts';

/** A folder that is to be looked into. */
export interface Step {
  /** From the project, with `/`; empty for itself. */
  readonly path: string;
  /** Its real path, which is another one when a link led here. */
  readonly real: string;
  /** The path folded, with a slash before each name. */
  readonly folded: string;
  readonly depth: number;
  /** Set when all in it decides the same. */
  readonly whole?: Runs | undefined;
  /** Whether it is a folder of git's, in which other names count. */
  readonly git?: boolean;
}

/** What is to be done about what is in a folder, links apart. */
export interface Plan {
  readonly step: Step;
  readonly files: readonly { readonly path: string; readonly real: string; readonly found: Runs }[];
  readonly steps: readonly Step[];
  /** Paths of the folders in it that are not looked into. */
  readonly leftOut: readonly string[];
  /** Whether it is such a folder itself, by what is in it. */
  readonly isLeftOut: boolean;
}

/** A `.git` that is a file: in a work tree of its own, or a submodule. */
export const gitPointer: Runs = { what: 'where the repository is', paths: ['.git'] };

export const pathIn = ({ path }: Step, name: string): string => (path === '' ? name : `${path}/${name}`);

/** By the names alone. */
export async function planFor(
  step: Step,
  entries: FolderEntries,
  finder: RunsFinder,
  breathe: Breathe,
): Promise<Plan> {
  const isPlain = !step.git && !step.whole;
  const isLeftOut =
    isPlain && step.path !== '' && entries.files.some((name) => finder.leavesOut(foldName(name)));
  if (isLeftOut) return { step, files: [], steps: [], leftOut: [], isLeftOut };
  const files: Plan['files'][number][] = [];
  for (const name of entries.files) {
    const found = runsOf(step, name, finder);
    if (found) files.push({ path: pathIn(step, name), real: join(step.real, name), found });
    await breathe();
  }
  const bare = !step.git && isBare(entries);
  const steps: Step[] = bare ? [{ ...step, git: true, whole: undefined }] : [];
  const leftOut: string[] = [];
  for (const name of entries.folders) {
    await breathe();
    if (bare && finder.isGitData(name)) continue;
    const next = stepInto(step, name, join(step.real, name), finder);
    if (next) steps.push(next);
    else if (isPlain) leftOut.push(pathIn(step, name));
  }
  return { step, files, steps, leftOut, isLeftOut };
}

/** What git takes for a repository when it is asked in there. */
const isBare = ({ files, folders }: FolderEntries): boolean =>
  files.includes('HEAD') && folders.includes('objects') && folders.includes('refs');

/** What a file in a folder decides; undefined for one that does not count. */
export function runsOf(step: Step, name: string, finder: RunsFinder): Runs | undefined {
  // git ships examples under such names, and runs none of them.
  if (step.whole) return step.whole === gitHook && name.endsWith('.sample') ? undefined : step.whole;
  if (step.git) return gitSettings.paths.includes(foldName(name)) ? gitSettings : undefined;
  return foldName(name) === '.git' ? gitPointer : finder.fileIn(step.folded, name);
}

/** How a folder in a folder is looked into; undefined when it is not. */
export function stepInto(step: Step, name: string, real: string, finder: RunsFinder): Step | undefined {
  const folded = foldName(name);
  const next = { path: pathIn(step, name), real, folded: `${step.folded}/${folded}`, depth: step.depth + 1 };
  if (step.whole) return folded === 'node_modules' ? undefined : { ...next, whole: step.whole };
  if (step.git) {
    if (folded === 'hooks') return { ...next, whole: gitHook };
    return finder.isGitData(folded) ? undefined : { ...next, git: true };
  }
  if (folded === '.git') return { ...next, git: true };
  return finder.isLeftOut(folded) ? undefined : { ...next, whole: finder.folder(next.folded) };
}
