import { lstatSync, realpathSync, type BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { KnownNames } from '../../core/config.ts';
import { ToolcribError } from '../../core/errors.ts';
import { narrow, type ProjectConfig } from '../../core/narrow.ts';
import type { Settings } from '../../core/settings.ts';
import { invalid, readSettings } from './settings-file.ts';
import { openAt } from '../paths/opened.ts';
import { isInside } from '../paths/inside.ts';
import { codeOf } from '../paths/real-path.ts';
import { shownPath } from '../paths/shown-path.ts';
import type { FindFiles } from './project-files.ts';

/** What a project's own settings are called, at its top. */
export const projectFile = '.toolcrib.json';

/** Far more than anybody writes by hand; a call may have to wait until it is read. */
const mostBytes = 64 * 1024;
/** FAT keeps times of two seconds: what has just been changed may be changed again without a sign. */
const unsureMs = 2000;

/** As many versions of a file as are remembered; each narrows every call that it is about. */
const mostVersions = 50;

/**
 * The settings of projects, which can only narrow the operator's. What a file has once said counts until the server ends, also
 * when the file says less by then, or is gone: what a call can do to it (a stash, another branch) loosens nothing.
 */
export interface ProjectConfigs {
  /**
   * The settings of a call in a folder: those of the base, and stricter where a file in the folder or above it, up to the
   * outermost root that it lies in, says so; of several folders or paths, all of what is said about them. Without a folder, or
   * for one outside the roots, the files of all roots count.
   * Returns `base` itself when there is no file. Throws CONFIG_INVALID, with file, line and what was probably meant, for a
   * file that cannot be understood: what it was to forbid is not known then.
   */
  settingsFor(
    base: Settings,
    roots: readonly string[],
    folder?: string | readonly string[],
  ): Promise<Settings>;
  /**
   * Of real absolute roots, what the files at their tops leave; the list itself when none of them says anything about
   * roots. It may be empty: then nothing is left. `settingsFor` knows the roots that came of it, and still finds the files
   * above them. Throws as `settingsFor` does, also for a folder that leads outside of its project.
   */
  narrowedRoots(roots: readonly string[]): Promise<readonly string[]>;
  /**
   * Reads all files in roots, before something is done that could take them away or make them say less: in folders that are
   * looked into for trust. Throws nothing: a file that cannot be understood is refused to the calls that it is about.
   */
  learn(roots: readonly string[]): Promise<void>;
  /** The files that count for a call, outermost first, and what they have said before. Throws as `settingsFor` does. */
  filesFor(roots: readonly string[], folder?: string | readonly string[]): Promise<ProjectConfig[]>;
}

/** Names of tools and toolsets in the files are checked when `known` tells which there are; it is asked when there is a file. */
export function createProjectConfigs(known?: () => Promise<KnownNames>): ProjectConfigs {
  const read = createReader(known);
  /** For a root that a file has narrowed: the outermost folder in which such files count. */
  const tops = new Map<string, string>();
  let findFiles: Promise<FindFiles> | undefined;
  const knownTop = (root: string) => tops.get(root) ?? root;

  async function filesFor(
    roots: readonly string[],
    folder?: string | readonly string[],
  ): Promise<ProjectConfig[]> {
    const folders = new Set<string>();
    const places = folder === undefined ? [undefined] : [folder].flat();
    for (const start of places.flatMap((place) => startsOf(roots, place))) {
      const top = topOf(start, roots.map(knownTop));
      for (const here of between(start, top)) folders.add(here);
    }
    const found: ProjectConfig[] = [];
    for (const here of folders) {
      const config = read(here);
      // Nearly always there is none, and then nothing is waited for.
      const versions = config instanceof Promise ? await config : config;
      if (versions) found.push(...versions);
    }
    return found;
  }

  async function narrowedOnce(roots: readonly string[]): Promise<readonly string[]> {
    let left = roots;
    for (const { file, roots: named } of await filesFor(roots)) {
      if (!named) continue;
      const project = dirname(file);
      const folders = await Promise.all(named.map((root) => folderIn(project, root, file)));
      const allowed = folders.filter((real) => real !== undefined);
      left = left.flatMap((root) => (isInside(root, project) ? common(root, allowed) : [root]));
    }
    const narrowed = [...new Set(left)];
    if (narrowed.length === roots.length && narrowed.every((root) => roots.includes(root))) return roots;
    for (const root of narrowed) tops.set(root, topOf(root, roots.map(knownTop)));
    return narrowed;
  }

  async function narrowedRoots(roots: readonly string[]): Promise<readonly string[]> {
    const left = await narrowedOnce(roots);
    // At the top of what is left there may be another file.
    return left === roots ? roots : narrowedRoots(left);
  }

  return {
    filesFor,
    async settingsFor(base, roots, folder) {
      const files = await filesFor(roots, folder);
      return files.reduce(narrow, base);
    },
    narrowedRoots,
    async learn(roots) {
      findFiles ??= import('./project-files.ts').then((m) => m.createFindFiles(projectFile));
      const find = await findFiles;
      for (const root of roots)
        for (const folder of await find(root)) await Promise.resolve(read(folder)).catch(() => undefined);
    },
  };
}

/** Where looking for files begins: where a folder really is, whatever links lead to it. */
function startsOf(roots: readonly string[], folder: string | undefined): readonly string[] {
  if (folder === undefined) return roots;
  if (roots.includes(folder)) return [folder];
  const real = deepestReal(folder);
  const inside = (path: string) => roots.some((root) => isInside(path, root));
  // A link is also something of the folder that it is in.
  const given = real !== folder && inside(folder) ? [folder] : [];
  return inside(real) ? [real, ...given] : [...roots, ...given];
}

/** The real path of a folder, or of the deepest one on the way to it that exists. */
function deepestReal(folder: string): string {
  for (let here = folder; ; here = dirname(here)) {
    try {
      return realpathSync.native(here);
    } catch {
      // Still to be made, most likely; what keeps us from looking keeps the call from working there.
      if (dirname(here) === here) return folder;
    }
  }
}

/** The outermost of the folders in which another lies. */
const topOf = (folder: string, tops: readonly string[]): string =>
  tops
    .filter((top) => isInside(folder, top))
    .reduce((best, top) => (isInside(best, top) ? top : best), folder);

/** From the top down to a folder, both included. */
function between(folder: string, top: string): string[] {
  const folders = [folder];
  for (let here = folder; here !== top && dirname(here) !== here;) folders.unshift((here = dirname(here)));
  return folders;
}

const common = (root: string, allowed: readonly string[]): string[] =>
  allowed.flatMap((folder) => (isInside(folder, root) ? [folder] : isInside(root, folder) ? [root] : []));

/** The real folder that a project's file names; undefined when there is none yet. */
async function folderIn(project: string, given: string, file: string): Promise<string | undefined> {
  const outside = () => invalid(shownPath(file), `roots: ${shownPath(given)} leads outside of the project.`);
  const path = join(project, given);
  if (isAbsolute(given) || !isInside(path, project)) throw outside();
  const real = await realpath(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw invalid(shownPath(file), `roots: ${shownPath(given)} cannot be looked at (${codeOf(error)}).`);
  });
  if (real === undefined) return undefined;
  if (!isInside(real, project)) throw outside();
  if ((await stat(real)).isDirectory()) return real;
  throw invalid(shownPath(file), `roots: ${shownPath(given)} is no folder.`);
}

