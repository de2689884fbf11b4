import type { ProgramFacts } from '../../machine/programs/installation.ts';
import type { ExposeMode, Settings } from '../../core/settings.ts';
import type { ListedTools, ProgramListing, ToolDefinition } from '../../core/tool-definition.ts';

/** Of a program whose toolset was chosen: the first ones are what people use; find_actions has the others. */
const mostOfProgram = 12;

/**
 * The tools that are listed of those that can be called: the few that are for every project, and the first
 * actions of the programs that `toolsets` names. The others are in the catalogue. `used` has the sign of each
 * program that the project shows one of. Pure.
 */
export function listTools(
  callable: readonly ToolDefinition[],
  programs: readonly ProgramFacts[],
  used: ReadonlyMap<string, string>,
  { expose = 'auto', toolsets = [] }: Pick<Settings, 'expose' | 'toolsets'>,
): ListedTools {
  const isUsual = expose === 'auto' || expose === 'no-files';
  const listed = callable.filter((tool) => tool.action === undefined && isAlways(tool, expose));
  const reasons = new Map<string, ProgramListing>();
  for (const { id } of programs) {
    const actions = callable
      .filter((tool) => tool.action !== undefined && tool.program === id)
      .toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
    if (actions.length === 0) continue;
    const isChosen = toolsets.includes(id);
    const shown = actions.filter(
      (tool, at) =>
        expose === 'all' || (isUsual && (tool.listed !== undefined || (isChosen && at < mostOfProgram))),
    );
    listed.push(...shown);
    const sign = used.get(id);
    const why = sign === undefined ? 'the project shows no sign of it' : `the project has ${sign}`;
    reasons.set(id, { listed: shown.length, isUsed: sign !== undefined, why });
  }
  return { listed: listed.toSorted((one, other) => (one.name < other.name ? -1 : 1)), programs: reasons };
}

/** A host with file tools of its own needs none of ours on its list; they can be called all the same. */
const isAlways = ({ listed, program }: ToolDefinition, expose: ExposeMode): boolean =>
  expose === 'all' || (listed !== 'no' && !(expose === 'no-files' && program === 'files'));
