import * as z from 'zod';
import type { Inspection, Look, Situation } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { upwards } from '../../core/upwards.ts';

const named = z.object({ name: z.string(), version: z.string().catch('') });
const dependencies = z.record(z.string(), z.unknown()).catch({});
const manifest = z.object({
  packageManager: z.string().optional().catch(undefined),
  devEngines: z
    .object({ packageManager: z.union([named, z.array(named)]) })
    .optional()
    .catch(undefined),
  dependencies,
  devDependencies: dependencies,
  optionalDependencies: dependencies,
  peerDependencies: dependencies,
});
const parsed = (json: string) => {
  try {
    return manifest.parse(JSON.parse(json.replace(/^\uFEFF/, '')));
  } catch {
    return manifest.parse({}); // The package manager says what is wrong with it.
  }
};

/** Files by which each one keeps a project; of `yarn.lock`, the text tells which Yarn. */
const lockFiles: Readonly<Record<string, string>> = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'pnpm-workspace.yaml': 'pnpm',
  '.yarnrc.yml': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'deno.lock': 'deno',
};

interface Manager {
  /** Ids of our programs; several where several have left their files. */
  readonly ids: readonly string[];
  /** Where that is said. */
  readonly because: string;
}

/**
 * The package manager of a project: the one that the nearest package.json names, else the one whose lock file is there,
 * of the nearest folder up to the root that says either. Undefined when none does.
 */
export async function packageManager(
  look: Look,
  folder: string,
  roots: readonly string[],
): Promise<Manager | undefined> {
  for (const here of upwards(folder, roots)) {
    const said = parsed((await look.read(`${here}/package.json`)) ?? '{}');
    const [first] = [said.devEngines?.packageManager ?? []].flat();
    const wanted = said.packageManager ?? (first && `${first.name}@${first.version}`);
    if (wanted !== undefined) {
      const id = wanted.replace(/^yarn@\D?[01]\b.*/, 'yarn1').replace(/@.*/, '');
      return { ids: [id], because: `its package.json names ${wanted.replace(/\+.*/, '')}` };
    }
    const names = (await look.list(here)).map(({ name }) => name);
    const locks = names.filter((name) => name in lockFiles);
    const ids = locks.flatMap((name) => lockFiles[name] ?? []);
    if (names.includes('yarn.lock') && !ids.includes('yarn')) {
      // One that is too large to be read is of either.
      const text = await look.read(`${here}/yarn.lock`);
      ids.push(
        ...(/^# yarn lockfile v1/m.test(text ?? '') ? ['yarn1'] : ['yarn', ...(text ? [] : ['yarn1'])]),
      );
      locks.push('yarn.lock');
    }
    if (ids.length > 0) return { ids, because: `${here} has ${locks.join(', ')}` };
  }
  return undefined;
}

/** What is about to be done, and by whom. */
interface Doing {
  /** Of the package manager that would do it. */
  readonly id: string;
  /** Whether any package manager could do it, and leave nothing behind that another one keeps. */
  readonly isAnyones: boolean;
  /** Whether it needs no package. */
  readonly isFree: boolean;
  readonly isRemoval: boolean;
  /** The action of another package manager that does the same; undefined when we have none. */
  readonly by: (id: string) => string | undefined;
}

/** Refuses what has no package to work on, what another package manager keeps, and removing what is not there. */
export async function inspectPackage(
  look: Look,
  { folder, roots, effects, values }: Situation,
  { id, isFree, isAnyones, isRemoval, by }: Doing,
): Promise<Inspection> {
  const settings = id === 'pnpm' && effects.includes('read') ? { env: pnpmLooksOnly } : {};
  if (isFree) return settings;
  const found = await nearest(look, folder, roots, id);
  const manager = isAnyones ? undefined : await packageManager(look, folder, roots);
  if (manager && !manager.ids.includes(id)) throw anothers(manager, by);
  if (isRemoval && values['workspace'] === undefined && id !== 'deno')
    refuseUnknown(found, values['packages']);
  return settings;
}

/** Code that the project names, and the pnpm that it names: looking must neither run nor fetch them. */
const pnpmLooksOnly = Object.fromEntries(
  ['npm_config_', 'pnpm_config_'].flatMap((prefix) => [
    [`${prefix}ignore_pnpmfile`, 'true'],
    [`${prefix}manage_package_manager_versions`, 'false'],
  ]),
);

/** The text of the nearest package.json. Throws PATH_NOT_FOUND where a package manager would look above the root. */
async function nearest(look: Look, folder: string, roots: readonly string[], id: string): Promise<string> {
  const files = ['package.json', ...(id === 'deno' ? ['deno.json', 'deno.jsonc'] : [])];
  for (const here of upwards(folder, roots))
    for (const file of files) {
      const text = await look.read(`${here}/${file}`);
      if (text !== undefined) return text;
    }
  throw new ToolcribError(
    'PATH_NOT_FOUND',
    `${folder}: there is no ${files.join(', ')} here or above, up to the root.`,
    'Give the folder of a package as cwd. If it begins above the root, the server has to be started with --root ' +
      'at its top.',
  );
}

function anothers({ ids, because }: Manager, by: Doing['by']): ToolcribError {
  const [id = ''] = ids;
  const call = by(id);
  const wayOut = call ? `Call ${call} instead.` : `Run ${id} instead.`;
  return new ToolcribError('EFFECT_DENIED', `This is a project of ${id}: ${because}.`, wayOut);
}

function refuseUnknown(json: string, names: unknown): void {
  const { dependencies: used, devDependencies, optionalDependencies, peerDependencies } = parsed(json);
  const known = { ...used, ...devDependencies, ...optionalDependencies, ...peerDependencies };
  const unknown = (names as string[]).filter((one) => !(one in known));
  if (unknown.length === 0) return;
  const all = Object.keys(known).join(', ') || 'none';
  throw new ToolcribError(
    'NOT_FOUND',
    `${unknown.join(', ')}: not among the dependencies of package.json; nothing was removed.`,
    `There are: ${all}.`,
  );
}
