import { argumentsObject, type ToolCall } from '../message.ts';
import { fingerprint } from '../toolbox/fingerprints.ts';
import { failed, shownName, type ToolReply } from '../toolbox/tool.ts';
import type { Agent } from './agent.ts';
import type { Ready } from './prepare-call.ts';

/** The same call with the same arguments, so often in one turn, is asked about. */
const most = 3;

/** What a turn remembers of repeated calls. */
export interface Guard {
  /** How often each call was made since it was last agreed to. */
  readonly counts: Map<string, number>;
  /** One was refused as a repetition. */
  warned?: boolean;
  /** A second one was, and the turn ends. */
  refused?: boolean;
}

interface Repetition {
  readonly reply: ToolReply;
  readonly rejects: boolean;
  readonly stops: boolean;
}

/** What a call is answered with that was made too often; undefined when it may be made. What is asked anyway may. */
export async function repetition(
  agent: Agent,
  call: ToolCall,
  ready: Ready | ToolReply,
  { guard, signal }: { readonly guard: Guard; readonly signal: AbortSignal },
): Promise<Repetition | undefined> {
  // Neither blanks nor the order of the arguments make another call of it.
  const key = `${call.name} ${fingerprint(argumentsObject(call.arguments))}`;
  const count = (guard.counts.get(key) ?? 0) + 1;
  const checked = 'checked' in ready ? ready : undefined;
  // After a change, reading or testing once more is no repetition.
  if (checked && checked.checked.tool.annotations.readOnlyHint !== true) guard.counts.clear();
  guard.counts.set(key, count);
  if (count < most) return undefined;
  if (agent.person && checked?.verdict.effect === 'ask') return undefined;
  const again = checked ? await isWanted(agent, checked, count, signal) : false;
  if (again) return void guard.counts.set(key, 0);
  const isSecond = again === false && guard.warned === true;
  guard.refused ||= isSecond;
  guard.warned ||= again === false;
  const text = `This very call was made ${count} times in this turn, and not run again. Do something else.`;
  const reply = checked ? failed(text) : (ready as ToolReply);
  return { reply, rejects: again === undefined, stops: again === undefined || isSecond };
}

/** Whether the person wants a call to be made all the same; undefined when they want the turn to end. */
async function isWanted(
  { person }: Agent,
  { checked }: Ready,
  count: number,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const time = count === most ? 'third' : `${count}th`;
  const name = shownName(checked.tool);
  const question = `${name} is called for the ${time} time with the same arguments. Run it?`;
  return person ? person.confirm(question, signal) : false;
}
