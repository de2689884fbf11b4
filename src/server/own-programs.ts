import { readdirSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type * as z from 'zod';
import { nearest } from '../core/nearest.ts';
import { toolName } from '../core/discoverer.ts';
import type { Program } from '../core/program.ts';
import { readPlain } from '../own-files/own-files.ts';
import { shownPath } from '../machine/paths/shown-path.ts';
import type { Manifest } from './published.ts';

/** Programs of a person's own, and what is wrong with their files. */
interface OwnPrograms {
  readonly programs: readonly { readonly of: Program; readonly file: string }[];
  /** One for each file that is left out: file, line, and why. */
  readonly problems: readonly string[];
}

/** Where programs are described: a folder, and effects that each action from there has at least. */
export interface ProgramFolder {
  readonly folder: string;
  readonly least: readonly 'execute'[];
}

/** Far more than a program needs. */
const mostBytes = 256 * 1024;
const mostFiles = 100;

/** Programs of files, `*.yaml`; none when there is no such folder. What they need is loaded when there is one. */
async function readOwnPrograms(folders: readonly ProgramFolder[]): Promise<OwnPrograms> {
  const files = folders.flatMap(({ folder, least }) =>
    namesIn(folder).map((name) => ({ file: join(folder, name), least })),
  );
  if (files.length === 0) return { programs: [], problems: [] };
  const { parseProgram } = await import('./program-yaml.ts');
  const programs: { of: Program; file: string }[] = [];
  const problems: string[] = [];
  for (const { file, least } of files.slice(0, mostFiles)) {
    const text = readPlain(file, isFit)?.toString();
    const parsed = text === undefined ? undefined : parseProgram(text, least);
    if (!parsed)
      problems.push(`${shownPath(file)}: is no plain file of at most 256 KB that only you can change.`);
    else if ('of' in parsed) programs.push({ of: parsed.of, file });
    else problems.push(`${shownPath(file)}:${parsed.line}: ${parsed.wrong}`);
  }
  return { programs, problems };
}

/** One that others can write to could describe anything. On Windows the mode means nothing, and is 0. */
const isFit = ({ size, mode }: Stats): boolean => size <= mostBytes && (mode & 0o002) === 0;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.ya?ml$/.test(name))
      .toSorted();
  } catch {
    return []; // There is no such folder.
  }
}

/** A manifest, and what it does not have from the build. */
export interface WholeManifest {
  readonly manifest: Manifest;
  /** The programs that people have described, by id. */
  readonly own: Pick<ReadonlyMap<string, Program>, 'get'>;
  readonly problems: readonly string[];
}

/** The manifest with the programs of these folders; those whose id is taken are left out, which is said. */
export const withOwnPrograms = async (
  built: Manifest,
  folders: readonly ProgramFolder[],
): Promise<WholeManifest> => together(built, await readOwnPrograms(folders));

/** The same, which follows what a person changes in their folder; what projects describe counts as it was. */
export async function liveManifest(
  built: Manifest,
  own: ProgramFolder,
  ofProjects: readonly ProgramFolder[],
): Promise<WholeManifest & { renew(): Promise<boolean> }> {
  const others = await readOwnPrograms(ofProjects);
  const now = async () => {
    const { programs, problems } = await readOwnPrograms([own]);
    return together(built, {
      programs: [...programs, ...others.programs],
      problems: [...problems, ...others.problems],
    });
  };
  let stamp = stampOf(own);
  let whole = await now();
  return {
    manifest: {
      get programs() {
        return whole.manifest.programs;
      },
      get tools() {
        return whole.manifest.tools;
      },
      get examples() {
        return whole.manifest.examples;
      },
    },
    own: { get: (id) => whole.own.get(id) },
    problems: whole.problems,
    async renew() {
      const latest = stampOf(own);
      if (latest === stamp) return false;
      stamp = latest;
      whole = await now();
      return true;
    },
  };
}

const stampOf = ({ folder }: ProgramFolder): string =>
  namesIn(folder)
    .map((name) => {
      const { mtimeMs, size } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
      return `${name} ${mtimeMs} ${size}`;
    })
    .join();

/** Of one program, in the list that every host is shown: who describes a program wants it to be seen. */
const mostListed = 5;

async function together(manifest: Manifest, { programs, problems }: OwnPrograms): Promise<WholeManifest> {
  const ids = new Set([...manifest.programs.map(({ id }) => id), 'files', 'toolcrib']);
  // A program `read` with an action `file` would be called like a tool of ours.
  const names = new Set(manifest.tools.map(({ name }) => name));
  const isFree = ({ of }: OwnPrograms['programs'][number]) => {
    const tools = Object.keys(of.actions).map((key) => toolName(of, key));
    if (ids.has(of.id) || tools.some((name) => names.has(name))) return false;
    ids.add(of.id);
    for (const name of tools) names.add(name);
    return true;
  };
  const added = programs.filter(isFree);
  const refused = programs
    .filter((one) => !added.includes(one))
    .map(
      ({ file, of }) =>
        `${shownPath(file)}: there is a program ${of.id} already, or a tool by one of its names; choose another id.`,
    );
  if (added.length === 0) return { manifest, own: new Map(), problems: [...problems, ...refused] };
  const { publishPrograms } = await import('./publish-tool.ts');
  const published = publishPrograms(
    added.map(({ of, ...where }) => ({
      ...where,
      of: { ...of, listed: Object.keys(of.actions).slice(0, mostListed) },
    })),
  );
  return {
    manifest: {
      programs: [...manifest.programs, ...published.programs],
      tools: [...manifest.tools, ...published.tools].toSorted((one, other) =>
        one.name < other.name ? -1 : 1,
      ),
      examples: { ...manifest.examples, ...published.examples },
    },
    own: new Map(added.map(({ of }) => [of.id, of])),
    problems: [...problems, ...refused],
  };
}

/** What is wrong at the first place that is. */
export function complaintOf(
  { issues }: z.ZodError,
  keysAt: (path: readonly PropertyKey[]) => readonly string[],
): { readonly path: readonly PropertyKey[]; readonly says: string } {
  // A misspelt key is what a missing one comes from.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (!issue) return { path: [], says: 'cannot be understood.' };
  const place = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const known = keysAt(issue.path);
    const best = nearest(key, known);
    const meant = best ? `; did you mean ${best}?` : `. They are ${known.join(', ')}.`;
    return {
      path: [...issue.path, key],
      says: `${place && `${place}.`}${key}: there is no such key${meant}`,
    };
  }
  return { path: issue.path, says: `${place}: ${issue.message.replace(/^Invalid (?:input|option): /, '')}.` };
}
