import { nearest } from '../../core/nearest.ts';
import { ToolcribError } from '../../core/errors.ts';
import { refusalOf } from '../../core/policy.ts';
import type { Settings } from '../../core/settings.ts';
import { schemesOf } from '../../machine/databases/target.ts';
import type { Environment } from '../../machine/environment.ts';
import { headAndTail, sanitize } from '../../machine/sanitize.ts';
import { listTools } from './listed-tools.ts';
import type { ToolDefinition, ToolRegistry } from '../../core/tool-definition.ts';

/** The tools that are offered on this machine with these settings. */
export function createToolRegistry(
  environment: Pick<Environment, 'host' | 'catalogue' | 'discovery' | 'evidence'>,
  settings: Settings,
): ToolRegistry {
  const { catalogue } = environment;
  const byName = new Map(catalogue.tools.map((tool) => [tool.name, tool]));
  const offered = new Map([...byName].filter(([, tool]) => leftOut(tool, settings) === undefined));
  const byAlias = new Map(
    catalogue.tools.flatMap((tool) => (tool.aliases ?? []).map((alias) => [alias, tool] as const)),
  );

  function isReachable({ engine }: ToolDefinition): boolean {
    if (engine === undefined) return false;
    const named = Object.values(settings.databases).some((profile) => profile.engine === engine);
    return named || schemesOf[engine].test(environment.host.env['DATABASE_URL'] ?? '');
  }

  async function allowed(isHere: boolean): Promise<ToolDefinition[]> {
    const { installed } = await environment.discovery();
    return catalogue.tools.filter(
      (tool) =>
        offered.has(tool.name) &&
        (tool.action === undefined || installed.has(tool.program) || isReachable(tool)) === isHere &&
        refusalOf(tool, settings) === undefined,
    );
  }

  return {
    callable: () => allowed(true),
    absent: () => allowed(false),
    listed: async () =>
      listTools(await allowed(true), catalogue.programs, await environment.evidence, settings),
    find(name) {
      const known = offered.get(name);
      if (known) return known;
      const tool = byName.get(name) ?? byAlias.get(name);
      if (!tool) throw unknownTool(name, catalogue.tools);
      const why = leftOut(tool, settings);
      if (why) throw new ToolcribError('UNKNOWN_TOOL', `${name} is not offered: ${why}.`);
      return tool;
    },
    has: (name) => offered.has(name),
    isReachable,
  };
}

/** The reason why a tool is left out that there is; undefined when it is not. */
function leftOut({ program, inEveryToolset }: ToolDefinition, settings: Settings): string | undefined {
  const { toolsets } = settings;
  const isIn =
    toolsets === undefined ||
    toolsets.includes(program) ||
    (inEveryToolset && toolsets.some((toolset) => toolset !== 'files'));
  return isIn ? undefined : `the toolsets are ${toolsets.join(', ')} (--toolsets)`;
}

/** Tools by the commands of the editor that some models are trained on. */
const editorCommands: Readonly<Record<string, string>> = {
  view: 'read_file',
  create: 'write_file',
  str_replace: 'edit_file',
  undo_edit: 'undo',
};

/** The tools that call what another tool's name says. */
const runners: ReadonlySet<string> = new Set(['run_action', 'run_read_action']);

/**
 * A call as the tool that it stands for: a command of that editor, or a built-in tool that is called by way
 * of the catalogue, as find_actions says it where the tool is not listed. Any other call is itself.
 */
export function resolveBuiltIn(
  { find }: Pick<ToolRegistry, 'find'>,
  name: string,
  given: Readonly<Record<string, unknown>>,
): { readonly name: string; readonly args: Record<string, unknown> } {
  const { command, ...rest } = given;
  const own = /^str_replace_(?:based_edit_tool|editor)$/.test(name) && editorCommands[String(command)];
  if (own) return { name: own, args: rest };
  const { action, arguments: inner = {}, background, ...unknown } = given;
  const isPlain = typeof action === 'string' && isRecord(inner) && Object.keys(unknown).length === 0;
  if (!runners.has(name) || !isPlain) return { name, args: given };
  const tool = foundIn(find, action);
  const isOwn = tool !== undefined && tool.action === undefined && !runners.has(tool.name);
  if (!isOwn || (name === 'run_read_action' && !tool.annotations.readOnlyHint)) return { name, args: given };
  const takes = (tool.inputSchema['properties'] ?? {}) as object;
  const more = background !== undefined && 'background' in takes ? { background } : {};
  return { name: tool.name, args: { ...inner, ...more } };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function foundIn(find: ToolRegistry['find'], name: string): ToolDefinition | undefined {
  try {
    return find(name);
  } catch {
    // The catalogue says better what there is.
    return undefined;
  }
}

/** Of a name that is none; far more than one has. */
const longestName = 200;

function unknownTool(name: string, known: readonly ToolDefinition[]): ToolcribError {
  const best = nearest(
    name,
    known.map((tool) => tool.name),
  );
  return new ToolcribError(
    'UNKNOWN_TOOL',
    `There is no tool ${JSON.stringify(headAndTail(sanitize(name), longestName))}.`,
    `${best ? `Did you mean ${best}? ` : ''}find_actions finds what there is; run runs any program.`,
  );
}
