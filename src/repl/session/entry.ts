import type { AssistantMessage, Part } from '../message.ts';
import type { Mode } from '../turn/turn-event.ts';

/** The first line of a session file. */
export interface SessionHeader {
  readonly v: 1;
  readonly type: 'session';
  readonly id: string;
  readonly cwd: string;
  readonly created: string;
  /** The session this one was forked from. */
  readonly parent?: string;
  /** Removed when it has not been used for 48 hours. */
  readonly temporary?: boolean;
}

export interface Todo {
  readonly text: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly priority: 'high' | 'medium' | 'low';
}

/** An image or a long text is kept once, by its hash, beside the sessions. */
export interface StoredPart {
  readonly type: 'stored';
  readonly sha256: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** What the person called it: a path, or `clipboard`. */
  readonly name: string;
}

export type CallState = 'proposed' | 'started' | 'done';

export type EntryBody =
  | {
      readonly type: 'user';
      readonly content: readonly (Part | StoredPart)[];
      /** As typed, before attachments were read. */ readonly typed?: string;
      /** The same with what is `inert` in it, if anything is: to be edited again. */ readonly line?: string;
    }
  | { readonly type: 'assistant'; readonly message: AssistantMessage }
  | {
      readonly type: 'tool';
      readonly callId: string;
      readonly name: string;
      readonly state: CallState;
      /** With `done`. */
      readonly text?: string;
      readonly images?: readonly StoredPart[];
      readonly isError?: boolean;
      readonly ms?: number;
    }
  | { readonly type: 'mode'; readonly mode: Mode }
  | { readonly type: 'model'; readonly model: string }
  | { readonly type: 'name'; readonly name: string; readonly by: 'person' | 'model' }
  | { readonly type: 'system'; readonly text: string | null }
  | { readonly type: 'roots'; readonly roots: readonly string[] }
  | { readonly type: 'todos'; readonly todos: readonly Todo[] }
  | {
      readonly type: 'compaction';
      readonly summary: string;
      /** The newest words of the person, when their message is not among those that were kept. */
      readonly request?: string;
      readonly firstKeptId: string;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly by: 'model' | 'fallback';
    }
  /** The outputs of these calls are left out of what the model is sent. */
  | { readonly type: 'prune'; readonly callIds: readonly string[] }
  | { readonly type: 'leaf'; readonly to: string | null };

export type Entry = EntryBody & {
  readonly id: string;
  /** The entry before it on its branch; null for the first. */
  readonly parent: string | null;
  readonly ts: string;
};
