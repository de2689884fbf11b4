import { fileNamesOf, judge, judgeWithFolder, type Candidate, type Judged } from './candidate.ts';
import { pathsOf, type Host } from '../host.ts';
import type { Discovery, Installation, ProgramFacts, SearchPath } from './installation.ts';
import { expandPlace } from './known-folders.ts';
import { shimOf } from './shim.ts';
import { behindShim } from './windows-shim.ts';

/** The outcome of looking for one program. */
export type Search = { readonly installed: Installation } | { readonly why: string };

type Wanted = Pick<ProgramFacts, 'id' | 'programs' | 'elsewhere'>;
/** The names in a search folder that are of interest, by what they compare as. */
type Listing = ReadonlyMap<string, string>;

/**
 * Finds programs: the best of each one's names first, then the first folder of the search path. Each folder is
 * listed once, and only what is in it is looked at. The working directory plays no part.
 */
export async function discover(
  facts: readonly ProgramFacts[],
  host: Host,
  path: SearchPath,
): Promise<Discovery> {
  const names = facts.flatMap(({ programs }) => programs.flatMap((name) => fileNamesOf(name, host)));
  const wanted = new Set(names.map((name) => comparable(name, host)));
  const listings = await Promise.all(path.folders.map(({ folder }) => listingOf(folder, wanted, host)));
  const searches = await Promise.all(
    facts.map((program) =>
      choose(program, listedCandidates(program.programs, host, path, listings), host, path),
    ),
  );

  const installed = new Map<string, Installation>();
  const missing = new Map<string, { why: string }>();
  for (const [index, { id }] of facts.entries()) {
    const search = searches[index];
    if (search && 'installed' in search) installed.set(id, search.installed);
    else if (search) missing.set(id, search);
  }
  return { path, installed, missing };
}

/**
 * Finds one program by any name. As `which` does it, except that Windows' own way of looking in the working
 * directory first is left out, and that the reasons are kept.
 */
export async function whichProgram(name: string, host: Host, path: SearchPath): Promise<Search> {
  if (!/^[^\\/:*?"<>|\0]+$/.test(name) || /^\.+$/.test(name))
    return { why: `"${name}" is not the name of a program` };
  const { join } = pathsOf(host);
  const candidates = path.folders.flatMap(({ folder, source }) =>
    fileNamesOf(name, host).map((file) => ({ path: join(folder, file), source, ifLater: laterOnPath })),
  );
  return choose({ id: name, programs: [name] }, candidates, host, path);
}

const laterOnPath = 'later on the search path';

const comparable = (name: string, host: Host): string =>
  host.platform === 'win32' ? name.toLowerCase() : name;

async function listingOf(folder: string, wanted: ReadonlySet<string>, host: Host): Promise<Listing> {
  const listing = new Map<string, string>();
  for (const name of await host.list(folder)) {
    const key = comparable(name, host);
    if (wanted.has(key)) listing.set(key, name);
  }
  return listing;
}

function listedCandidates(
  names: readonly string[],
  host: Host,
  path: SearchPath,
  listings: readonly Listing[],
): Candidate[] {
  const { join } = pathsOf(host);
  return names.flatMap((name, rank) =>
    path.folders.flatMap(({ folder, source }, index) =>
      fileNamesOf(name, host).flatMap((file) => {
        const found = listings[index]?.get(comparable(file, host));
        const ifLater = rank === 0 ? laterOnPath : `${laterOnPath}, or a name that comes after ${names[0]}`;
        return found === undefined ? [] : [{ path: join(folder, found), source, ifLater }];
      }),
    ),
  );
}

/** Looks at all candidates, also behind the best: to say why the others lost. */
async function choose(
  wanted: Wanted,
  listed: readonly Candidate[],
  host: Host,
  path: SearchPath,
): Promise<Search> {
  const found = await Promise.all([
    ...listed.map((candidate) => judge(candidate, host)),
    ...candidatesElsewhere(wanted, host, listed).map((candidate) => judgeWithFolder(candidate, host)),
  ]);
  const judged = found.filter((candidate) => candidate !== undefined);
  const best = judged.find(({ why }) => why === undefined);
  const others = judged
    .filter((candidate) => candidate !== best)
    .map((candidate) => ({ path: candidate.path, why: candidate.why ?? candidate.ifLater }));
  if (!best) return { why: whyMissing(wanted, path, others) };
  return { installed: await installationOf(wanted.id, best, others, { host, path }) };
}

function candidatesElsewhere(wanted: Wanted, host: Host, listed: readonly Candidate[]): Candidate[] {
  const seen = new Set(listed.map((candidate) => comparable(candidate.path, host)));
  return (wanted.elsewhere?.[host.platform] ?? [])
    .map((place) => expandPlace(place, host))
    .filter((found) => found !== undefined)
    .filter((found) => !seen.has(comparable(found, host)))
    .map((found) => ({
      path: found,
      source: 'known place',
      ifLater: 'the search path comes before known places',
    }));
}

function whyMissing(wanted: Wanted, path: SearchPath, refused: Installation['others']): string {
  const count = path.folders.length;
  const looked = `no ${wanted.programs.join(', ')} in ${count === 1 ? 'one folder' : `${count} folders`}`;
  if (refused.length === 0) return looked;
  return `${looked} that can be used: ${refused.map((found) => `${found.path} is ${found.why}`).join('; ')}`;
}

async function installationOf(
  id: string,
  best: Judged,
  others: Installation['others'],
  { host, path }: { host: Host; path: SearchPath },
): Promise<Installation> {
  const { source, facts } = best;
  const shim = await shimOf(best.path, facts, host);
  const isBatch = host.platform === 'win32' && /\.(?:cmd|bat)$/i.test(best.path);
  const behind =
    isBatch && shim === undefined && (await behindShim(best.path, host, () => nodeOn(path, host)));
  return {
    id,
    ...(behind || { program: best.path, leading: [] }),
    source,
    others,
    ...(shim !== undefined && { shim }),
  };
}

async function nodeOn(path: SearchPath, host: Host): Promise<string | undefined> {
  const { join } = pathsOf(host);
  for (const { folder } of path.folders) {
    const node = join(folder, 'node.exe');
    if ((await host.stat(node))?.isFile) return node;
  }
  return undefined;
}
