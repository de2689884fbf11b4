import * as z from 'zod';
import {
  type Inspection,
  type InspectionRequest,
  type ProjectFiles,
  ToolcribError,
  upwards,
} from '../../core/grammar.ts';
import { notAbove } from '../shared/not-above.ts';

const named = z.object({ name: z.string(), version: z.string().catch('') });
const manifest = z.object({
  packageManager: z.string().optional().catch(undefined),
  devEngines: z
    .object({ packageManager: z.union([named, z.array(named)]) })
    .optional()
    .catch(undefined),
});
const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined; // The package manager says what is wrong with it.
  }
};
const parsed = (text: string) => manifest.safeParse(jsonOf(text)).data ?? manifest.parse({});

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

interface ProjectManager {
  /** Ids of our programs; several where several have left their files. */
  readonly ids: readonly string[];
  /** The file that says so. */
  readonly because: string;
}

/**
 * The package manager of a project: the one that the nearest package.json names, else the one whose lock file
 * is there, of the nearest folder up to the root that says either. Undefined when none does.
 */
export async function packageManager(
  look: ProjectFiles,
  folder: string,
  roots: readonly string[],
): Promise<ProjectManager | undefined> {
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
      const text = (await look.read(`${here}/yarn.lock`)) ?? '';
      ids.push(/^# yarn lockfile v1/m.test(text) ? 'yarn1' : 'yarn');
      locks.push('yarn.lock');
    }
    if (ids.length > 0) return { ids, because: `${here} has ${locks.join(', ')}` };
  }
  return undefined;
}

/** The action that is about to be done, and its package manager. */
interface ManagerAction {
  /** Of the package manager that would do it. */
  readonly id: string;
  /** It needs no package. */
  readonly isFree: boolean;
  /** The action of another package manager that does the same; undefined when we have none. */
  readonly by: (id: string) => string | undefined;
}

const dependencies = z.record(z.string(), z.unknown()).catch({});
const kinds = z.object({
  dependencies,
  devDependencies: dependencies,
  optionalDependencies: dependencies,
  peerDependencies: dependencies,
});

/** Throws ARG_INVALID where npm says that nothing is outdated, since it cannot read what there should be. */
async function refuseBroken(look: ProjectFiles, { folder, roots }: InspectionRequest): Promise<void> {
  for (const here of upwards(folder, roots)) {
    const text = await look.read(`${here}/package.json`);
    if (text === undefined) continue;
    if (jsonOf(text) !== undefined) return;
    throw new ToolcribError('ARG_INVALID', `${here}/package.json: it is no JSON.`, 'Mend it first.');
  }
}

/**
 * Throws NOT_FOUND for a package that cannot be removed, since no package.json names it: some succeed
 * nonetheless.
 */
async function refuseAbsent(look: ProjectFiles, { folder, roots, values }: InspectionRequest): Promise<void> {
  // The package.json of a package of a workspace lies elsewhere.
  if (values['workspace'] !== undefined) return;
  for (const here of upwards(folder, roots)) {
    const text = await look.read(`${here}/package.json`);
    if (text === undefined) continue;
    const named = Object.values(kinds.safeParse(jsonOf(text)).data ?? {}).flatMap((all) => Object.keys(all));
    const missing = (values['packages'] as readonly string[]).filter((one) => !named.includes(one));
    if (missing.length === 0) return;
    throw new ToolcribError(
      'NOT_FOUND',
      `packages: ${missing.join(', ')}: not among the dependencies of ${here}/package.json.`,
      named.length > 0 ? `It has ${named.slice(0, 30).join(', ')}.` : 'It has none.',
    );
  }
}

/** The actions that any package manager could do, leaving nothing behind that another one keeps. */
const anyones: ReadonlySet<string> = new Set(['run', 'exec', 'test']);

/** Refuses what has no package to work on, and what another package manager keeps. */
export async function inspectPackage(
  look: ProjectFiles,
  situation: InspectionRequest,
  { id, isFree, by }: ManagerAction,
): Promise<Inspection> {
  const { action, folder, roots, effects } = situation;
  const settings = id === 'pnpm' && effects.includes('read') ? { env: pnpmLooksOnly } : {};
  if (isFree) return settings;
  await refuseNowhere(look, folder, roots, id);
  const manager = anyones.has(action) ? undefined : await packageManager(look, folder, roots);
  if (manager && !manager.ids.includes(id)) throw anothers(manager, by);
  if (action === 'outdated' && id === 'npm') await refuseBroken(look, situation);
  if (action === 'remove' && id !== 'deno') await refuseAbsent(look, situation);
  return settings;
}

/** Code that the project names, and the pnpm that it names: looking must neither run nor fetch them. */
const pnpmLooksOnly = Object.fromEntries(
  ['npm_config_', 'pnpm_config_'].flatMap((prefix) => [
    [`${prefix}ignore_pnpmfile`, 'true'],
    [`${prefix}manage_package_manager_versions`, 'false'],
  ]),
);

/** Throws PATH_NOT_FOUND where a package manager would look above the root. */
async function refuseNowhere(
  look: ProjectFiles,
  folder: string,
  roots: readonly string[],
  id: string,
): Promise<void> {
  const files = ['package.json', ...(id === 'deno' ? ['deno.json', 'deno.jsonc'] : [])];
  const paths = upwards(folder, roots).flatMap((here) => files.map((file) => `${here}/${file}`));
  for (const path of paths) if ((await look.kind(path)) !== undefined) return;
  throw notAbove(folder, files.join(', '));
}

function anothers({ ids, because }: ProjectManager, by: ManagerAction['by']): ToolcribError {
  const [id = ''] = ids;
  const call = by(id);
  const wayOut = call ? `Call ${call} instead.` : `Run ${id} instead.`;
  return new ToolcribError('EFFECT_DENIED', `This is a project of ${id}: ${because}.`, wayOut);
}
