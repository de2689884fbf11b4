import { readCache, writeCache } from '../folders.ts';
import type { Discovery, Installation, ProgramFacts, Version } from './installation.ts';

/** Plugins of programs, such as docker compose, are there or not, and only the program can tell. */
const cacheName = 'absent-plugins.json';

/** Why a plugin is not there, by id and the path of its program. */
export type Absent = Readonly<Record<string, string>>;

const keyOf = ({ id, program }: Installation): string => `${id} ${program}`;

/** What was found to be absent the last time; asking takes too long for a first answer. */
export function knownAbsent(cacheFolder: string | undefined): Absent {
  const kept = readCache(cacheFolder, cacheName);
  return typeof kept === 'object' && kept !== null ? (kept as Absent) : {};
}

/** The plugins that do not know their own version, by what their programs have just said; kept for the next start. */
export function findAbsent(
  plugins: readonly Installation[],
  versions: ReadonlyMap<string, Version>,
  cacheFolder: string | undefined,
): Absent {
  const unknown = plugins.filter(({ id }) => versions.get(id)?.unknown);
  const absent = Object.fromEntries(
    unknown.map((plugin) => [keyOf(plugin), versions.get(plugin.id)?.note ?? '']),
  );
  writeCache(cacheFolder, cacheName, absent);
  return absent;
}

export const pluginsIn = (found: Discovery, facts: readonly ProgramFacts[]): Installation[] =>
  facts.filter(({ prefix }) => prefix !== undefined).flatMap(({ id }) => found.installed.get(id) ?? []);

/** A discovery in which absent plugins count as missing. */
export function withoutAbsent(found: Discovery, absent: Absent): Discovery {
  const gone = [...found.installed.values()].filter((plugin) => absent[keyOf(plugin)] !== undefined);
  if (gone.length === 0) return found;
  const installed = new Map(found.installed);
  const missing = new Map(found.missing);
  for (const plugin of gone) {
    installed.delete(plugin.id);
    missing.set(plugin.id, { why: `${plugin.program} is there without it (${absent[keyOf(plugin)]})` });
  }
  return { ...found, installed, missing };
}
