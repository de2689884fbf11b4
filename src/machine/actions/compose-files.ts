import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import type { AnyDiscoverer } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import { referencesIn } from './compose-references.ts';
import { textIn } from './text-in.ts';
import { upwards } from '../upwards.ts';

type ComposeFiles = NonNullable<AnyDiscoverer['composeFiles']>;

interface Situation {
  readonly folder: string;
  readonly workspace: Workspace;
  readonly values: Readonly<Record<string, unknown>>;
  isTrusted(): Promise<boolean>;
}

/** Which folder's project Compose works on, and variables that hold it to the files that were looked at. */
interface Reads {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

/** More than anybody has. */
const mostFiles = 200;
/** Cannot be part of a path that anybody has. */
const separator = '\n';

/**
 * Finds the Compose files of a project as Compose does, but not above the roots, and makes sure that what they have it read
 * (further files, variables) lies inside: it quotes what it does not understand, whatever file that is. A person's trust
 * lifts this. Throws PATH_NOT_FOUND and REPO_UNTRUSTED.
 */
export async function readsOf(names: ComposeFiles, situation: Situation): Promise<Reads> {
  const { folder, workspace, values, isTrusted } = situation;
  const given = Array.isArray(values['files']) ? values['files'].map(String) : [];
  try {
    const files = given.length > 0 ? given : await filesOf(names, folder, workspace);
    const home = dirname(files[0] ?? join(folder, '.'));
    for (const place of new Set([folder, home])) await textIn(join(place, '.env'), workspace);
    const seen = new Set<string>();
    for (const file of files) await checkFile(file, home, workspace, seen);
    const env = { COMPOSE_FILE: files.join(separator), COMPOSE_PATH_SEPARATOR: separator };
    return { home, env: given.length > 0 ? {} : env };
  } catch (error) {
    if (!(error instanceof ToolcribError) || error.code === 'PATH_NOT_FOUND') throw error;
    if (await isTrusted()) return { home: dirname(given[0] ?? join(folder, '.')), env: {} };
    if (error.code === 'REPO_UNTRUSTED') throw error;
    throw new ToolcribError(
      'REPO_UNTRUSTED',
      `The project has Compose read a file that cannot be looked at. ${error.message}`,
      'Look at its Compose files; if they are yours, trust the project (toolcrib trust), or start the server with --root for the other folder, too.',
    );
  }
}

/** The files Compose would use, absolute: those that `.env` names, or the first with a usual name. */
async function filesOf(
  { names, overrides }: ComposeFiles,
  folder: string,
  workspace: Workspace,
): Promise<string[]> {
  const set = await settingsIn(join(folder, '.env'), workspace);
  if (set.files !== undefined) {
    const all = set.files.split(set.separator ?? delimiter).filter((path) => path !== '');
    return all.map((path) => plainPath(path, folder));
  }
  for (const here of upwards(folder, workspace.roots)) {
    const first = await firstOf(names, here, workspace);
    if (first === undefined) continue;
    const beside = await firstOf(overrides, here, workspace);
    return beside === undefined ? [first] : [first, beside];
  }
  throw new ToolcribError(
    'PATH_NOT_FOUND',
    `${folder}: there is no ${names[0]} here or above, up to the root.`,
    'Give the folder that has the compose.yaml as cwd, or the Compose files as files.',
  );
}

async function settingsIn(file: string, workspace: Workspace) {
  const text = (await textIn(file, workspace)) ?? '';
  const value = (name: string) => {
    const line = new RegExp(`^\\s*(?:export\\s+)?${name}\\s*[=:]\\s*(.*?)\\s*$`, 'gm');
    return [...text.matchAll(line)].at(-1)?.[1]?.replace(/^(["'])(.*)\1$/, '$2');
  };
  return { files: value('COMPOSE_FILE') || undefined, separator: value('COMPOSE_PATH_SEPARATOR') };
}

async function firstOf(
  names: readonly string[],
  folder: string,
  workspace: Workspace,
): Promise<string | undefined> {
  for (const name of names) {
    const path = join(folder, name);
    if ((await textIn(path, workspace)) !== undefined) return path;
  }
  return undefined;
}

/** Looks through one file and those it includes. `base` is the folder its paths are relative to. */
async function checkFile(file: string, base: string, workspace: Workspace, seen: Set<string>): Promise<void> {
  const visit = JSON.stringify([file, base]);
  if (seen.has(visit)) return;
  seen.add(visit);
  if (seen.size > mostFiles)
    throw new ToolcribError('TOO_LARGE', `${file}: is one of more than ${mostFiles} Compose files.`);
  const text = await textIn(file, workspace);
  if (text === undefined) return;
  const { texts, includes, extended } = await referencesIn(text, file);
  for (const path of texts) await workspace.resolve(plainPath(path, base));
  for (const path of extended) {
    const place = plainPath(path, base);
    await checkFile(place, dirname(place), workspace, seen);
  }
  for (const { files, folders } of includes) {
    const places = files.map((path) => plainPath(path, base));
    const bases = folders.map((path) => plainPath(path, base));
    for (const home of bases.length > 0 ? bases : [dirname(places[0] ?? base)]) {
      await textIn(join(home, '.env'), workspace);
      for (const place of places) await checkFile(place, home, workspace, seen);
    }
  }
}

/** A path as it is used, when nothing has to be filled in for that. */
function plainPath(path: string, base: string): string {
  if (/\$|^~/.test(path)) {
    throw new ToolcribError(
      'REPO_UNTRUSTED',
      `A Compose file in ${base} names ${JSON.stringify(path)}, and what that is cannot be told.`,
      'Look at it; if it is yours, trust the project (toolcrib trust).',
    );
  }
  return isAbsolute(path) ? path : resolve(base, path);
}
