import type { Client } from '@modelcontextprotocol/client';
import { ChatError } from '../errors.ts';
import { failureText, isAnswer } from './failure-text.ts';
import { replyOf } from './reply.ts';
import { failed, type CallOptions, type CallPlan, type Tool, type ToolReply } from './tool.ts';

/** The longest timer there is: how long a call may take is counted here. */
const forever = 2 ** 31 - 1;
/** Progress is told no more often: some servers tell of every byte. */
const progressMs = 50;

/** The server a tool belongs to, as far as a call needs it. */
export interface Callee {
  readonly config: { readonly timeoutMs: number };
  /** As they are now: a server may have been started again, or have changed, since the person was asked. */
  readonly tools: readonly Tool[];
  /** While it waits for an answer of the person, its time does not run. */
  readonly questions: number;
  /** Starts a server that has died. Throws SERVER_FAILED. */
  connected(): Promise<Client>;
  gotNone(): void;
  lastWords(): string;
}

/** Calls a tool. Never throws: the model is told why there is no result, and whether the tool may have run. */
export async function callTool(
  callee: Callee,
  { server, tool, definition, inputSchema }: Omit<Tool, 'call'>,
  args: Readonly<Record<string, unknown>>,
  { signal, progress, meta }: CallOptions,
): Promise<ToolReply> {
  const { timeoutMs } = callee.config;
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => (callee.questions > 0 ? heard() : late.abort()), timeoutMs);
  };
  heard();
  const ended = AbortSignal.any([signal, late.signal]);
  let sent = false;
  let toldAt = -Infinity;
  const answer = async (): Promise<ToolReply> => {
    const client = await callee.connected();
    const current = callee.tools.find((one) => one.tool === tool);
    if (!current) return failed(`MCP server "${server}" no longer has the tool ${tool}.`);
    if (current.definition !== definition)
      return failed(`The definition of ${tool} has changed. Look at it, and call it again if it still fits.`);
    ended.throwIfAborted();
    // A plan does nothing.
    sent = meta?.['toolcrib/plan'] === undefined;
    const result = await client.callTool(
      { name: tool, arguments: { ...args }, ...(meta && { _meta: meta }) },
      {
        signal: ended,
        timeout: forever,
        onprogress({ message, progress: steps, total }) {
          heard();
          if (performance.now() - toldAt < progressMs) return;
          toldAt = performance.now();
          progress?.((message ?? (total === undefined ? `${steps}` : `${steps} of ${total}`)).slice(0, 500));
        },
        // Without its output schema: a result that does not fit is still a result.
        toolDefinition: { name: tool, inputSchema: { ...inputSchema, type: 'object' } },
      },
    );
    const plan = sent ? undefined : (result._meta?.['toolcrib/plan'] as CallPlan | undefined);
    return { ...replyOf(result), ...(plan && { plan }) };
  };
  // A server that is still being started does not know of the signal.
  const cut = new Promise<never>((_, reject) => ended.addEventListener('abort', reject, { once: true }));
  try {
    signal.throwIfAborted();
    return await Promise.race([answer(), cut]);
  } catch (error) {
    // An abort and a timeout look the same in the SDK: the signals tell them apart.
    const ran = sent ? 'it may or may not have run' : 'it was not run';
    if (signal.aborted) return failed(`Interrupted: ${ran}.`);
    if (late.signal.aborted) return failed(`No answer within ${timeoutMs / 1000} s: ${ran}.`);
    return failed(failureOf(error, ran, server, callee));
  } finally {
    clearTimeout(timer);
  }
}

function failureOf(error: unknown, ran: string, server: string, callee: Callee): string {
  if (error instanceof ChatError) return error.message;
  if (isAnswer(error)) return `MCP server "${server}" answered with ${failureText(error, '')}`;
  callee.gotNone();
  const why = failureText(error, callee.lastWords());
  return `MCP server "${server}" failed during the call: ${why}. I${ran.slice(1)}.`;
}
