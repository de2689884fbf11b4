import type { CheckedCall, PermissionVerdict } from '../approval/rules.ts';
import { decide, isDeniedWhole } from '../approval/decide.ts';
import type { Chat } from '../chat.ts';
import { argumentsObject, type ToolCall } from '../message.ts';
import type { UnfinishedCall } from '../session/entry.ts';
import { checkArguments } from '../toolbox/check-arguments.ts';
import { failed, fingerprint, shownName, type ClientTool, type ToolReply } from '../toolbox/tool.ts';
import { runHooks } from './hooks.ts';

/** The times that one call with the same arguments is made in a turn before it is asked about. */
const mostTimes = 3;

/** The calls of a turn, counted to notice a loop. */
export interface LoopGuard {
  /** The number of times each was made since something was changed. */
  readonly counts: Map<string, number>;
  /** The number that were refused because they came again and again: at the second, the turn ends. */
  refused: number;
}

export interface DecidedCall {
  readonly call: ToolCall;
  readonly checked: CheckedCall;
  /** Notes of hooks, for the model. */
  readonly notes: readonly string[];
  readonly verdict: PermissionVerdict;
}

/** The call with its tool, its arguments and what is to be done with it; a reply when it cannot be made. */
export async function prepare(
  chat: Chat,
  open: UnfinishedCall,
  { guard, signal }: { readonly guard: LoopGuard; readonly signal: AbortSignal },
): Promise<DecidedCall | ToolReply> {
  const { call } = open;
  const tool = chat.tools().find(({ name }) => name === call.name);
  const ready = tool ? await checked(chat, tool, open, signal) : failed(unknownTool(chat, call));
  // Neither blanks nor the order of the arguments make another call of it.
  const key = `${call.name} ${fingerprint(argumentsObject(call.arguments))}`;
  const times = (guard.counts.get(key) ?? 0) + 1;
  // After a change, reading or testing once more is no repetition.
  if ('checked' in ready && tool?.annotations.readOnlyHint !== true) guard.counts.clear();
  guard.counts.set(key, times);
  if (times < mostTimes) return ready;
  if ('checked' in ready && chat.person) {
    const why = `rule: ask when the same call is made for the ${times === 3 ? 'third' : `${times}th`} time`;
    return ready.verdict.effect === 'ask' ? ready : { ...ready, verdict: { effect: 'ask', why } };
  }
  guard.refused++;
  const text = `This very call was made ${times} times in this turn, and not run again. Do something else.`;
  return 'checked' in ready ? failed(text) : ready;
}

/** People say a name without its server, and models repeat it. */
function unknownTool(chat: Chat, { name }: ToolCall): string {
  const offered = availableTools(chat);
  const meant = offered.filter((one) => one.tool === name);
  const names = (meant.length > 0 ? meant : offered).map((one) => one.name).join(', ');
  return `There is no tool named ${name}. ${meant.length > 0 ? 'You may mean' : 'The tools are'} ${names}.`;
}

async function checked(
  chat: Chat,
  tool: ClientTool,
  { call, state }: UnfinishedCall,
  signal: AbortSignal,
): Promise<DecidedCall | ToolReply> {
  const found = await checkArguments(tool.inputSchema, call.arguments);
  if ('problem' in found) return failed(`${found.problem} The call was not run.`);
  const { args } = found;
  const reply = tool.plans ? await planned(chat, { tool, args }, state !== 'none', signal) : undefined;
  const plan = reply?.plan;
  if (reply && !plan) return reply;
  const made: CheckedCall = { tool, args, ...(plan && { plan }) };
  const interactive = chat.person !== undefined;
  const verdict = decide(made, { mode: chat.mode, rules: chat.rules(), interactive });
  if (verdict.effect === 'deny') {
    if (verdict.unasked) chat.unasked.push(`${plan?.subject ?? shownName(tool)}: ${verdict.why}`);
    return failed(`Refused: ${verdict.why}`);
  }
  const { refused, notes } = await runHooks(chat, 'before', { call: made, signal });
  return refused === undefined
    ? { call, checked: made, verdict, notes }
    : failed(`Refused by a hook: ${refused}`);
}

/** Asks our own server about a call: returns its plan, or why it cannot be made. */
async function planned(
  chat: Chat,
  { tool, args }: CheckedCall,
  restored: boolean,
  signal: AbortSignal,
): Promise<ToolReply> {
  const options = { signal, meta: { 'toolcrib/plan': true } };
  const reply = await tool.call(args, options);
  // A server that was started since knows no more of what the model has read; the person sees what changes.
  const reader = chat.tools().find((other) => other.plans && other.tool === 'read_file');
  const isUnread = restored && reply.isError && reply.text.startsWith('NOT_READ');
  if (!isUnread || !reader || typeof args['path'] !== 'string') return reply;
  await reader.call({ path: args['path'] }, { signal });
  return tool.call(args, options);
}

/**
 * The tools the model is told of: in plan mode those that read; never one that a rule takes away as a whole.
 */
export function availableTools(chat: Pick<Chat, 'tools' | 'mode' | 'rules'>): readonly ClientTool[] {
  const rules = chat.rules();
  const fitsMode = ({ annotations, builtIn, tool }: ClientTool) =>
    chat.mode === 'plan' ? annotations.readOnlyHint === true : !builtIn || tool !== 'exit_plan';
  return chat.tools().filter((tool) => fitsMode(tool) && !isDeniedWhole(tool, rules));
}
