import type { ToolCall } from '../message.ts';
import type { CallState, Entry } from './entry.ts';

export interface UnfinishedCall {
  readonly call: ToolCall;
  /** How far it got. `started`: whether it took effect is not known; before that it did not. */
  readonly state: 'none' | Exclude<CallState, 'done'>;
  /** The entry that says so: the call's last one, or the answer that made it. */
  readonly entryId: string;
}

/** The calls of the last answer on a path that have no result: what a process that was ended left behind. In call order. */
export function unfinishedCalls(path: readonly Entry[]): UnfinishedCall[] {
  const omitted = new Set(path.flatMap((entry) => (entry.type === 'omit' ? [entry.target] : [])));
  const at = path.findLastIndex(({ type, id }) => type === 'assistant' && !omitted.has(id));
  const answer = path[at];
  if (answer?.type !== 'assistant' || answer.message.stop === 'aborted') return [];
  const calls = new Map<string, UnfinishedCall>(
    answer.message.calls.map((call) => [call.id, { call, state: 'none', entryId: answer.id }]),
  );
  // Only what comes after it: some servers use the same ids in each answer.
  for (const entry of path.slice(at + 1)) {
    if (entry.type !== 'tool' || omitted.has(entry.id)) continue;
    const open = calls.get(entry.callId);
    if (entry.state === 'done') calls.delete(entry.callId);
    else if (open) calls.set(entry.callId, { ...open, state: entry.state, entryId: entry.id });
  }
  return [...calls.values()];
}
