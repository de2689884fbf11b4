import type { Node, ParseError } from 'jsonc-parser';
import { isUtf8 } from 'node:buffer';
import { lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { narrow, type Config, type ProjectConfig, type Settings } from '../../core/settings.ts';
import { readPlain } from '../../store/own-files.ts';
import { intersection, isInside } from '../paths/inside.ts';
import { displayPath } from '../paths/display-path.ts';
import type { ConfigFile, KnownNames } from './check-config.ts';

/** Far more than anybody writes by hand. */
const mostBytes = 64 * 1024;

/** What holds in roots: the settings, and the folders that are left of them. */
export interface InForce {
  readonly roots: readonly string[];
  readonly settings: Settings;
}

/**
 * The settings of projects. What a file has once said counts until the server ends: a stash loosens nothing. Names of
 * tools and toolsets are checked when `known` tells which there are; it is asked when there is a file.
 */
export function createProjectConfigs(known?: () => Promise<KnownNames>) {
  const read = createProjectReader(known);
  return {
    /**
     * Narrows the base by the operator's `folders` that real absolute roots lie in or hold, and by the
     * `.toolcrib.json` of each root and of those `around` them. A file that cannot be read makes the settings
     * `unreadable`; the roots are then those that the other files leave. The list of roots is itself when no file
     * narrows it. Throws CONFIG_INVALID when the files leave no root.
     */
    async inForce(
      base: Settings,
      roots: readonly string[],
      around: readonly string[] = [],
    ): Promise<InForce> {
      const tops = [...new Set([...around, ...roots])];
      const files: ProjectConfig[] = Object.entries(base.folders)
        .filter(([folder]) => tops.some((top) => isInside(top, folder) || isInside(folder, top)))
        .map(([folder, config]) => ({ ...config, file: `folders ${displayPath(folder)}` }));
      let left = roots;
      for (const top of tops)
        for (const config of await read(top)) {
          files.push(config);
          const { allowed } = config;
          if (!allowed) continue;
          const next = left.flatMap((root) => (isInside(root, top) ? intersection([root], allowed) : [root]));
          if (next.length === 0)
            throw invalid(config.file, 'all that it has said of roots leaves no folder open.');
          left = [...new Set(next)];
        }
      return { roots: left, settings: files.reduce(narrow, base) };
    },
  };
}

/** The file of a root, with the real folders that its `roots` name. */
interface RootConfig extends ProjectConfig {
  readonly allowed?: readonly string[];
}

/** Reads the file of a root: what it says and has said, and why it cannot be read now. */
export function createProjectReader(known?: () => Promise<KnownNames>) {
  interface Known {
    readonly said: Map<string, ProjectConfig>;
    /** The bytes that were understood last, and what they said. */
    bytes?: Buffer;
    now?: string;
  }
  const files = new Map<string, Known>();
  return async (root: string): Promise<readonly RootConfig[]> => {
    const path = join(root, '.toolcrib.json');
    const file = files.get(path) ?? { said: new Map<string, ProjectConfig>() };
    let bytes: Buffer | undefined;
    let problem: ProjectConfig | undefined;
    try {
      bytes = bytesOf(path);
      if (bytes && !file.bytes?.equals(bytes)) {
        const names = { file: path, whose: 'project', known: await known?.() } as const;
        const config = { ...(await readSettings(bytes, names)), file: displayPath(path) };
        const now = JSON.stringify(config);
        file.said.set(now, config);
        files.set(path, Object.assign(file, { bytes, now }));
      }
    } catch (error) {
      const understood = bytes && (await understoodIn(bytes, path).catch(noneTooDeep));
      problem = { ...understood, ...unreadable(displayPath(path), error) };
    }
    const isNow = (key: string) => problem === undefined && bytes !== undefined && key === file.now;
    const configs = [...file.said].map(([key, config]) => (isNow(key) ? config : asItWas(config)));
    return Promise.all(
      [...configs, ...(problem ? [problem] : [])].map((config) => withFolders(config, root)),
    );
  };
}

/** Settings that cannot be read make their project stricter: nobody knows what they would say. Throws other errors. */
function unreadable(file: string, error: unknown): ProjectConfig {
  if (!(error instanceof ToolcribError)) throw error;
  const why = error.message.replace(/\.$/, '');
  const until =
    'until that file is mended or deleted, nothing is done here that a person would be asked about';
  return { file, unreadable: `${why}; ${until}` };
}

/** Nothing of a document that is nested too deeply to be looked at. Throws other errors. */
function noneTooDeep(error: unknown): Config {
  if (error instanceof RangeError) return {};
  throw error;
}

/** What can be understood in a file with mistakes, setting by setting and rule by rule: it goes on to count. */
async function understoodIn(bytes: Buffer, file: string): Promise<Config> {
  const [{ parse }, { checkConfig }] = await Promise.all([
    import('jsonc-parser'),
    import('./check-config.ts'),
  ]);
  const content: unknown = parse(
    bytes
      .toString()
      .replace(/^\ufeff/, '')
      .slice(0, mostBytes),
    [],
    {
      allowTrailingComma: true,
    },
  );
  if (typeof content !== 'object' || content === null) return {};
  const understood = (one: object): Config => {
    const checked = checkConfig(one, { whose: 'project', file: displayPath(file) });
    return 'config' in checked ? checked.config : {};
  };
  const { rules, ...others } = content as Readonly<Record<string, unknown>>;
  const each = (from: object) => Object.entries(from).map(([name, value]) => ({ [name]: value }));
  const settings = each(others).map(understood);
  const ofRules = each(typeof rules === 'object' && rules !== null ? rules : {});
  const kept = ofRules.flatMap((rule) => understood({ rules: rule }).rules ?? []);
  return Object.assign({}, ...settings, { rules: kept }) as Config;
}

async function withFolders(config: ProjectConfig, root: string): Promise<RootConfig> {
  if (!config.roots) return config;
  try {
    return { ...config, allowed: await foldersIn(root, config.roots, config.file) };
  } catch (error) {
    return { ...config, ...unreadable(config.file, error) };
  }
}

/** Undefined where there is no file, or a folder of that name. Calls of the system without another thread. */
function bytesOf(path: string): Buffer | undefined {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts || facts.isDirectory()) return undefined;
  if (!facts.isFile()) throw invalid(displayPath(path), 'it is no plain file; a link to one is none either.');
  if (facts.size > mostBytes) throw invalid(displayPath(path), 'it is larger than 64 KB.');
  const bytes = readPlain(path, ({ size }) => size <= mostBytes);
  if (!bytes) throw invalid(displayPath(path), 'it cannot be read.');
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
  if (outside !== undefined)
    throw invalid(file, `roots: ${displayPath(outside)} lies outside of the project.`);
  // One may still have to be made; none at all is most likely misspelt, and would leave nothing to work in.
  if (folders.length > 0) return folders;
  throw invalid(file, `roots: ${named.map(displayPath).join(', ')}: there is no such folder.`);
}

