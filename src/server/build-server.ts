import {
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type Implementation,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ToolcribError } from '../core/errors.ts';
import type { Asking } from './ask.ts';
import type { ClientRoots } from './client-roots.ts';
import { asListed, asMcpResult } from './mcp-tool.ts';
import { progressOf } from './progress.ts';
import type { PublishedTool } from './published.ts';
import type { Caller } from './caller.ts';
import type { Planned } from './calls.ts';
import type { HandedPlans } from './handed-plans.ts';
import type { Toolbox } from './toolbox.ts';
import { version } from './version.ts';

/** What the servers of one process share; a connection may see more than one server (the SDK makes one to probe). */
export interface Crib {
  readonly toolbox: Toolbox;
  /** Whose calls they are: standard input and output have one client, however many servers the SDK makes for it. */
  readonly client: string;
  readonly clientRoots: ClientRoots;
  readonly asking: Asking;
  /** For the one host that asks its user itself; undefined where none has a key. */
  readonly plans: HandedPlans | undefined;
  /** The folders a call may touch, given what the client has said, and what holds there. */
  opened(clientRoots: readonly string[] | undefined): Promise<Pick<Caller, 'workspace' | 'settings'>>;
  /** Called at the end of each call. */
  called(): void;
  /** Called with the promise of each answered list. */
  listing(answer: Promise<unknown>): void;
}

const instructions = [
  'Tools for this project, and the development programs of this machine. Call project first.',
  'check runs tests, lint, types, build as the project does, and names what failed. run_task: its scripts.',
  'grep, read_file, list_files to look; edit_file, edit_files, replace_in_files, write_file to change; undo.',
  'git_status, git_diff, git_log, git_show, git_commit, git_switch, git_integrate, git_sync. query: databases.',
  'find_actions finds every other action (containers, packages, branches, move, delete); run_read_action and',
  'run_action call it. run starts any program. Long output is kept, long work goes on: read_output, control_job.',
  'Paths start at the first root; only what lies inside the roots can be reached. cwd: where a call works.',
  'Errors say what helps. NEEDS_CONFIRM: a person has to be asked and cannot be here; tell them what it says.',
].join('\n');

/** An MCP server over the toolbox, for either protocol era. Cheap, and without side effects. */
export function buildServer(crib: Crib): Server {
  const server = new Server(
    { name: 'toolcrib', title: 'toolcrib', version },
    {
      capabilities: { tools: { listChanged: true } },
      instructions,
      requestState: { verify: crib.asking.verify },
    },
  );
  server.setRequestHandler('tools/list', async () => {
    const tools = crib.toolbox.list();
    crib.listing(tools);
    return { tools: (await tools).map(asListed) };
  });
  server.setNotificationHandler('notifications/roots/list_changed', () => crib.clientRoots.forget());
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const published = findTool(crib.toolbox, params.name);
    const roots = await crib.clientRoots.of(server, context);
    if (roots.kind === 'ask') return roots.question;
    const opened = await crib.opened(roots.folders).catch(refusalOf);
    if ('refusal' in opened) return opened.refusal;
    const progress = progressOf(context);
    const call = { client: crib.client, tool: params.name, args: params.arguments ?? {} };
    const word = crib.plans?.wordIn(params._meta);
    const caller: Caller = {
      ...opened,
      signal: context.mcpReq.signal,
      progress: progress.report,
      client: crib.client,
      clientInfo: clientInfoOf(server, context),
      ask: crib.plans?.asker(word) ?? crib.asking.asker(server, context, call),
    };
    try {
      if (crib.plans && word?.plansOnly) {
        const planned = await crib.toolbox.plan(published, params.arguments, caller);
        return 'refusal' in planned ? asMcpResult(planned.refusal) : handed(planned, crib.plans);
      }
      const called = await crib.toolbox.call(published, params.arguments, caller);
      if (called.kind === 'later') return called.result;
      return asMcpResult(called.result);
    } finally {
      progress.end();
      crib.called();
    }
  });
  return server;
}

/** A plan in the place of a result. */
function handed(
  { plan, verdict, question }: Exclude<Planned, { refusal: unknown }>,
  plans: HandedPlans,
): CallToolResult {
  return {
    content: [{ type: 'text', text: plan.subject }],
    _meta: { 'toolcrib/plan': plans.hand(plan, verdict, question) },
  };
}

/** What a client says of itself: with every request since 2026-07-28, and once when it connects before. */
function clientInfoOf(server: Server, { mcpReq }: ServerContext): Implementation | undefined {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  return (envelope?.[CLIENT_INFO_META_KEY] as Implementation | undefined) ?? server.getClientVersion();
}

/** An unknown tool is an error of the protocol, not of the tool (MCP, "Error Handling" of tools). */
function findTool(toolbox: Toolbox, name: string): PublishedTool {
  try {
    return toolbox.find(name);
  } catch (error) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      error instanceof Error ? error.message : String(error),
    );
  }
}

/** A folder that cannot be a root is the operator's to mend, and is said like any other refusal. */
function refusalOf(error: unknown): { refusal: CallToolResult } {
  if (!(error instanceof ToolcribError)) throw error;
  const text = `${error.code}: ${error.message}`;
  return { refusal: { isError: true, content: [{ type: 'text', text }] } };
}
