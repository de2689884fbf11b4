import { pathsOf, variable, type Host } from '../host.ts';
import { shimOf, whyNot } from './candidate.ts';
import type { Broken, Discovery, Installation, ProgramFacts, SearchPath } from './installation.ts';
import { expandPlace } from './known-folders.ts';
import { lookAtFolder } from './search-path.ts';
import { behindShim } from './windows-shim.ts';

/** The outcome of looking for one program. */
export type Search = { readonly installed: Installation } | { readonly why: string };

interface Candidate {
  readonly path: string;
  readonly words: readonly string[];
  readonly source: string;
  /** Why it cannot be used. */
  readonly why: string | undefined;
}

/** Where one looks. */
interface Place {
  readonly host: Host;
  readonly path: SearchPath;
  readonly broken: Broken;
}

/** The folders of the search path in which a program of that name may be. */
type FoldersWith = (name: string) => readonly string[];

/** What is known beside the search path. */
interface Known {
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
  { broken = {}, named = {}, roots = [] }: Known = {},
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
  const place = { host, path, broken };
  const searches = facts.map(async (program) =>
    program.on?.includes(host.platform) === false
      ? { why: 'is not for this system' }
      : choose({ ...program, names: program.called.map(nameOf), at: named[program.id] }, foldersWith, place),
  );
  for (const [index, search] of (await Promise.all(searches)).entries()) {
    const id = facts[index]?.id ?? '';
    const found = 'installed' in search ? search.installed : await ownCopy(facts[index], roots, host);
    if (found) installed.set(id, found);
    else if ('why' in search) missing.set(id, search);
  }
  return { path, installed, missing };
}

/** The copy of a program that a project keeps, where the machine has none. */
async function ownCopy(
  program: ProgramFacts | undefined,
  roots: readonly string[],
  host: Host,
): Promise<Installation | undefined> {
  const places = program?.own?.[host.platform === 'win32' ? 'win32' : 'posix'] ?? [];
  for (const root of roots)
    for (const place of places) {
      const path = pathsOf(host).join(root, place);
      if (program && !place.startsWith('$') && (await host.stat(path))?.isFile)
        return { id: program.id, program: path, leading: [], words: [], source: root, others: [], own: true };
    }
  return undefined;
}

/** Finds one program by any name. */
export async function whichProgram(name: string, host: Host, path: SearchPath): Promise<Search> {
  if (!/^[^\\/:*?"<>|\0]+$/.test(name) || /^\.+$/.test(name))
    return { why: `"${name}" is not the name of a program` };
  const folders = path.folders.map(({ folder }) => folder);
  return choose({ id: name, names: [{ name, words: [] }] }, () => folders, { host, path, broken: {} });
}

/** What a program is called: `docker compose` is docker with a first word. */
interface Name {
  readonly name: string;
  readonly words: readonly string[];
}

function nameOf(called: string): Name {
  const [name = '', ...words] = called.split(' ');
  return { name, words };
}

type Wanted = Pick<ProgramFacts, 'id' | 'elsewhere'> & {
  readonly names: readonly Name[];
  /** Where the settings say that it is. */
  readonly at?: string | undefined;
};

/** Looks at all candidates, to say why the others lost. What the settings name is taken, or nothing. */
async function choose(wanted: Wanted, foldersWith: FoldersWith, place: Place): Promise<Search> {
  const { id, names, at } = wanted;
  const found =
    at === undefined
      ? [
          ...(await Promise.all(
            names.map((name) => candidatesIn(foldersWith(name.name), { ...name, id }, place)),
          )),
          await candidatesElsewhere(wanted, place),
        ].flat()
      : await candidatesAt(at, wanted, place);
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
  const called = names.map(({ name, words }) => [name, ...words].join(' '));
  const looked = `no ${called.join(', ')} in ${count === 1 ? 'one folder' : `${count} folders`}`;
  return { why: refused === '' ? looked : `${looked} that can be used: ${refused}` };
}

/** A file by its path, as the settings or a program's own facts have it. */
async function candidatesAt(file: string, { id, names, at }: Wanted, place: Place): Promise<Candidate[]> {
  const { basename, dirname } = pathsOf(place.host);
  const { words = [] } = names[0] ?? {};
  const found = await candidatesIn([dirname(file)], { name: basename(file), words, id }, place);
  return at === undefined ? found : found.map((one) => ({ ...one, source: 'settings' }));
}

async function candidatesIn(
  folders: readonly string[],
  { name, words, id }: { name: string; words: readonly string[]; id: string },
  { host, path, broken }: Place,
): Promise<Candidate[]> {
  const files = await host.which(name, folders, endingsOf(host));
  return Promise.all(
    files.map(async (file) => {
      const folder = pathsOf(host).dirname(file);
      const source = path.folders.find((searched) => searched.folder === folder)?.source ?? 'known place';
      return { path: file, words, source, why: broken[`${id} ${file}`] ?? (await whyNot(file, host)) };
    }),
  );
}

async function candidatesElsewhere(wanted: Wanted, place: Place): Promise<Candidate[]> {
  const { host } = place;
  const known = wanted.elsewhere?.[host.platform] ?? [];
  const files = (await Promise.all(known.map((file) => expandPlace(file, host)))).flat();
  const found = files.map(async (file) => {
    // Its folder is not on the search path, hence has not been looked at.
    const folder = await lookAtFolder(pathsOf(host).dirname(file), host);
    const left = folder && 'why' in folder ? `in a folder that is left out: ${folder.why}` : undefined;
    return (await candidatesAt(file, wanted, place)).map((one) => ({ ...one, why: one.why ?? left }));
  });
  return (await Promise.all(found)).flat();
}

async function installationOf(
  id: string,
  { path: program, words, source }: Candidate,
  others: Installation['others'],
  { host, path }: Place,
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
