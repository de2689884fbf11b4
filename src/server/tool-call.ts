import {
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type Implementation,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ToolcribError } from '../core/errors.ts';
import type { Ask, Asking } from './ask.ts';
import type { Caller } from './caller.ts';
import type { Planned } from './calls.ts';
import type { ClientRoots } from './client-roots.ts';
import type { HandedPlans } from './handed-plans.ts';
import { asMcpResult } from './mcp-tool.ts';
import { asOwnCall } from './offered.ts';
import { progressOf } from './progress.ts';
import type { PublishedTool } from './published.ts';
import type { Toolbox } from './toolbox.ts';
import type { Trace } from './trace.ts';

/** What the servers of one client share; a connection may see more than one server (the SDK makes one to probe). */
export interface Crib {
  readonly toolbox: Toolbox;
  /** Whose calls they are: standard input and output have one client, however many servers the SDK makes for it. */
  readonly client: string;
  readonly clientRoots: ClientRoots;
  readonly asking: Asking;
  /** Whether file tools are listed. */
  readonly hasFiles: boolean;
  /** For the one host that asks its user itself; undefined where none has a key. */
  readonly plans: HandedPlans | undefined;
  /** The folders a call may touch, given what the client has said, and what holds there. */
  opened(clientRoots: readonly string[] | undefined): Promise<Pick<Caller, 'workspace' | 'settings'>>;
  /** Where messages are written down, if they are. */
  readonly trace: Trace | undefined;
  /** Called at the end of each call, with whether it could change something. */
  called(changes: boolean): void;
  /** Called with the promise of each answered list. */
  listing(answer: Promise<unknown>): void;
}

/** A call as a client makes it, or as a resource or a completion stands for it. */
export interface RequestedCall {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
  readonly _meta?: unknown;
}

/** A client's request, as its server got it. */
export interface Requested {
  readonly crib: Crib;
  readonly server: Server;
  readonly context: ServerContext;
}

/** Resources of which clients are told when they have changed. */
export const programsUri = 'toolcrib://programs';
export const projectUri = 'toolcrib://project';
export const outputUri = (handle: string): string => `toolcrib://output/${handle}`;

/** For requests that cannot wait for a person. */
export const nobody: Ask = () => Promise.resolve({ said: 'nothing', why: 'cannot be asked' });

/**
 * Calls a tool: everything that a client reaches goes this way. Answers with what the client has to do first, where it
 * has to. Throws InvalidParams for an unknown tool: that is an error of the protocol (MCP, "Error Handling" of tools).
 */
export async function callTool(
  { crib, server, context }: Requested,
  requested: RequestedCall,
  ask?: Ask,
): Promise<CallToolResult | InputRequiredResult> {
  const { name, args } = asOwnCall(requested.name, requested.arguments ?? {});
  const published = findTool(crib.toolbox, name);
  const roots = await crib.clientRoots.of(server, context);
  if (roots.kind === 'ask') return roots.question;
  const opened = await crib.opened(roots.folders).catch(refusalOf);
  if ('refusal' in opened) return opened.refusal;
  const progress = progressOf(context);
  const call = { client: crib.client, tool: name, args };
  const word = crib.plans?.wordIn(requested._meta);
  const caller: Caller = {
    ...opened,
    signal: context.mcpReq.signal,
    progress: progress.report,
    client: crib.client,
    clientInfo: clientInfoOf(server, context),
    ask: ask ?? crib.plans?.asker(word) ?? crib.asking.asker(server, context, call),
  };
  try {
    if (crib.plans && word?.plansOnly) {
      const planned = await crib.toolbox.plan(published, args, caller);
      return 'refusal' in planned ? asMcpResult(planned.refusal) : handed(planned, crib.plans);
    }
    const called = await crib.toolbox.call(published, args, caller);
    if (called.kind === 'later') return called.result;
    return asMcpResult(called.result);
  } finally {
    progress.end();
    crib.called(!published.annotations.readOnlyHint);
  }
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