/**
 * The settings that the bytes of a file say: JSON with comments and trailing commas, in which no key is there twice.
 * Throws CONFIG_INVALID with file, line and what was probably meant.
 */
export async function readSettings(bytes: Buffer, names: ConfigFile): Promise<Config> {
  const file = displayPath(names.file);
  if (!isUtf8(bytes)) throw invalid(file, 'it is not UTF-8.');
  try {
    // Without the mark that Windows editors put before the text.
    return await settingsIn(bytes.toString().replace(/^\ufeff/, ''), { ...names, file });
  } catch (error) {
    // What looks at a document calls itself for each step down; no settings are that deep.
    throw error instanceof RangeError ? invalid(file, 'it is nested too deeply.') : error;
  }
}

/** What it needs is loaded when it is called: most people have no such file. */
async function settingsIn(text: string, names: ConfigFile): Promise<Config> {
  // By names: the package is CommonJS to Node, and an ES module to who bundles it.
  const [{ findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode }, { checkConfig, placeOf }] =
    await Promise.all([import('jsonc-parser'), import('./check-config.ts')]);
  const wrongAt = (offset: number, why: string) =>
    invalid(`${names.file}:${text.slice(0, offset).split('\n').length}`, why);
  const problems: ParseError[] = [];
  const root = parseTree(text, problems, { allowTrailingComma: true });
  const [problem] = problems;
  if (problem || !root) {
    // InvalidCommentToken: "invalid comment token".
    const code = problem ? printParseErrorCode(problem.error) : 'nothing is there';
    const words = code.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
    throw wrongAt(problem?.offset ?? 0, `it does not parse: ${words}.`);
  }
  const double = doubtfulKey(root);
  if (double) {
    const isPrototype = double.value === '__proto__';
    throw wrongAt(double.offset, isPrototype ? '__proto__ is no setting.' : 'the same key is there twice.');
  }
  const checked = checkConfig(getNodeValue(root), names);
  if (!('says' in checked)) return checked.config;
  const { path, says } = checked;
  // The deepest thing on the path that is there.
  const nodes = path.map((_, at) => findNodeAtLocation(root, path.slice(0, at + 1)));
  const node = nodes.findLast((each) => each !== undefined);
  const { offset } = node?.parent?.type === 'property' ? node.parent : (node ?? root);
  throw wrongAt(offset, (path.length === 0 ? '' : `${placeOf(path)}: `) + says);
}

/** CONFIG_INVALID for a place in a file. */
const invalid = (place: string, why: string): ToolcribError =>
  new ToolcribError('CONFIG_INVALID', `${place}: ${why}`);

function doubtfulKey(node: Node): Node | undefined {
  const seen = new Set<unknown>();
  for (const child of node.children ?? []) {
    const key = node.type === 'object' ? child.children?.[0] : undefined;
    if (key && (seen.has(key.value) || key.value === '__proto__')) return key;
    if (key) seen.add(key.value);
    const inside = doubtfulKey(child);
    if (inside) return inside;
  }
  return undefined;
}