interface Kept {
  readonly facts: BigIntStats;
  readonly config: Promise<ProjectConfig>;
}

type Versions = readonly ProjectConfig[];

/** Reads the file of a folder, and again when it has changed: what it says, and has said; undefined when there never was one. */
function createReader(known: (() => Promise<KnownNames>) | undefined) {
  const kept = new Map<string, Kept>();
  const said = new Map<string, Map<string, ProjectConfig>>();

  async function readNow(file: string, facts: BigIntStats): Promise<ProjectConfig> {
    const config = await readProject(file, facts, known);
    const versions = said.get(file) ?? new Map<string, ProjectConfig>();
    said.set(file, versions);
    // Where a rule stands makes no other version.
    const key = JSON.stringify({ ...config, rules: config.rules?.map((rule) => ({ ...rule, setting: '' })) });
    const same = versions.get(key);
    if (same) return same;
    if (versions.size >= mostVersions)
      throw invalid(
        shownPath(file),
        `it has changed more than ${mostVersions} times, and all that it has said counts; restart the server.`,
      );
    versions.set(key, config);
    return config;
  }

  const versionsOf = (file: string, current?: ProjectConfig): Versions => {
    const others = [...(said.get(file)?.values() ?? [])].filter((version) => version !== current);
    return [...(current ? [current] : []), ...others.map(asItWas)];
  };

  return (folder: string): Promise<Versions> | Versions | undefined => {
    const file = join(folder, projectFile);
    const facts = factsOf(file);
    const before = kept.get(file);
    if (before && (!facts || !isSame(before.facts, facts))) kept.delete(file);
    if (!facts) return said.size > 0 && said.has(file) ? versionsOf(file) : undefined;
    const isKept = before !== undefined && isSame(before.facts, facts);
    const config = isKept ? before.config : readNow(file, facts);
    // Whoever asked hears of it.
    config.catch(() => undefined);
    if (!isKept && Date.now() - Number(facts.ctimeMs) > unsureMs) kept.set(file, { facts, config });
    return config.then((current) => versionsOf(file, current));
  };
}

