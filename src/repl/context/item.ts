import type { Message } from '../message.ts';

/** A message as the model is sent it, and the entry it comes from. */
export interface Item {
  readonly entryId: string;
  readonly message: Message;
  /** What a compaction put in the place of older messages. */
  readonly isSummary?: true;
  /** Older than the last compaction, which kept it. */
  readonly wasKept?: true;
}

/** What a compaction leaves of the messages before it. */
export interface Summary {
  readonly summary: string;
  /** The newest words of the person, when their message is not among those that were kept. */
  readonly request?: string;
}
