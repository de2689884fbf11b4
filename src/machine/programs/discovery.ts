import { pathsOf, variable, type Host } from '../host.ts';
import type { BrokenPrograms, Discovery, Installation, ProgramFacts, SearchPath } from './installation.ts';
import { expandPlace, lookAtFolder } from './search-path.ts';
import { behindShim } from './windows-shim.ts';

/** The outcome of the search for one program. */
export type ProgramSearch = { readonly installed: Installation } | { readonly why: string };

/** A file name to search for, and the folders to search. */
interface Lookup {
  readonly name: string;
  /** The first words of the program: `compose` of `docker compose`. */
  readonly words: readonly string[];
  readonly folders: readonly string[];
  /** The source to report; by default that of the folder on the search path. */
  readonly source?: string;
  /** The reason why no file in these folders can be used. */
  readonly why?: string | undefined;
}

interface ProgramCandidate extends Pick<Installation, 'words' | 'source'> {
  readonly path: string;
  /** The reason why it cannot be used. */
  readonly why: string | undefined;
}

/** The machine that is searched, and the candidates that are known to be broken there. */
interface SearchContext {
  readonly host: Host;
  readonly path: SearchPath;
  readonly broken: BrokenPrograms;
}

/** Facts that discovery uses in addition to the search path. */
interface DiscoveryHints {
  readonly broken?: BrokenPrograms;
  /** The paths of programs that the settings name, by id. */
  readonly named?: Readonly<Record<string, string>>;
  /** The folders of projects, which may have copies of their own. */
  readonly roots?: readonly string[];
}

/**
 * Finds the installed programs. A better name of a program wins over an earlier folder of the search path.
 * Each folder is listed once, and only files in it are examined. The working directory plays no part.
 */
export async function discover(
  facts: readonly ProgramFacts[],
  host: Host,
  path: SearchPath,
  { broken = {}, named = {}, roots = [] }: DiscoveryHints = {},
): Promise<Discovery> {
  const folded = (name: string) => (host.platform === 'win32' ? name.toLowerCase() : name);
  const listings = await Promise.all(
    path.folders.map(async ({ folder }) => ({
      folder,
      names: new Set((await host.list(folder)).map(folded)),
    })),
  );
  const foldersWith = (name: string) => {
    const files = ['', ...endingsOf(host)].map((ending) => folded(name + ending));
    return listings.filter(({ names }) => files.some((file) => names.has(file))).map(({ folder }) => folder);
  };
  const installed = new Map<string, Installation>();
  const missing = new Map<string, { why: string }>();
  const searches = facts.map(async (program): Promise<ProgramSearch> => {
    if (program.on?.includes(host.platform) === false) return { why: 'is not for this system' };
    const query = { ...program, at: named[program.id] };
    const lookups = await lookupsFor(query, foldersWith, host);
    const search = await choose(query, lookups, { host, path, broken });
    const own = 'why' in search ? await ownCopy(program, roots, host) : undefined;
    return own ? { installed: own } : search;
  });
  for (const [index, search] of (await Promise.all(searches)).entries()) {
    const id = facts[index]?.id ?? '';
    if ('installed' in search) installed.set(id, search.installed);
    else missing.set(id, search);
  }
  return { path, installed, missing };
}

/** Finds the copy of a program in a project, for programs that the machine does not have. */
async function ownCopy(
  { id, own }: ProgramFacts,
  roots: readonly string[],
  host: Host,
): Promise<Installation | undefined> {
  for (const root of roots)
    for (const location of own?.[host.platform === 'win32' ? 'win32' : 'posix'] ?? []) {
      const program = pathsOf(host).join(root, location);
      if (!location.startsWith('$') && (await host.stat(program))?.isFile)
        return { id, program, leading: [], words: [], source: root, others: [], own: true };
    }
  return undefined;
}

