import { join } from 'node:path';
import type { Host } from '../../machine/host.ts';
import type { ProgramFacts } from '../../machine/programs/installation.ts';
import type { ExposeMode, Settings } from '../../core/settings.ts';
import type { ToolDefinition } from '../published.ts';
import { builtInFacts } from '../own-facts.ts';

/** What is shown of one program. */
export interface ProgramExposure {
  /** How many of its actions are listed. */
  readonly listed: number;
  /** Whether the project shows a sign of it. */
  readonly isUsed: boolean;
  /** As the rest of a sentence. */
  readonly why: string;
}

/** What a host is shown of what can be called, and why. */
export interface ListedTools {
  readonly listed: readonly ToolDefinition[];
  /** For each program that can be used: how many of its actions are listed, and why, as the rest of a sentence. */
  readonly programs: ReadonlyMap<string, ProgramExposure>;
}

/** Of a program whose toolset was chosen: the first ones are what people use; find_actions has the others. */
const mostOfProgram = 12;

/**
 * What is listed of the tools that can be called: the few that are for every project, and the first actions of the
 * programs that `toolsets` names. The others are in the catalogue. `used` has the sign of each program that the project
 * shows one of. Pure.
 */
export function exposureOf(
  callable: readonly ToolDefinition[],
  programs: readonly ProgramFacts[],
  used: ReadonlyMap<string, string>,
  { expose = 'auto', toolsets = [] }: Pick<Settings, 'expose' | 'toolsets'>,
): ListedTools {
  const isUsual = expose === 'auto' || expose === 'no-files';
  const listed = callable.filter((tool) => tool.action === undefined && isAlways(tool, expose));
  const reasons = new Map<string, ProgramExposure>();
  for (const { id } of programs) {
    const actions = callable
      .filter((tool) => tool.action !== undefined && tool.program === id)
      .toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
    if (actions.length === 0) continue;
    const isChosen = toolsets.includes(id);
    const shown = actions.filter(
      (tool, at) =>
        expose === 'all' || (isUsual && (tool.listed === true || (isChosen && at < mostOfProgram))),
    );
    listed.push(...shown);
    const sign = used.get(id);
    const why = sign === undefined ? 'the project shows no sign of it' : `the project has ${sign}`;
    reasons.set(id, { listed: shown.length, isUsed: sign !== undefined, why });
  }
  return { listed: listed.toSorted((one, other) => (one.name < other.name ? -1 : 1)), programs: reasons };
}

/** A host with file tools of its own needs none of ours on its list; they can be called all the same. */
const isAlways = ({ name, program }: ToolDefinition, expose: ExposeMode): boolean =>
  expose === 'all' || (!builtInFacts(name).unlisted && !(expose === 'no-files' && program === 'files'));

/** The programs that folders show signs of, and the sign: `package.json`. Lists each folder once. */
export async function evidenceIn(
  folders: readonly string[],
  programs: readonly ProgramFacts[],
  host: Host,
): Promise<Map<string, string>> {
  const lists = await Promise.all(
    folders.map(async (folder) => (await host.list(folder)).map((name) => ({ folder, name }))),
  );
  const entries = lists.flat();
  const texts = new Map<string, Promise<string | undefined>>();
  const textOf = (path: string) => {
    const text = texts.get(path) ?? host.head(path, signBytes);
    texts.set(path, text);
    return text;
  };
  const used = new Map<string, string>();
  const found = async (sign: NonNullable<ProgramFacts['project']>[number]): Promise<string | undefined> => {
    const { file, has } = typeof sign === 'string' ? { file: sign } : sign;
    const pattern = namePattern(file);
    for (const { folder, name } of entries.filter((entry) => pattern.test(entry.name)))
      if (has === undefined || new RegExp(has, 'm').test((await textOf(join(folder, name))) ?? ''))
        return name;
    return undefined;
  };
  await Promise.all(
    programs.map(async ({ id, project = [] }) => {
      for (const sign of project) {
        const name = await found(sign);
        if (name !== undefined) return used.set(id, name);
      }
      return undefined;
    }),
  );
  return used;
}

/** A sign in a file is near its beginning: package.json, a lock file. */
const signBytes = 64 * 1024;

/** `*` is any part of a name. */
export const namePattern = (name: string): RegExp =>
  new RegExp(`^${name.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);
