import type { Agent } from './agent.ts';
import type { CheckedCall } from '../approval/approval.ts';
import { runHooks, type HookEvent, type HookPayload } from './hooks.ts';
import type { ToolReply } from '../toolbox/tool.ts';

type Hooked = Pick<Agent, 'hooks' | 'session' | 'warn'>;

/** What the person's hooks say before a call: a refusal, or notes for the model. */
export async function beforeCall(
  agent: Hooked,
  { tool, args }: CheckedCall,
  signal: AbortSignal,
): Promise<{ readonly refused?: string; readonly notes: readonly string[] }> {
  // Our own tools change nothing that a hook could guard.
  if (tool.own) return { notes: [] };
  return told(agent, 'before', { tool: tool.tool, server: tool.server, args }, signal);
}

/** The reply of a call with what hooks had to say before and after it. */
export async function afterCall(
  agent: Hooked,
  {
    checked,
    notes,
    reply,
    signal,
  }: { checked: CheckedCall; notes: readonly string[]; reply: ToolReply; signal: AbortSignal },
): Promise<ToolReply> {
  const { tool, args } = checked;
  if (tool.own || signal.aborted) return reply;
  const result = { text: reply.text, isError: reply.isError };
  const after = await told(agent, 'after', { tool: tool.tool, server: tool.server, args, result }, signal);
  const all = [...notes, ...after.notes].map((note) => `[hook] ${note}`);
  return all.length === 0 ? reply : { ...reply, text: [reply.text, ...all].join('\n') };
}

/** Tells the hooks that a turn is over. */
export async function afterTurn(agent: Hooked, signal: AbortSignal): Promise<void> {
  // Who interrupted it knows that it is over.
  if (!signal.aborted) await told(agent, 'end', {}, signal);
}

async function told(
  agent: Hooked,
  event: HookEvent,
  about: Omit<HookPayload, 'cwd' | 'session'>,
  signal: AbortSignal,
) {
  const { header, id } = agent.session;
  const outcome = await runHooks(agent.hooks, event, { ...about, cwd: header.cwd, session: id }, { signal });
  for (const warning of outcome.warnings) agent.warn(warning);
  return outcome;
}
