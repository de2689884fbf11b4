import type { ToolCall } from '../message.ts';
import type { Entry, EntryOf } from './entry.ts';

/** Neutral words: nobody knows whether it was run. */
export const noResult = 'No result was recorded; the call may or may not have run.';

export interface UnfinishedCall {
  readonly call: ToolCall;
  /** How far it got. `started`: whether it took effect is not known; before that it did not. */
  readonly state: 'none' | Exclude<EntryOf<'tool'>['state'], 'done'>;
}

/**
 * The calls of the last answer on a path that have no result: what a process that was ended left behind. In call
 * order.
 */
export function unfinishedCalls(path: readonly Entry[]): UnfinishedCall[] {
  const at = path.findLastIndex(({ type }) => type === 'assistant');
  const answer = path[at];
  if (answer?.type !== 'assistant' || answer.message.stop === 'aborted') return [];
  const calls = new Map<string, UnfinishedCall>(
    answer.message.calls.map((call) => [call.id, { call, state: 'none' }]),
  );
  // Only what comes after it: some servers use the same ids in each answer.
  for (const entry of path.slice(at + 1)) {
    if (entry.type !== 'tool') continue;
    const open = calls.get(entry.callId);
    if (entry.state === 'done') calls.delete(entry.callId);
    else if (open) calls.set(entry.callId, { ...open, state: entry.state });
  }
  return [...calls.values()];
}
