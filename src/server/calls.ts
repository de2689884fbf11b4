import { createHash } from 'node:crypto';
import { checkParams, refuseDeep } from '../core/check-params.ts';
import { ToolcribError } from '../core/errors.ts';
import { refusalOf } from '../core/policy.ts';
import type { Settings } from '../core/settings.ts';
import type { CallContext, Tool, ToolResult } from '../core/tool.ts';

import type { Host } from '../machine/host.ts';
import type { Jobs } from '../machine/jobs/jobs.ts';
import type { OutputStore } from '../machine/output-store/output-store.ts';
import { maskResult } from '../machine/secrets/mask.ts';
import { placesOf } from '../machine/paths/param-folders.ts';
import type { RootedWorkspace } from '../machine/paths/workspace.ts';
import { presentable } from '../machine/presentable.ts';
import type { ProjectConfigs } from '../machine/config/project-config.ts';
import type { Ask } from './approval/approvals.ts';
import { createPermission, type Decided } from './approval/permission.ts';
import { createCallServices, type CallServices } from './call-services.ts';
import { alwaysAsks, companions, waitingTools } from './own-tools.ts';
import type { PublishedTool } from './published.ts';
import { stillRunning } from './still-running.ts';

/** Who calls, from where, and how they are reached. */
export interface Caller {
  readonly workspace: RootedWorkspace;
  readonly signal: AbortSignal;
  progress(message: string): void;
  /** Whose call it is; the same for all calls of one connection. */
  readonly client: string;
  /** How that client calls itself. */
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  readonly ask: Ask;
}

/** How a call is made: admitted, decided about, asked about, run, kept within its time, told without secrets, written down. */
export interface Calls {
  readonly jobs: Jobs;
  readonly outputs: OutputStore;
  /** Never rejects but for a bug, and for what the client has to be asked first: the rest comes as a result with isError. */
  call(tool: PublishedTool, params: unknown, caller: Caller): Promise<ToolResult>;
  /** A call that a tool makes in the course of its own, which has been admitted. Throws what is the caller's to mend. */
  callInside(name: string, params: unknown, outer: CallContext): Promise<ToolResult>;
  /** Ends all jobs and forgets all output. */
  end(): Promise<void>;
}

interface Tools {
  load(tool: PublishedTool): Promise<Tool>;
  /** Throws UNKNOWN_TOOL. */
  find(name: string): PublishedTool;
  readonly projects: ProjectConfigs;
}

/** Under which a context carries its caller, also when a part of it is replaced. */
const callerOf = Symbol('caller');
type Context = CallContext & { readonly [callerOf]: { readonly caller: Caller; readonly decided: Decided } };

