import { pathsOf, variable, type Host } from '../host.ts';
import type { Broken, Discovery, Installation, ProgramFacts, SearchPath } from './installation.ts';
import { expandPlace, lookAtFolder } from './search-path.ts';
import { behindShim } from './windows-shim.ts';

/** The outcome of looking for one program. */
export type ProgramSearch = { readonly installed: Installation } | { readonly why: string };

/** Files of one name, which may be what is looked for. */
interface Lookup {
  readonly name: string;
  /** First words of the program: `compose` of `docker compose`. */
  readonly words: readonly string[];
  readonly folders: readonly string[];
  /** Left out: that of the folder on the search path. */
  readonly source?: string;
  /** Why none in these folders can be used. */
  readonly why?: string | undefined;
}

interface ProgramCandidate extends Pick<Installation, 'words' | 'source'> {
  readonly path: string;
  /** Why it cannot be used. */
  readonly why: string | undefined;
}

/** Where one looks. */
interface CandidateFile {
  readonly host: Host;
  readonly path: SearchPath;
  readonly broken: Broken;
}

/** What is known beside the search path. */
interface DiscoveryHints {
  readonly broken?: Broken;
  /** Where the settings say that programs are, by id. */
  readonly named?: Readonly<Record<string, string>>;
  /** Folders of projects, which may keep copies of their own. */
  readonly roots?: readonly string[];
}

/**
 * Finds programs: the best of each one's names first, then the first folder of the search path. Each folder is
 * listed once, and only what is in it is looked at. The working directory plays no part.
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
    const wanted = { ...program, at: named[program.id] };
    const found = await choose(wanted, await lookupsFor(wanted, foldersWith, host), { host, path, broken });
    const own = 'why' in found ? await ownCopy(program, roots, host) : undefined;
    return own ? { installed: own } : found;
  });
  for (const [index, search] of (await Promise.all(searches)).entries()) {
    const id = facts[index]?.id ?? '';
    if ('installed' in search) installed.set(id, search.installed);
    else missing.set(id, search);
  }
  return { path, installed, missing };
}

/** The copy of a program that a project keeps, where the machine has none. */
async function ownCopy(
  { id, own }: ProgramFacts,
  roots: readonly string[],
  host: Host,
): Promise<Installation | undefined> {
  for (const root of roots)
    for (const place of own?.[host.platform === 'win32' ? 'win32' : 'posix'] ?? []) {
      const program = pathsOf(host).join(root, place);
      if (!place.startsWith('$') && (await host.stat(program))?.isFile)
        return { id, program, leading: [], words: [], source: root, others: [], own: true };
    }
  return undefined;
}

/** Finds one program by any name. */
export async function whichProgram(name: string, host: Host, path: SearchPath): Promise<ProgramSearch> {
  if (!/^[^\\/:*?"<>|\0]+$/.test(name) || /^\.+$/.test(name))
    return { why: `"${name}" is not the name of a program` };
  const folders = path.folders.map(({ folder }) => folder);
  return choose({ id: name, called: [name] }, [{ name, words: [], folders }], { host, path, broken: {} });
}

type ProgramQuery = Pick<ProgramFacts, 'id' | 'called' | 'elsewhere'> & {
  /** Where the settings say that it is, which is taken, or nothing. */
  readonly at?: string | undefined;
};

/** Where a program may be, best first. */
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
    // Its folder is not on the search path, hence has not been looked at.
    const folder = await lookAtFolder(dirname(file), host);
    const why = folder && 'why' in folder ? `in a folder that is left out: ${folder.why}` : undefined;
    return { ...fileAt(file), why };
  });
  return [...names, ...(await Promise.all(further))];
}

/** Looks at all candidates, to say why the others lost. */
async function choose(
  { id, called, at }: ProgramQuery,
  lookups: readonly Lookup[],
  place: CandidateFile,
): Promise<ProgramSearch> {
  const found = (await Promise.all(lookups.map((lookup) => candidatesIn(lookup, id, place)))).flat();
  // A known place may be on the search path as well.
  const all = found.filter((one, index) => found.findIndex(({ path }) => path === one.path) === index);
  const best = all.find(({ why }) => why === undefined);
  const others = all
    .filter((candidate) => candidate !== best)
    .map(({ path, why = 'comes later' }) => ({ path, why }));
  if (best) return { installed: await installationOf(id, best, others, place) };
  const refused = others.map(({ path, why }) => `${path} is ${why}`).join('; ');
  if (at !== undefined) return { why: refused || `${at}, which the settings name, cannot be started` };
  const count = place.path.folders.length;
  const looked = `no ${called.join(', ')} in ${count === 1 ? 'one folder' : `${count} folders`}`;
  return { why: refused === '' ? looked : `${looked} that can be used: ${refused}` };
}

async function candidatesIn(
  { name, words, folders, source, why }: Lookup,
  id: string,
  { host, path, broken }: CandidateFile,
): Promise<ProgramCandidate[]> {
  const files = await host.which(name, folders, endingsOf(host));
  return Promise.all(
    files.map(async (file) => {
      const folder = pathsOf(host).dirname(file);
      const searched = path.folders.find((each) => each.folder === folder);
      const refused = broken[`${id} ${file}`] ?? (await whyNot(file, host)) ?? why;
      return { path: file, words, source: source ?? searched?.source ?? 'known place', why: refused };
    }),
  );
}

async function installationOf(
  id: string,
  { path: program, words, source }: ProgramCandidate,
  others: Installation['others'],
  { host, path }: CandidateFile,
): Promise<Installation> {
  const shim = await shimOf(program, host);
  const folders = path.folders.map(({ folder }) => folder);
  const node = async () => (await host.which('node', folders, ['.exe']))[0];
  const isBatch = host.platform === 'win32' && /\.(?:cmd|bat)$/i.test(program);
  const behind = isBatch && shim === undefined ? await behindShim(program, host, node) : undefined;
  const start = behind ?? { program, leading: [] };
  return { id, ...start, words, source, others, ...(shim !== undefined && { shim }) };
}

/** PATHEXT may also name scripts (.js, .vbs): those need a program of their own, so they cannot be started. */
function endingsOf(host: Host): string[] {
  if (host.platform !== 'win32') return [];
  const named = (variable(host, 'PATHEXT') ?? '').toLowerCase().split(';');
  const startable = ['.com', '.exe', '.bat', '.cmd'];
  const endings = named.filter((ending) => startable.includes(ending));
  return endings.length > 0 ? endings : startable;
}

/** Why a file cannot be taken for a program of the machine's, though it can be started. */
async function whyNot(path: string, host: Host): Promise<string | undefined> {
  const facts = await host.stat(path);
  // On Windows the mode means nothing, and is 0.
  if (facts && (facts.mode & 0o002) !== 0)
    return 'world-writable: anyone could have put something else there';
  return whyStub(path, host);
}

/** macOS has these in /usr/bin before they are installed; starting one opens a dialog that offers to install them. */
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

/** Version managers: by their folders of shims, and by the programs that stand behind links of other names. */
const shims = [
  /\/\.?(mise|asdf|pyenv|rbenv|nodenv|jenv|goenv|proto)(?:-data|\/pyenv-win)?\/shims\//i,
  /\/(rustup|corepack|mise|volta|aqua)(?:-init|-shim|-proxy)?(?:\/dist\/\w+\.js)?(?:\.exe)?$/i,
];

/**
 * The version manager whose stand-in a program is. Such a one may download a whole toolchain when it is called, so it
 * is not called without being asked. Undefined for a program of its own, also for the managers themselves.
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