/** Finds a program by its name, whether or not toolcrib knows it. */
export async function whichProgram(name: string, host: Host, path: SearchPath): Promise<ProgramSearch> {
  if (!/^[^\\/:*?"<>|\0]+$/.test(name) || /^\.+$/.test(name))
    return { why: `"${name}" is not the name of a program` };
  const folders = path.folders.map(({ folder }) => folder);
  return choose({ id: name, called: [name] }, [{ name, words: [], folders }], { host, path, broken: {} });
}

type ProgramQuery = Pick<ProgramFacts, 'id' | 'called' | 'elsewhere'> & {
  /** The path that the settings name; no other file is tried. */
  readonly at?: string | undefined;
};

/** The lookups for a program, the best first. */
async function lookupsFor(
  { called, elsewhere, at }: ProgramQuery,
  foldersWith: (name: string) => readonly string[],
  host: Host,
): Promise<Lookup[]> {
  const { basename, dirname } = pathsOf(host);
  const names = called.map((text) => {
    const [name = '', ...words] = text.split(' ');
    return { name, words, folders: foldersWith(name) };
  });
  const fileAt = (file: string) => ({
    name: basename(file),
    words: names[0]?.words ?? [],
    folders: [dirname(file)],
  });
  if (at !== undefined) return [{ ...fileAt(at), source: 'settings' }];
  const known = elsewhere?.[host.platform] ?? [];
  const files = (await Promise.all(known.map((file) => expandPlace(file, host)))).flat();
  const further = files.map(async (file) => {
    // Its folder is not on the search path, and so has not been checked.
    const folder = await lookAtFolder(dirname(file), host);
    const why = folder && 'why' in folder ? `in a folder that is left out: ${folder.why}` : undefined;
    return { ...fileAt(file), why };
  });
  return [...names, ...(await Promise.all(further))];
}

/** Chooses the best candidate. All of them are examined, to say why the others lost. */
async function choose(
  { id, called, at }: ProgramQuery,
  lookups: readonly Lookup[],
  context: SearchContext,
): Promise<ProgramSearch> {
  const found = (await Promise.all(lookups.map((lookup) => candidatesIn(lookup, id, context)))).flat();
  // A known location may be on the search path as well.
  const candidates = found.filter(
    (candidate, index) => found.findIndex(({ path }) => path === candidate.path) === index,
  );
  const best = candidates.find(({ why }) => why === undefined);
  const others = candidates
    .filter((candidate) => candidate !== best)
    .map(({ path, why = 'comes later' }) => ({ path, why }));
  if (best) return { installed: await installationOf(id, best, others, context) };
  const refused = others.map(({ path, why }) => `${path} is ${why}`).join('; ');
  if (at !== undefined) return { why: refused || `${at}, which the settings name, cannot be started` };
  const count = context.path.folders.length;
  const searched = `no ${called.join(', ')} in ${count === 1 ? 'one folder' : `${count} folders`}`;
  return { why: refused === '' ? searched : `${searched} that can be used: ${refused}` };
}

async function candidatesIn(
  { name, words, folders, source, why }: Lookup,
  id: string,
  { host, path, broken }: SearchContext,
): Promise<ProgramCandidate[]> {
  const files = await host.which(name, folders, endingsOf(host));
  return Promise.all(
    files.map(async (file) => {
      const folder = pathsOf(host).dirname(file);
      const searched = path.folders.find((each) => each.folder === folder);
      const refused = broken[`${id} ${file}`] ?? (await whyUnusable(file, host)) ?? why;
      return { path: file, words, source: source ?? searched?.source ?? 'known place', why: refused };
    }),
  );
}

async function installationOf(
  id: string,
  { path: program, words, source }: ProgramCandidate,
  others: Installation['others'],
  { host, path }: SearchContext,
): Promise<Installation> {
  const shim = await shimOf(program, host);
  const folders = path.folders.map(({ folder }) => folder);
  const node = async () => (await host.which('node', folders, ['.exe']))[0];
  const isBatch = host.platform === 'win32' && /\.(?:cmd|bat)$/i.test(program);
  const behind = isBatch && shim === undefined ? await behindShim(program, host, node) : undefined;
  const start = behind ?? { program, leading: [] };
  return { id, ...start, words, source, others, ...(shim !== undefined && { shim }) };
}

/**
 * The endings of files that can be started. PATHEXT may also name scripts (.js, .vbs), which need a program
 * of their own.
 */
function endingsOf(host: Host): string[] {
  if (host.platform !== 'win32') return [];
  const named = (variable(host, 'PATHEXT') ?? '').toLowerCase().split(';');
  const startable = ['.com', '.exe', '.bat', '.cmd'];
  const endings = named.filter((ending) => startable.includes(ending));
  return endings.length > 0 ? endings : startable;
}

/** The reason why an executable file does not count as a program of this machine, if there is one. */
async function whyUnusable(path: string, host: Host): Promise<string | undefined> {
  const facts = await host.stat(path);
  // On Windows the mode means nothing, and is 0.
  if (facts && (facts.mode & 0o002) !== 0)
    return 'world-writable: anyone could have put something else there';
  return whyStub(path, host);
}

/**
 * Programs that macOS has in /usr/bin before they are installed; starting one opens a dialog that offers to
 * install them.
 */
const stubs =
  /^\/usr\/bin\/(git|g?make|python3|pip3|gcc|g\+\+|cc|c\+\+|clang(?:\+\+|d)?|swiftc?|lldb|xcodebuild)$/;
const developerFolders = [
  '/var/db/xcode_select_link/usr/bin',
  '/Library/Developer/CommandLineTools/usr/bin',
  '/Applications/Xcode.app/Contents/Developer/usr/bin',
];

async function whyStub(path: string, host: Host): Promise<string | undefined> {
  const name = host.platform === 'darwin' ? stubs.exec(path)?.[1] : undefined;
  if (name === undefined) return undefined;
  const behind = await Promise.all(developerFolders.map((folder) => host.stat(`${folder}/${name}`)));
  if (behind.some((found) => found?.isFile)) return undefined;
  return 'a stub of macOS: install the Xcode command line tools with "xcode-select --install"';
}

/**
 * Patterns of version managers: of their folders of shims, and of the programs behind links with other names.
 */
const shims = [
  /\/\.?(mise|asdf|pyenv|rbenv|nodenv|jenv|goenv|proto)(?:-data|\/pyenv-win)?\/shims\//i,
  /\/(rustup|corepack|mise|volta|aqua)(?:-init|-shim|-proxy)?(?:\/dist\/\w+\.js)?(?:\.exe)?$/i,
];

/**
 * The version manager whose shim a program is. A shim may download a whole toolchain when it is started, so
 * it is started only on request. Undefined for other programs, and for the managers themselves.
 */
async function shimOf(program: string, host: Host): Promise<string | undefined> {
  const paths = [(await host.realPath(program)) ?? program, program].map((path) =>
    path.replaceAll('\\', '/'),
  );
  const found = paths.flatMap((path) => shims.map((shim) => shim.exec(path)?.[1]));
  const manager = found.find((name) => name !== undefined)?.toLowerCase();
  const name = paths.at(-1)?.replace(/.*\//, '');
  return manager === undefined || name?.startsWith(manager) ? undefined : manager;
}