/** The calls of one server. */
export function createCalls(
  host: Host,
  settings: Settings,
  tools: Tools,
  services: CallServices = createCallServices(host, settings),
): Calls {
  const { admit, jobs, outputs, mask, recordCall } = services;

  async function contextFor(tool: PublishedTool, caller: Caller, decided: Decided): Promise<Context> {
    const { workspace, client, ask } = caller;
    const settingsIn = (places?: string | readonly string[]) =>
      tools.projects.settingsFor(settings, workspace.roots, places);
    const { permit, trusts } = createPermission({
      tool: tool.name,
      roots: workspace.roots,
      policyFor: async (places) => {
        const narrowed = await settingsIn(places);
        // What its effects forbid is decided with the rest of the policy.
        refuseLeftOut({ ...tool, effects: [] }, narrowed);
        return narrowed;
      },
      trust: services.trust,
      ask,
      decided,
    });
    const narrowed = await settingsIn();
    refuseLeftOut(tool, narrowed);
    if (takesAway(tool)) await tools.projects.learn(workspace.roots);
    return {
      workspace,
      client,
      budgets: narrowed.budgets,
      signal: caller.signal,
      progress: (message) => caller.progress(mask(message)),
      permit,
      // Where its code may not be run at all, it makes no difference who trusts it.
      trusts: async (folder) =>
        refusalOf(['execute'], await settingsIn(folder)) === undefined && (await trusts(folder)),
      keepOutput: (command) => outputs.open(client, command),
      [callerOf]: { caller, decided },
    };
  }

  /** Checks and decides what can be before the tool itself is asked, which knows more. */
  async function prepared(tool: PublishedTool, params: unknown, context: CallContext) {
    const loaded = await tools.load(tool);
    const values = checkParams(loaded.params, params);
    const places = loaded.permits ? undefined : await placesOf(loaded.params, values, context.workspace);
    if (places) await context.permit({ effects: tool.effects, ...places });
    return (within: CallContext) => loaded.call(values, within);
  }

  async function asJob(tool: PublishedTool, params: unknown, context: CallContext): Promise<ToolResult> {
    const { client, workspace, signal, budgets } = context;
    const key = createHash('sha256').update(JSON.stringify([tool.name, params, workspace.roots]));
    const answer = await jobs.run(
      client,
      { key: key.digest('base64'), tool: tool.name, title: tool.title },
      async (io) => {
        const within: CallContext = {
          ...context,
          signal: io.signal,
          progress(message) {
            io.progress(message);
            context.progress(message);
          },
          keepOutput: (command, folder) => io.keeps(context.keepOutput(command), command, folder),
        };
        return (await prepared(tool, params, within))(within);
      },
      { signal, budgetMs: budgets.callSeconds * 1000, limits: budgets, progress: context.progress },
    );
    if (answer.kind === 'done') return answer.result;
    return stillRunning(answer.job, budgets.callSeconds, tool.outputSchema !== undefined);
  }

  async function call(tool: PublishedTool, params: unknown, context: CallContext): Promise<ToolResult> {
    const starts = tool.action !== undefined || alwaysAsks.has(tool.name);
    if (starts) return asJob(tool, params, context);
    return (await prepared(tool, params, context))(context);
  }

  return {
    jobs,
    outputs,
    async call(tool, params, caller) {
      const startedAt = performance.now();
      const decided: Decided = {};
      const told = (result: ToolResult): ToolResult => {
        const safe = maskResult(result, mask);
        const { client, clientInfo, workspace } = caller;
        const durationMs = performance.now() - startedAt;
        recordCall({
          client,
          clientInfo,
          tool,
          params,
          roots: workspace.roots,
          decided,
          result: safe,
          durationMs,
        });
        return safe;
      };
      try {
        refuseDeep(params);
        const leave = waitingTools.has(tool.name) ? undefined : await admit(caller.signal);
        try {
          return told(await call(tool, params, await contextFor(tool, caller, decided)));
        } finally {
          leave?.();
        }
      } catch (error) {
        if (!(error instanceof ToolcribError)) throw error;
        // It may name what a project has in it, or repeat what a program said.
        const text = presentable(`${error.code}: ${error.message}`);
        return told({ isError: true, content: [{ type: 'text', text }] });
      }
    },
    async callInside(name, params, outer) {
      const { caller, decided } = (outer as Context)[callerOf];
      const tool = tools.find(name);
      const { permit, trusts } = await contextFor(tool, caller, decided);
      const context = { ...outer, permit, trusts };
      return (await prepared(tool, params, context))(context);
    },
    async end() {
      await jobs.endAll();
      outputs.close();
    },
  };
}

/** Whether a call can take files away, or put others in their place, that it does not name: also the settings of a project. */
const takesAway = ({ name, effects }: PublishedTool): boolean =>
  effects.some((effect) => effect !== 'read' && effect !== 'network') &&
  name !== 'write_file' &&
  name !== 'edit_file';

/** Throws EFFECT_DENIED for what the settings, which a project may have narrowed, leave no room for. */
function refuseLeftOut({ name, program, effects }: PublishedTool, settings: Settings): void {
  const why =
    refusalOf(effects, settings) ??
    (settings.toolsets?.includes(program) === false && !companions.has(name)
      ? toolsetMissing(settings)
      : undefined) ??
    (name === 'run_script' && !settings.scripts ? 'scripts are off (scripts)' : undefined);
  if (why) throw new ToolcribError('EFFECT_DENIED', `${name} is not allowed: ${why}.`);
}

function toolsetMissing({ toolsets, origins }: Settings): string {
  const file = origins?.['toolsets'];
  const where = file === undefined ? '' : ` in ${file}`;
  return toolsets?.length === 0
    ? `no toolset is left (toolsets${where})`
    : `its toolset is left out (toolsets${where})`;
}
