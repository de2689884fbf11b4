import type { Agent } from './agent.ts';
import type { CheckedCall, Verdict } from '../approval/approval.ts';
import { decide } from '../approval/decide.ts';
import type { ToolCall } from '../message.ts';
import type { UnfinishedCall } from '../session/unfinished.ts';
import { checkArguments } from '../toolbox/check-arguments.ts';
import { failed, shownName, type ToolReply } from '../toolbox/tool.ts';
import { offeredTools } from './offered-tools.ts';
import { beforeCall } from './hooks.ts';

/** `once`: nobody was asked; what our server would ask is agreed to for this act alone. */
export type Said = 'once' | 'yes' | 'always';

export interface Ready {
  readonly call: ToolCall;
  readonly checked: CheckedCall;
  readonly notes: readonly string[];
  readonly verdict: Verdict;
  /** What was answered, where somebody was asked. */
  readonly said?: Said;
}

/** The call with its tool, its arguments and what is to be done with it; a reply when it cannot be made. */
export async function prepare(
  agent: Agent,
  { call, state }: UnfinishedCall,
  signal: AbortSignal,
): Promise<Ready | ToolReply> {
  const tool = agent.tools().find(({ name }) => name === call.name);
  if (!tool) {
    const offered = offeredTools(agent);
    // People say it without the server's name, and models repeat it.
    const meant = offered.filter((one) => one.tool === call.name).map(({ name }) => name);
    const names = meant.length > 0 ? meant : offered.map(({ name }) => name);
    const which = meant.length > 0 ? 'You may mean' : 'The tools are';
    return failed(`There is no tool named ${call.name}. ${which} ${names.join(', ')}.`);
  }
  const found = await checkArguments(tool, call.arguments);
  if ('problem' in found) return failed(`${found.problem} The call was not run.`);
  const { args } = found;
  const reply = tool.plans ? await planned(agent, { tool, args }, state !== 'none', signal) : undefined;
  const plan = reply?.plan;
  if (reply && !plan) return reply;
  const checked: CheckedCall = { tool, args, ...(plan && { plan }) };
  const interactive = agent.person !== undefined;
  const verdict = decide(checked, { mode: agent.mode, rules: agent.rules(), interactive });
  if (verdict.effect === 'deny') {
    if (verdict.unasked) agent.unasked.push(`${plan?.subject ?? shownName(tool)}: ${verdict.why}`);
    return failed(`Refused: ${verdict.why}`);
  }
  const before = await beforeCall(agent, checked, signal);
  if (before.refused !== undefined) return failed(`Refused by a hook: ${before.refused}`);
  return { call, checked, verdict, notes: before.notes };
}

const wantsPlan = { 'toolcrib/plan': true };

/** What our own server says of a call: its plan, or why it cannot be made. */
async function planned(
  agent: Agent,
  { tool, args }: CheckedCall,
  restored: boolean,
  signal: AbortSignal,
): Promise<ToolReply> {
  const reply = await tool.call(args, { signal, meta: wantsPlan });
  // A server that was started since knows no more of what the model has read; the person sees what changes.
  const reader = agent.tools().find((other) => other.plans && other.tool === 'read_file');
  const isUnread = restored && reply.isError && reply.text.startsWith('NOT_READ');
  if (!isUnread || !reader || typeof args['path'] !== 'string') return reply;
  await reader.call({ path: args['path'] }, { signal });
  return tool.call(args, { signal, meta: wantsPlan });
}
