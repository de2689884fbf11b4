import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Result } from '../core/tool.ts';
import type { AskPerson } from './approvals/ask.ts';
import { call, failed, planOnly, type PlannedOnly } from './call.ts';
import { clientSays } from './client/client-roots.ts';
import { projectUri, type ClientRequest, type Connection } from './connection.ts';
import { resolveBuiltIn } from './registry/tool-registry.ts';
import type { Request } from './request.ts';
import type { ToolDefinition } from '../core/tool-definition.ts';
import type { ApprovalTickets } from './approvals/approval-tickets.ts';

/** A call as a client makes it, or as a resource or a completion stands for it. */
export interface RequestedCall {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
  readonly _meta?: unknown;
}

/** For requests that cannot wait for a person. */
export const nobody: AskPerson = () => Promise.resolve({ kind: 'nothing', why: 'cannot be asked' });

/**
 * Calls a tool: everything that a client reaches goes this way. Answers with what the client has to do first,
 * where it has to. Throws InvalidParams for an unknown tool: that is an error of the protocol (MCP, "Error
 * Handling" of tools).
 */
export async function callTool(
  { connection, server, context }: ClientRequest,
  requested: RequestedCall,
  ask?: AskPerson,
): Promise<CallToolResult | InputRequiredResult> {
  const { name, args } = resolveBuiltIn(connection.tools, requested.name, requested.arguments ?? {});
  const tool = findTool(connection, name);
  const roots = await connection.clientRoots.of(server, context);
  if (roots.kind === 'ask') return roots.question;
  // A folder that cannot be a root is the operator's to mend, and is said like any other refusal.
  const opened = await connection.openRoots(roots.folders).catch(failed);
  if ('content' in opened) return asMcpResult(opened);
  const { tickets, questions } = connection;
  const approval = tickets?.wordIn(requested._meta);
  const progress = progressOf(context);
  const request: Request = {
    ...opened,
    tool,
    args,
    signal: context.mcpReq.signal,
    progress: progress.report,
    client: connection.client,
    clientInfo: clientSays(server, context).info,
    ask: (question) => {
      const asked = ask ?? tickets?.asker(approval);
      return asked ? asked(question) : questions.ask(question, server, context, { tool: name, args });
    },
  };
  try {
    const session = await connection.session();
    if (tickets && approval?.plansOnly) return handOverPlan(await planOnly(session, request), tickets);
    const answer = await call(session, request);
    return 'kind' in answer ? answer.result : asMcpResult(answer);
  } finally {
    progress.end();
    if (!tool.annotations.readOnlyHint) connection.updated(projectUri);
    connection.called();
  }
}

/** A result as it goes over the wire: its text. Hosts that are given data as well show a model only that. */
const asMcpResult = ({ content, isError, meta }: Result): CallToolResult => ({
  content: [...content],
  ...(isError ? { isError } : {}),
  ...(meta ? { _meta: { ...meta } } : {}),
});

/** A plan in the place of a result. */
function handOverPlan(planned: PlannedOnly | Result, tickets: ApprovalTickets): CallToolResult {
  if ('content' in planned) return asMcpResult(planned);
  const { plan, verdict, question } = planned;
  return {
    content: [{ type: 'text', text: plan.subject }],
    _meta: { 'toolcrib/plan': tickets.hand(plan, verdict, question) },
  };
}

function findTool({ tools }: Connection, name: string): ToolDefinition {
  try {
    return tools.find(name);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
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
