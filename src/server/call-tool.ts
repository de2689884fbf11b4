import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Result } from '../core/tool.ts';
import type { AskPerson } from './approvals/ask.ts';
import { call, failed, plan, type Planned } from './call.ts';
import { clientSays } from './wire/client-roots.ts';
import { projectUri, type Crib, type Requested } from './session.ts';
import type { ApprovalTickets } from './approvals/approval-tickets.ts';
import { resolveBuiltIn } from './registry/tool-registry.ts';
import type { Caller } from './authorize.ts';
import type { ToolDefinition } from './published.ts';

/** A call as a client makes it, or as a resource or a completion stands for it. */
export interface RequestedCall {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
  readonly _meta?: unknown;
}

/** For requests that cannot wait for a person. */
export const nobody: AskPerson = () => Promise.resolve({ kind: 'nothing', why: 'cannot be asked' });

/**
 * Calls a tool: everything that a client reaches goes this way. Answers with what the client has to do first, where it
 * has to. Throws InvalidParams for an unknown tool: that is an error of the protocol (MCP, "Error Handling" of tools).
 */
export async function callTool(
  { crib, server, context }: Requested,
  requested: RequestedCall,
  ask?: AskPerson,
): Promise<CallToolResult | InputRequiredResult> {
  const { name, args } = resolveBuiltIn(crib.offered, requested.name, requested.arguments ?? {});
  const published = findTool(crib, name);
  const roots = await crib.clientRoots.of(server, context);
  if (roots.kind === 'ask') return roots.question;
  // A folder that cannot be a root is the operator's to mend, and is said like any other refusal.
  const opened = await crib.opened(roots.folders).catch(failed);
  if ('content' in opened) return asMcpResult(opened);
  const progress = progressOf(context);
  const word = crib.plans?.wordIn(requested._meta);
  const asker = ask ?? crib.plans?.asker(word) ?? crib.asking.asker(server, context, { tool: name, args });
  const caller: Caller = {
    ...opened,
    signal: context.mcpReq.signal,
    progress: progress.report,
    client: crib.client,
    clientInfo: clientSays(server, context).info,
    ask: asker,
  };
  try {
    const house = await crib.house();
    if (crib.plans && word?.plansOnly) {
      const planned = await plan(house, published, args, caller);
      return 'content' in planned ? asMcpResult(planned) : handed(planned, crib.plans);
    }
    const called = await call(house, published, args, caller);
    return 'kind' in called ? called.result : asMcpResult(called);
  } finally {
    progress.end();
    if (!published.annotations.readOnlyHint) crib.updated(projectUri);
    crib.called();
  }
}

/** A result as it goes over the wire: its text. Hosts that are given data as well show a model only that. */
const asMcpResult = ({ content, isError, meta }: Result): CallToolResult => ({
  content: [...content],
  ...(isError ? { isError } : {}),
  ...(meta ? { _meta: { ...meta } } : {}),
});

/** A plan in the place of a result. */
const handed = ({ plan: planned, verdict, question }: Planned, plans: ApprovalTickets): CallToolResult => ({
  content: [{ type: 'text', text: planned.subject }],
  _meta: { 'toolcrib/plan': plans.hand(planned, verdict, question) },
});

function findTool({ offered }: Crib, name: string): ToolDefinition {
  try {
    return offered.find(name);
  } catch (error) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      error instanceof Error ? error.message : String(error),
    );
  }
}

/** At most ten notifications a second: a talkative program must not cost more than its output is worth. */
const intervalMs = 100;

/** Tells the client what a call is doing, if it asked to be told. Nothing is sent after `end`. */
function progressOf({ mcpReq }: ServerContext): { report(message: string): void; end(): void } {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { report: () => {}, end: () => {} };
  let steps = 0;
  let waiting: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const send = (message: string) => {
    waiting = undefined;
    // A client that has gone away is no reason for the call to fail.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress: ++steps, message } })
      .catch(() => {});
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting !== undefined) send(waiting);
    }, intervalMs);
  };
  return {
    report(message) {
      // A call that became a job has been answered, and goes on to say what it does.
      if (isEnded) return;
      if (timer) waiting = message;
      else send(message);
    },
    end() {
      isEnded = true;
      clearTimeout(timer);
    },
  };
}
