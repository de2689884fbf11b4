import type { Entry, Todo } from '../session/entry.ts';
import { sendable } from './sendable.ts';
import { measuredTokens } from './tokens.ts';

/** What the entries of a path say about the others; numbers are positions on it, -1 for none. */
export interface Survey {
  /** The last compaction that can be applied. */
  readonly compaction?: Extract<Entry, { type: 'compaction' }>;
  readonly compactedAt: number;
  /** The first entry that is sent. */
  readonly start: number;
  readonly omitted: ReadonlySet<string>;
  /** Where each pruned call was last pruned. */
  readonly prunedAt: ReadonlyMap<string, number>;
  /** Entries before this have lost their images. */
  readonly imagesFrom: number;
  /** The same, when the last usage was measured. */
  readonly countedImagesFrom: number;
  /** Where the last usage was measured. */
  readonly measuredAt: number;
  readonly todos?: readonly Todo[];
}

/** Reads a path once for what changes how its entries are sent. */
export function surveyOf(path: readonly Entry[]): Survey {
  const omitted = new Set(path.flatMap((entry) => (entry.type === 'omit' ? [entry.target] : [])));
  const positions = new Map<string, number>();
  const prunedAt = new Map<string, number>();
  const marks = { compactedAt: -1, start: 0, imagesFrom: 0, countedImagesFrom: 0, measuredAt: -1 };
  /** The last two turns of the person, older first. */
  let turns: [number, number] = [0, 0];
  let compaction: Survey['compaction'];
  let todos: Survey['todos'];
  for (const [at, entry] of path.entries()) {
    positions.set(entry.id, at);
    if (omitted.has(entry.id)) continue;
    if (entry.type === 'todos') todos = entry.todos;
    if (entry.type === 'user') turns = [turns[1], at];
    if (entry.type === 'prune' || entry.type === 'compaction') marks.imagesFrom = turns[0];
    if (entry.type === 'prune') for (const callId of entry.callIds) prunedAt.set(callId, at);
    if (entry.type === 'compaction') {
      // One that keeps what is not there would lose messages: the one before it holds.
      const start = positions.get(entry.firstKeptId);
      if (start !== undefined) {
        compaction = entry;
        marks.compactedAt = at;
        marks.start = start;
      }
    }
    if (
      entry.type === 'assistant' &&
      sendable(entry.message) &&
      measuredTokens(entry.message) !== undefined
    ) {
      marks.measuredAt = at;
      marks.countedImagesFrom = marks.imagesFrom;
    }
  }
  return { ...marks, omitted, prunedAt, ...(compaction ? { compaction } : {}), ...(todos ? { todos } : {}) };
}
