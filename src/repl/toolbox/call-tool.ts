import type { Client } from '@modelcontextprotocol/client';
import { ChatError } from '../errors.ts';
import { failureText, isAnswer } from './failure-text.ts';
import type { Patience } from './patience.ts';
import { replyOf } from './reply.ts';
import { failed, type CallOptions, type CallPlan, type Tool, type ToolReply } from './tool.ts';

/** The longest timer there is: how long a call may take is counted by our own patience. */
const forever = 2 ** 31 - 1;

/** Of progress, only the latest is told, so often at most: servers tell of every byte. */
const betweenMs = 50;

/** The server a tool belongs to, as far as a call needs it. */
export interface Callee {
  readonly timeoutMs: number;
  /** As it is now: a server may have been started again, or have changed, since the person was asked. */
  current(tool: string): Tool | undefined;
  /** Throws what the request throws, or SERVER_FAILED. */
  withClient<T>(ask: (client: Client) => Promise<T>): Promise<T>;
  /** Started for each call; paused while the server asks the person. */
  patience(): Patience;
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
  if (signal.aborted) return failed('Interrupted: it was not run.');
  const patience = callee.patience();
  const ended = AbortSignal.any([signal, patience.signal]);
  let sent = false;
  let latest = '';
  let telling: NodeJS.Timeout | undefined;
  const answer = callee.withClient(async (client) => {
    const current = callee.current(tool);
    if (!current) return failed(`MCP server "${server}" no longer has the tool ${tool}.`);
    if (current.definition !== definition)
      return failed(`The definition of ${tool} has changed. Look at it, and call it again if it still fits.`);
    if (ended.aborted) return failed('Not run.');
    // A plan does nothing.
    sent = meta?.['toolcrib/plan'] === undefined;
    const result = await client.callTool(
      { name: tool, arguments: { ...args }, ...(meta && { _meta: meta }) },
      {
        signal: ended,
        timeout: forever,
        onprogress: ({ message, progress: steps, total }) => {
          patience.reset();
          latest = (message ?? (total === undefined ? `${steps}` : `${steps} of ${total}`)).slice(0, 500);
          telling ??= setTimeout(() => {
            telling = undefined;
            progress?.(latest);
          }, betweenMs);
        },
        // Without its output schema: a result that does not fit is still a result.
        toolDefinition: { name: tool, inputSchema: { ...inputSchema, type: 'object' } },
      },
    );
    const plan = sent ? undefined : (result._meta?.['toolcrib/plan'] as CallPlan | undefined);
    return { ...replyOf(result), ...(plan && { plan }) };
  });
  // A server that is still being started does not know of the signal.
  const cut = new Promise<never>((_, reject) => ended.addEventListener('abort', reject, { once: true }));
  try {
    return await Promise.race([answer, cut]);
  } catch (error) {
    // An abort and a timeout look the same in the SDK: the signals tell them apart.
    const ran = sent ? 'it may or may not have run' : 'it was not run';
    if (signal.aborted) return failed(`Interrupted: ${ran}.`);
    if (patience.signal.aborted) return failed(`No answer within ${callee.timeoutMs / 1000} s: ${ran}.`);
    if (error instanceof ChatError) return failed(error.message);
    if (isAnswer(error) && error instanceof Error && 'code' in error)
      return failed(`MCP server "${server}" answered with error ${String(error.code)}: ${error.message}`);
    const why = failureText(error, callee.lastWords());
    return failed(`MCP server "${server}" failed during the call: ${why}. I${ran.slice(1)}.`);
  } finally {
    clearTimeout(telling);
    patience.end();
  }
}
