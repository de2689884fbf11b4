import { nearest } from '../../core/nearest.ts';
import { ToolcribError } from '../../core/errors.ts';
import { refusalOf } from '../../core/policy.ts';
import type { Settings } from '../../core/settings.ts';
import { schemesOf } from '../../machine/databases/target.ts';
import type { Machine } from '../../machine/environment.ts';
import { headAndTail, sanitize } from '../../machine/sanitize.ts';
import { exposureOf } from './listed-tools.ts';
import { builtInFacts } from '../own-facts.ts';
import type { Catalogue, ToolDefinition } from '../published.ts';

export type ToolRegistry = ReturnType<typeof createToolRegistry>;

/**
 * What is offered on this machine with these settings. `signs`: by which a project shows that it uses a program; see
 * signsIn().
 */
export function createToolRegistry(
  manifest: Catalogue,
  machine: Pick<Machine, 'discovery' | 'host'>,
  settings: Settings,
  signs: Promise<ReadonlyMap<string, string>>,
) {
  /** Whether it asks a database that the operator has named, which takes no program. */
  function isReached({ engine }: ToolDefinition): boolean {
    if (engine === undefined) return false;
    const named = Object.values(settings.databases).some((profile) => profile.engine === engine);
    return named || schemesOf[engine].test(machine.host.env['DATABASE_URL'] ?? '');
  }

  async function allowed(isHere: boolean): Promise<ToolDefinition[]> {
    const { installed } = await machine.discovery();
    return manifest.tools.filter(
      (tool) =>
        leftOut(tool, settings) === undefined &&
        (tool.action === undefined || installed.has(tool.program) || isReached(tool)) === isHere &&
        refusalOf(tool, settings) === undefined,
    );
  }
  /** All that can be called now, sorted by name. */
  const callable = () => allowed(true);
  const named = (wanted: string | undefined) => manifest.tools.find((tool) => tool.name === wanted);

  return {
    callable,
    /** What could be called too if its program were here. */
    absent: () => allowed(false),
    /** What of it a host is shown, and why. */
    exposure: async () => exposureOf(await callable(), manifest.programs, await signs, settings),
    /** The tool of that name, whether or not its program is installed. Throws UNKNOWN_TOOL. */
    find(name: string): ToolDefinition {
      const published = named(name) ?? named(foreignNames.get(name));
      if (!published) throw unknownTool(name, manifest.tools);
      const why = leftOut(published, settings);
      if (why) throw new ToolcribError('UNKNOWN_TOOL', `${name} is not offered: ${why}.`);
      return published;
    },
    /** Whether there is a tool of that very name that the operator has not left out. */
    has(name: string): boolean {
      const tool = named(name);
      return tool !== undefined && leftOut(tool, settings) === undefined;
    },
    isReached,
  };
}

/** Why a tool is left out that there is; undefined when it is not. */
function leftOut({ name, program }: ToolDefinition, settings: Settings): string | undefined {
  const { toolsets } = settings;
  const isIn =
    toolsets === undefined ||
    toolsets.includes(program) ||
    (builtInFacts(name).companion && toolsets.some((toolset) => toolset !== 'files'));
  return isIn ? undefined : `the toolsets are ${toolsets.join(', ')} (--toolsets)`;
}

/** Tools of hosts, and earlier ones of ours, for which one of ours stands where the arguments fit. */
const foreignNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    run: 'bash Bash shell execute_command run_command run_shell_command run_terminal_cmd exec_command terminal',
    read_file: 'Read read view cat read_files open_file',
    list_files: 'Glob glob LS ls list_directory list_dir find_files',
    grep: 'Grep search search_files search_file_content grep_search',
    edit_file: 'Edit edit replace str_replace replace_string_in_file',
    edit_files: 'MultiEdit multi_edit multi_replace_string_in_file',
    write_file: 'Write write create_file write_to_file',
    undo: 'undo_edit undo_change',
    fetch_url: 'WebFetch web_fetch fetch fetch_webpage',
    read_output: 'read_job wait_job list_jobs BashOutput TaskOutput get_terminal_output',
  }).flatMap(([tool, names]) => names.split(' ').map((name) => [name, tool] as const)),
);

/** What the editor that some models are trained on calls its commands. */
const editorCommands: Readonly<Record<string, string>> = {
  view: 'read_file',
  create: 'write_file',
  str_replace: 'edit_file',
  undo_edit: 'undo',
};

/** The tools that call what another tool's name says. */
const runners: ReadonlySet<string> = new Set(['run_action', 'run_read_action']);

/**
 * A call as the tool that it stands for: a command of that editor, or a built-in tool that is called by way of the
 * catalogue, as find_actions says it where the tool is not listed. Any other call is itself.
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
