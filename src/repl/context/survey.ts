import type { Entry } from '../session/entry.ts';

/** What the entries of a path say about the others; numbers are positions on it, -1 for none. */
export interface Survey {
  /** The last compaction that can be applied. */
  readonly compaction?: Extract<Entry, { type: 'compaction' }>;
  readonly compactedAt: number;
  /** The first entry that is sent. */
  readonly start: number;
  /** Where each pruned call was last pruned. */
  readonly prunedAt: ReadonlyMap<string, number>;
  /** Entries before this have lost their images. */
  readonly imagesFrom: number;
  /** The last compaction or pruning: what was counted before it was counted of more than is sent now. */
  readonly changedAt: number;
}

/** Reads a path once for what changes how its entries are sent. */
export function surveyOf(path: readonly Entry[]): Survey {
  const positions = new Map<string, number>();
  const prunedAt = new Map<string, number>();
  const marks = { compactedAt: -1, start: 0, imagesFrom: 0, changedAt: -1 };
  /** The last two turns of the person, older first. */
  let turns: [number, number] = [0, 0];
  let compaction: Survey['compaction'];
  for (const [at, entry] of path.entries()) {
    positions.set(entry.id, at);
    if (entry.type === 'user') turns = [turns[1], at];
    if (entry.type !== 'prune' && entry.type !== 'compaction') continue;
    marks.imagesFrom = turns[0];
    marks.changedAt = at;
    if (entry.type === 'prune') {
      for (const callId of entry.callIds) prunedAt.set(callId, at);
      continue;
    }
    const start = positions.get(entry.firstKeptId);
    // One that keeps what is not there would lose messages: the one before it holds.
    if (start === undefined) continue;
    compaction = entry;
    marks.compactedAt = at;
    marks.start = start;
  }
  return { ...marks, prunedAt, ...(compaction ? { compaction } : {}) };
}