/** What a file has said that says something else by now, or is gone. */
function asItWas(config: ProjectConfig): ProjectConfig {
  const note = ', as it was when the server read it; restart the server after changing it';
  const rules = config.rules?.map((rule) => ({ ...rule, setting: `${rule.setting}${note}` }));
  return { ...config, origin: `${config.file}${note}`, ...(rules && { rules }) };
}

/** One question to the system, without another thread: a twentieth of what that would take. */
function factsOf(file: string): BigIntStats | undefined {
  try {
    return lstatSync(file, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    const code = codeOf(error);
    // Below a file nothing is, nor below links that lead in a circle; and nothing can have a name that is too long.
    if (code !== undefined && ['ENOTDIR', 'ENOENT', 'ELOOP', 'ENAMETOOLONG'].includes(code)) return undefined;
    throw invalid(shownPath(file), `it cannot be looked for (${code}).`);
  }
}

const isSame = (one: BigIntStats, other: BigIntStats): boolean =>
  one.dev === other.dev &&
  one.ino === other.ino &&
  one.size === other.size &&
  one.mode === other.mode &&
  one.mtimeNs === other.mtimeNs &&
  one.ctimeNs === other.ctimeNs;

async function readProject(
  file: string,
  facts: BigIntStats,
  known: (() => Promise<KnownNames>) | undefined,
): Promise<ProjectConfig> {
  if (!facts.isFile()) throw invalid(shownPath(file), 'it is no regular file; a link to one is none either.');
  if (facts.size > mostBytes) throw invalid(shownPath(file), 'it is larger than 64 KB.');
  const bytes = await bytesOf(file);
  const config = await readSettings(bytes, { file, whose: 'project', known: await known?.() });
  const roots = config.roots ?? [];
  const folders: (string | undefined)[] = [];
  for (const root of roots) folders.push(await folderIn(dirname(file), root, file));
  const [first] = roots;
  // One may still have to be made; none at all is most likely misspelt, and would leave nothing to work in.
  if (first !== undefined && folders.every((folder) => folder === undefined))
    throw invalid(
      `${shownPath(file)}${lineWith(bytes, first)}`,
      `roots: ${shownPath(first)}: there is no such folder.`,
    );
  return { ...config, file };
}

/** `:3` for the first line that has a text as JSON usually has it; nothing when it is written another way. */
function lineWith(bytes: Buffer, text: string): string {
  const lines = bytes.toString().split('\n');
  const at = lines.findIndex((line) => line.includes(JSON.stringify(text)));
  return at < 0 ? '' : `:${at + 1}`;
}

/** What was opened decides, not what lay there a moment ago. */
async function bytesOf(file: string): Promise<Buffer> {
  try {
    const { handle, path, stat: opened } = await openAt(file, file);
    try {
      if (dirname(path) !== dirname(file) || !opened.isFile())
        throw invalid(shownPath(file), 'it leads somewhere else.');
      const bytes = await handle.readAll(mostBytes + 1);
      if (bytes.length > mostBytes) throw invalid(shownPath(file), 'it is larger than 64 KB.');
      return bytes;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!(error instanceof ToolcribError) || error.code === 'CONFIG_INVALID') throw error;
    throw new ToolcribError('CONFIG_INVALID', error.message);
  }
}
