import type { Client } from '@modelcontextprotocol/client';
import { ChatError } from '../errors.ts';
import { failureText, isAnswer } from './failure-text.ts';
import { replyOf } from './reply.ts';
import { failed, type CallOptions, type CallPlan, type Tool, type ToolReply } from './tool.ts';

/** The longest timer there is: how long a call may take is counted here. */
const forever = 2 ** 31 - 1;
/** How often that is counted, and how often progress is told at most: servers tell of every byte. */
const stepMs = 50;

/** The server a tool belongs to, as far as a call needs it. */
export interface Callee {
  readonly timeoutMs: number;
  /** As it is now: a server may have been started again, or have changed, since the person was asked. */
  current(tool: string): Tool | undefined;
  /** Starts a server that has died. Throws SERVER_FAILED. */
  connected(): Promise<Client>;
  /** It waits for an answer of the person: that is not its time. */
  isAsking(): boolean;
  /** Is told of what a call threw. */
  failed(error: unknown): void;
  /** What it last wrote to standard error. */
  lastWords(): string;
}

/** Calls a tool. Never throws: the model is told why there is no result, and whether the tool may have run. */
export async function callTool(
  callee: Callee,
  { server, tool, definition, inputSchema }: Omit<Tool, 'call'>,
  args: Readonly<Record<string, unknown>>,
  { signal, progress, meta }: CallOptions,
): Promise<ToolReply> {
  const clock = startClock(callee, progress);
  const ended = AbortSignal.any([signal, clock.late]);
  let sent = false;
  const answer = async (): Promise<ToolReply> => {
    const client = await callee.connected();
    const current = callee.current(tool);
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
        onprogress: ({ message, progress: steps, total }) =>
          clock.heard(message ?? (total === undefined ? `${steps}` : `${steps} of ${total}`)),
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
    if (clock.late.aborted) return failed(`No answer within ${callee.timeoutMs / 1000} s: ${ran}.`);
    if (error instanceof ChatError) return failed(error.message);
    if (isAnswer(error) && error instanceof Error && 'code' in error)
      return failed(`MCP server "${server}" answered with error ${String(error.code)}: ${error.message}`);
    callee.failed(error);
    const why = failureText(error, callee.lastWords());
    return failed(`MCP server "${server}" failed during the call: ${why}. I${ran.slice(1)}.`);
  } finally {
    clock.stop();
  }
}

/** Aborts `late` when a server has said nothing for as long as it may take; hands on its progress now and then. */
function startClock({ timeoutMs, isAsking }: Callee, progress: CallOptions['progress']) {
  const late = new AbortController();
  let left = timeoutMs;
  let latest: string | undefined;
  const timer = setInterval(() => {
    if (!isAsking()) left -= stepMs;
    if (left <= 0) late.abort();
    if (latest !== undefined) progress?.(latest);
    latest = undefined;
  }, stepMs);
  return {
    late: late.signal,
    heard(said: string) {
      left = timeoutMs;
      latest = said.slice(0, 500);
    },
    stop: () => clearInterval(timer),
  };
}
