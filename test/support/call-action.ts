import { execFileSync } from 'node:child_process';
import { checkParams } from '../../src/core/check-params.ts';
import type { AnyProgram } from '../../src/core/database-program.ts';
import { ToolcribError } from '../../src/core/errors.ts';
import type { DatabaseProfile, Settings } from '../../src/core/settings.ts';
import type { CallContext, Plan, Tool, Result } from '../../src/core/tool.ts';
import { programTool } from '../../src/machine/actions/plan-action.ts';
import { childEnvironment } from '../../src/machine/programs/child-environment.ts';
import { findRipgrep } from '../../src/machine/programs/find-ripgrep.ts';
import { thisHost } from '../../src/machine/host.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { bindTool } from '../../src/tools/define-tool.ts';
import gitIntegrate from '../../src/tools/git/git-integrate.ts';
import gitSwitch from '../../src/tools/git/git-switch.ts';
import gitSync from '../../src/tools/git/git-sync.ts';
import type { ToolDefinition, ToolRegistry } from '../../src/core/tool-definition.ts';
import { callContext, planAndRun } from './call-context.ts';
import { sessionOf } from './session.ts';

export interface ActionPlace {
  /** The only root, and where the action works. */
  folder: string;
  trusted?: boolean;
  /** In place of variables of our own. */
  env?: Record<string, string>;
  /** In place of the machine's program. */
  program?: string;
  /** Folders before those of the search path. */
  path?: readonly string[];
  context?: Partial<CallContext>;
  /** Databases by name, as the settings have them. */
  profiles?: Readonly<Record<string, DatabaseProfile>>;
}

/** An action as a tool, without a server. */
function toolOf(
  of: AnyProgram,
  name: string,
  { env = {}, program, path = [], profiles = {} }: ActionPlace,
): Tool {
  const host = { ...thisHost(), env: { ...process.env, ...env }, home: env['HOME'] ?? thisHost().home };
  const [usual = '', ...words] = (of.called?.[0] ?? of.id).split(' ');
  const found = program ?? execFileSync('which', [usual], { encoding: 'utf8' }).trim();
  const folders = [...path, ...(process.env['PATH'] ?? '').split(':')];
  const search = { folders: folders.map((one) => ({ folder: one, source: 'PATH' })), skipped: [], stamp: '' };
  const { run, leave } = createProcesses('linux');
  const which = (name: string) =>
    Promise.resolve(execFileSync('which', [name], { encoding: 'utf8' }).trim()).catch(() => undefined);
  const session = sessionOf({
    environment: { host, run, leave, which },
    settings: { databases: profiles } as Settings,
    ripgrep: () => findRipgrep(),
  });
  const installed = {
    installation: { id: of.id, program: found, leading: [], words, source: 'PATH', others: [] },
    env: childEnvironment(host, search, of.environment ?? [], of.settings ?? {}),
  };
  const actionTool = (key: string): Tool => programTool(of, key, session, installed);
  if (of.actions[name]) return actionTool(name);
  const composites = { git_switch: gitSwitch, git_integrate: gitIntegrate, git_sync: gitSync };
  const composite = composites[`${of.id}_${name}` as keyof typeof composites];
  const keyOf = (tool: ToolDefinition) => tool.name.slice(of.id.length + 1);
  const find = (wanted: string) => ({ name: wanted }) as ToolDefinition;
  return bindTool(
    composite,
    sessionOf({
      tools: { find } as ToolRegistry,
      load: (tool) => Promise.resolve(actionTool(keyOf(tool))),
    }),
  );
}

const contextOf = ({ folder, trusted = false, context }: ActionPlace): Promise<CallContext> =>
  callContext([folder], { trusts: () => Promise.resolve(trusted), ...context });

/** The act of a call, in the words of the question about it. */
export async function planOf(
  of: AnyProgram,
  name: string,
  given: Record<string, unknown>,
  place: ActionPlace,
): Promise<Plan> {
  const tool = toolOf(of, name, place);
  return tool.plan(checkParams(tool.params, given), { ...(await contextOf(place)), preview: true });
}

/** Does what was planned, perhaps some time ago. Throws what the action throws. */
export const runPlan = async (
  of: AnyProgram,
  name: string,
  plan: Plan,
  place: ActionPlace,
): Promise<Result> => toolOf(of, name, place).run(plan, await contextOf(place));

/** Calls an action as the server does, without the server; what it throws for the caller comes as a result. */
export async function callAction(
  of: AnyProgram,
  name: string,
  given: Record<string, unknown>,
  place: ActionPlace,
): Promise<Result> {
  try {
    return await planAndRun(toolOf(of, name, place), given, await contextOf(place));
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    return { isError: true, content: [{ type: 'text', text: `${error.code}: ${error.message}` }] };
  }
}

/** The text of a result; data alone as JSON. */
export const saidBy = ({ content, data }: Result): string =>
  content?.map((part) => ('text' in part ? part.text : part.type)).join('\n') ?? JSON.stringify(data ?? {});
