import { lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { narrow, type ProjectConfig, type Settings } from '../../core/settings.ts';
import { readPlain } from '../../own-files/own-files.ts';
import { intersection, isInside } from '../paths/inside.ts';
import { shownPath } from '../paths/shown-path.ts';
import type { KnownNames } from './check-config.ts';
import { invalid, readSettings } from './settings-file.ts';

/** Far more than anybody writes by hand, or changes. */
const [mostBytes, mostVersions] = [64 * 1024, 50];

/**
 * The settings of projects, asked for with the roots as the operator or the client has named them. What a file has once
 * said counts until the server ends: a stash loosens nothing.
 */
export interface ProjectConfigs {
  /**
   * The settings for what lies in these roots: the base, narrowed by the operator's `folders` that they lie in or hold,
   * and by the `.toolcrib.json` of each. Throws CONFIG_INVALID (file, line, what was probably meant).
   */
  settingsFor(base: Settings, roots: readonly string[]): Promise<Settings>;
  /**
   * Of real absolute roots, what the `roots` of the files at their tops leave, and of those at `tops` around them; the
   * list itself when none has any.
   */
  narrowedRoots(roots: readonly string[], tops?: readonly string[]): Promise<readonly string[]>;
}

/** Names of tools and toolsets are checked when `known` tells which there are; it is asked when there is a file. */
export function createProjectConfigs(known?: () => Promise<KnownNames>): ProjectConfigs {
  const read = createProjectReader(known);
  return {
    async settingsFor(base, roots) {
      const files = Object.entries(base.folders)
        .filter(([folder]) => roots.some((root) => isInside(root, folder) || isInside(folder, root)))
        .map(([folder, config]) => ({ ...config, file: `folders ${shownPath(folder)}` }));
      for (const root of roots) files.push(...(await read(root)));
      return files.reduce(narrow, base);
    },
    async narrowedRoots(roots, tops = []) {
      let left = roots;
      for (const top of new Set([...tops, ...roots]))
        for (const { file, roots: named } of await read(top)) {
          if (!named) continue;
          const allowed = await foldersIn(top, named, file);
          left = left.flatMap((root) => (isInside(root, top) ? intersection([root], allowed) : [root]));
          if (left.length === 0) throw invalid(file, 'all that it has said of roots leaves no folder open.');
        }
      return left === roots ? roots : [...new Set(left)];
    },
  };
}

/** Reads the file of a root: what it says and has said. */
export function createProjectReader(known?: () => Promise<KnownNames>) {
  interface Known {
    readonly said: Map<string, ProjectConfig>;
    /** The bytes that were understood last, and what they said. */
    bytes?: Buffer;
    now?: string;
  }
  const files = new Map<string, Known>();
  return async (root: string): Promise<readonly ProjectConfig[]> => {
    const path = join(root, '.toolcrib.json');
    const bytes = bytesOf(path);
    const file = files.get(path) ?? { said: new Map<string, ProjectConfig>() };
    if (bytes && !file.bytes?.equals(bytes)) {
      const names = { file: path, whose: 'project', known: await known?.() } as const;
      const config = { ...(await readSettings(bytes, names)), file: shownPath(path) };
      const now = JSON.stringify(config);
      if (file.said.size >= mostVersions && !file.said.has(now))
        throw invalid(config.file, `it has changed more than ${mostVersions} times; restart the server.`);
      file.said.set(now, config);
      files.set(path, Object.assign(file, { bytes, now }));
    }
    const isNow = (key: string) => bytes !== undefined && key === file.now;
    return [...file.said].map(([key, config]) => (isNow(key) ? config : asItWas(config)));
  };
}

/** Undefined where there is no file, or a folder of that name. Calls of the system without another thread. */
function bytesOf(path: string): Buffer | undefined {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts || facts.isDirectory()) return undefined;
  if (!facts.isFile()) throw invalid(shownPath(path), 'it is no plain file; a link to one is none either.');
  if (facts.size > mostBytes) throw invalid(shownPath(path), 'it is larger than 64 KB.');
  const bytes = readPlain(path, ({ size }) => size <= mostBytes);
  if (!bytes) throw invalid(shownPath(path), 'it cannot be read.');
  return bytes;
}

function asItWas({ rules = [], file, ...config }: ProjectConfig): ProjectConfig {
  const note = ', as it was when the server read it; restart the server after changing it';
  const then = rules.map((rule) => ({ ...rule, setting: rule.setting + note }));
  return { ...config, file: file + note, rules: then };
}

/** The real folders of a project that its file names, as far as they exist. */
async function foldersIn(project: string, named: readonly string[], file: string): Promise<string[]> {
  const real = await Promise.all(named.map((name) => realpath(join(project, name)).catch(() => undefined)));
  const folders = real.filter((folder) => folder !== undefined);
  const outside = folders.find((folder) => !isInside(folder, project));
  if (outside !== undefined) throw invalid(file, `roots: ${shownPath(outside)} lies outside of the project.`);
  // One may still have to be made; none at all is most likely misspelt, and would leave nothing to work in.
  if (folders.length > 0) return folders;
  throw invalid(file, `roots: ${named.map(shownPath).join(', ')}: there is no such folder.`);
}
