import { readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { toolName } from '../../core/discoverer.ts';
import type { Program } from '../../core/program.ts';
import { permissionsIn, readPlain } from '../../store/own-files.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import type { Catalogue } from '../../machine/catalogue.ts';

/** A folder in which programs are described, and effects that each action from there has at least. */
export interface ProgramFolder {
  readonly folder: string;
  readonly least: readonly 'execute'[];
}

/** Far more than a program needs. */
const mostBytes = 256 * 1024;
const mostFiles = 100;

/** Of one program, in the list that every host is shown. */
const mostListed = 5;

/** A catalogue, and what it does not have from the build. */
export interface UserCatalogue {
  readonly catalogue: Catalogue;
  /** The programs that people have described, by id. */
  readonly userPrograms: ReadonlyMap<string, Program>;
  /** One for each file that is left out: file, line, and why. */
  readonly problems: readonly string[];
}

/**
 * The catalogue with the programs of the files `*.yaml` in these folders. Those whose id is taken are left
 * out, which is said.
 */
export async function withUserPrograms(
  built: Catalogue,
  folders: readonly ProgramFolder[],
): Promise<UserCatalogue> {
  const problems: string[] = [];
  const added: { of: Program; file: string }[] = [];
  const files = folders.flatMap(({ folder, least }) =>
    namesIn(folder).map((name) => ({ file: join(folder, name), least })),
  );
  if (files.length === 0) return { catalogue: built, userPrograms: new Map(), problems };
  // What they need is loaded when there is one.
  const { parseProgram } = await import('./program-yaml.ts');
  const ids = new Set([...built.programs.map(({ id }) => id), 'files', 'toolcrib']);
  // A program `read` with an action `file` would be called like a tool of ours.
  const names = new Set(built.tools.map(({ name }) => name));
  for (const { file, least } of files.slice(0, mostFiles)) {
    const text = readPlain(file, isFit)?.toString();
    const parsed = text === undefined ? undefined : parseProgram(text, least);
    const place = displayPath(file);
    if (!parsed) {
      problems.push(`${place}: is no plain file of at most 256 KB that only you can change.`);
    } else if ('of' in parsed) {
      const { of } = parsed;
      const tools = Object.keys(of.actions).map((key) => toolName(of, key));
      if (ids.has(of.id) || tools.some((name) => names.has(name))) {
        const why = `there is a program ${of.id} already, or a tool by one of its names`;
        problems.push(`${place}: ${why}; choose another id.`);
        continue;
      }
      added.push({ of: { ...of, listed: listedOf(of) }, file });
      for (const name of tools) names.add(name);
      ids.add(of.id);
    } else problems.push(`${place}:${parsed.line}: ${parsed.wrong}`);
  }
  const { programEntries } = await import('../registry/catalogue-entries.ts');
  const published = programEntries(added);
  const tools = [...built.tools, ...published.tools].sort((one, other) => (one.name < other.name ? -1 : 1));
  const catalogue = {
    programs: [...built.programs, ...published.programs],
    tools,
  };
  return { catalogue, userPrograms: new Map(added.map(({ of }) => [of.id, of])), problems };
}

/** The first of its actions: who describes a program wants it to be seen. */
const listedOf = ({ actions }: Program): NonNullable<Program['listed']> =>
  Object.fromEntries(
    Object.keys(actions)
      .slice(0, mostListed)
      .map((name) => [name, { listed: 'yes' }]),
  );

/** One that others can write to could describe anything. */
const isFit = ({ size, mode }: Stats): boolean => size <= mostBytes && (permissionsIn(mode) & 0o002) === 0;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.ya?ml$/.test(name))
      .toSorted();
  } catch {
    return []; // There is no such folder.
  }
}
