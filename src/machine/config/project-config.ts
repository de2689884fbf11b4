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

/** The largest settings file, far more than anybody writes by hand. */
const mostBytes = 64 * 1024;

/** The settings in force for roots, and the folders that they leave open. */
export interface InForce {
  readonly roots: readonly string[];
  readonly settings: Settings;
}

/**
 * Creates the reader of projects' settings. What a file has once said counts until the server ends, so that a
 * git stash loosens nothing. Names of tools and toolsets are checked against `known`, which is called when
 * there is a file.
 */
export function createProjectConfigs(known?: () => Promise<KnownNames>) {
  const read = createProjectReader(known);
  return {
    /**
     * Narrows the base by the operator's `folders` that the real absolute roots lie in or hold, and by the
     * `.toolcrib.json` of each root and of those `around` them. A file that cannot be read makes the settings
     * `unreadable`; the roots are then those that the other files leave. Returns the same list of roots when
     * no file narrows it. Throws CONFIG_INVALID when the files leave no root.
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
      let open = roots;
      for (const top of tops)
        for (const config of await read(top)) {
          files.push(config);
          const { allowed } = config;
          if (!allowed) continue;
          const next = open.flatMap((root) => (isInside(root, top) ? intersection([root], allowed) : [root]));
          if (next.length === 0)
            throw invalid(config.file, 'all that it has said of roots leaves no folder open.');
          open = [...new Set(next)];
        }
      return { roots: open, settings: files.reduce(narrow, base) };
    },
  };
}

/** The settings in the file of a root, with the real folders that its `roots` name. */
interface RootConfig extends ProjectConfig {
  readonly allowed?: readonly string[];
}

/**
 * Creates the reader of a root's file. It returns what the file says and has said before, and why it cannot
 * be read now.
 */
export function createProjectReader(known?: () => Promise<KnownNames>) {
  interface FileState {
    /** The settings that the file has had so far, by their JSON text. */
    readonly versions: Map<string, ProjectConfig>;
    /** The bytes that were valid last, and the key of their version. */
    bytes?: Buffer;
    current?: string;
  }
  const files = new Map<string, FileState>();
  return async (root: string): Promise<readonly RootConfig[]> => {
    const path = join(root, '.toolcrib.json');
    const file: FileState = files.get(path) ?? { versions: new Map() };
    let bytes: Buffer | undefined;
    let problem: ProjectConfig | undefined;
    try {
      bytes = bytesOf(path);
      if (bytes && !file.bytes?.equals(bytes)) {
        const names = { file: path, whose: 'project', known: await known?.() } as const;
        const config = { ...(await readSettings(bytes, names)), file: displayPath(path) };
        const key = JSON.stringify(config);
        file.versions.set(key, config);
        file.bytes = bytes;
        file.current = key;
        files.set(path, file);
      }
    } catch (error) {
      const valid = bytes && (await validPartsOf(bytes, path).catch(noneTooDeep));
      problem = { ...valid, ...unreadable(displayPath(path), error) };
    }
    const isCurrent = (key: string) => problem === undefined && bytes !== undefined && key === file.current;
    const configs = [...file.versions].map(([key, config]) =>
      isCurrent(key) ? config : asReadBefore(config),
    );
    return Promise.all(
      [...configs, ...(problem ? [problem] : [])].map((config) => withFolders(config, root)),
    );
  };
}

/**
 * The settings in place of a file that cannot be read. They make their project stricter, because nobody knows
 * what the file would say. Rethrows other errors.
 */
function unreadable(file: string, error: unknown): ProjectConfig {
  if (!(error instanceof ToolcribError)) throw error;
  const why = error.message.replace(/\.$/, '');
  const until =
    'until that file is mended or deleted, nothing is done here that a person would be asked about';
  return { file, unreadable: `${why}; ${until}` };
}

/** Returns no settings for a document that is nested too deeply to be read. Rethrows other errors. */
function noneTooDeep(error: unknown): Config {
  if (error instanceof RangeError) return {};
  throw error;
}

/** Reads the valid parts of a file with mistakes, setting by setting and rule by rule: they still count. */
async function validPartsOf(bytes: Buffer, file: string): Promise<Config> {
  const [{ parse }, { checkConfig }] = await Promise.all([
    import('jsonc-parser'),
    import('./check-config.ts'),
  ]);
  const text = bytes.toString().replace(/^\ufeff/, '');
  const content: unknown = parse(text.slice(0, mostBytes), [], { allowTrailingComma: true });
  if (typeof content !== 'object' || content === null) return {};
  const validConfig = (part: object): Config => {
    const checked = checkConfig(part, { whose: 'project', file: displayPath(file) });
    return 'config' in checked ? checked.config : {};
  };
  const { rules, ...others } = content as Readonly<Record<string, unknown>>;
  const parts = (whole: object) => Object.entries(whole).map(([name, value]) => ({ [name]: value }));
  const settings = parts(others).map(validConfig);
  const singleRules = parts(typeof rules === 'object' && rules !== null ? rules : {});
  const validRules = singleRules.flatMap((rule) => validConfig({ rules: rule }).rules ?? []);
  return Object.assign({}, ...settings, { rules: validRules }) as Config;
}

async function withFolders(config: ProjectConfig, root: string): Promise<RootConfig> {
  if (!config.roots) return config;
  try {
    return { ...config, allowed: await foldersIn(root, config.roots, config.file) };
  } catch (error) {
    return { ...config, ...unreadable(config.file, error) };
  }
}

/**
 * Reads the bytes of a file; undefined where there is none, or a folder of that name. Synchronous calls are
 * faster here than those in another thread.
 */
function bytesOf(path: string): Buffer | undefined {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts || facts.isDirectory()) return undefined;
  if (!facts.isFile()) throw invalid(displayPath(path), 'it is no plain file; a link to one is none either.');
  if (facts.size > mostBytes) throw invalid(displayPath(path), 'it is larger than 64 KB.');
  const bytes = readPlain(path, ({ size }) => size <= mostBytes);
  if (!bytes) throw invalid(displayPath(path), 'it cannot be read.');
  return bytes;
}

function asReadBefore({ rules = [], file, ...config }: ProjectConfig): ProjectConfig {
  const note = ', as it was when the server read it; restart the server after changing it';
  const noted = rules.map((rule) => ({ ...rule, setting: rule.setting + note }));
  return { ...config, file: file + note, rules: noted };
}

/** The real folders of a project that its file names, as far as they exist. */
async function foldersIn(project: string, named: readonly string[], file: string): Promise<string[]> {
  const real = await Promise.all(named.map((name) => realpath(join(project, name)).catch(() => undefined)));
  const folders = real.filter((folder) => folder !== undefined);
  const outside = folders.find((folder) => !isInside(folder, project));
  if (outside !== undefined)
    throw invalid(file, `roots: ${displayPath(outside)} lies outside of the project.`);
  // Some may still have to be made; none at all is most likely misspelt, and would leave nothing to work in.
  if (folders.length > 0) return folders;
  throw invalid(file, `roots: ${named.map(displayPath).join(', ')}: there is no such folder.`);
}

/**
 * Reads the settings in the bytes of a file: JSON with comments and trailing commas, without repeated keys.
 * Throws CONFIG_INVALID with the file, the line, and what was probably meant.
 */
export async function readSettings(bytes: Buffer, names: ConfigFile): Promise<Config> {
  const file = displayPath(names.file);
  if (!isUtf8(bytes)) throw invalid(file, 'it is not UTF-8.');
  try {
    // Windows editors put a byte order mark before the text.
    return await settingsIn(bytes.toString().replace(/^\ufeff/, ''), { ...names, file });
  } catch (error) {
    // The parser calls itself for each level of a document; no settings are that deep.
    throw error instanceof RangeError ? invalid(file, 'it is nested too deeply.') : error;
  }
}

/**
 * Parses and checks the text of a file. The parser is loaded at the first call, because most people have no
 * such file.
 */
async function settingsIn(text: string, names: ConfigFile): Promise<Config> {
  // The imports are destructured because the package is CommonJS to Node, and an ES module to a bundler.
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
  // The deepest node on the path that exists.
  const nodes = path.map((_, at) => findNodeAtLocation(root, path.slice(0, at + 1)));
  const node = nodes.findLast((each) => each !== undefined);
  const { offset } = node?.parent?.type === 'property' ? node.parent : (node ?? root);
  throw wrongAt(offset, (path.length === 0 ? '' : `${placeOf(path)}: `) + says);
}

/** Makes a CONFIG_INVALID error for a place in a file. */
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
