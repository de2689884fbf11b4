import type { AssistantMessage } from '../message.ts';
import {
  either,
  flag,
  list,
  number,
  object,
  oneOf,
  text,
  textOrNull,
  type Guard,
  type Guarded,
} from '../text/guard.ts';

/** Ids are shown, within lines of ours. */
const id = (value: unknown): value is string => /^[\w-]{1,64}$/.test(String(value));

/** The first line of a session file. `parent`: the session this one was forked from. */
const header = object(
  { v: oneOf(1), type: oneOf('session'), id, cwd: text, created: text },
  // A temporary one is removed when it has not been used for 48 hours.
  { parent: text, temporary: flag },
);
export type SessionHeader = Guarded<typeof header>;

const todo = object({
  text,
  status: oneOf('pending', 'in_progress', 'completed'),
  priority: oneOf('high', 'medium', 'low'),
});
export type Todo = Guarded<typeof todo>;

/** An image or a long text is kept once, by its hash, beside the sessions. `name`: what the person called it. */
const storedPart = object({ type: oneOf('stored'), sha256: text, mimeType: text, name: text });
export type StoredPart = Guarded<typeof storedPart>;

const textPart = object({ type: oneOf('text'), text });
const imagePart = object({ type: oneOf('image'), mimeType: text, data: text });
const part = either(either(textPart, imagePart), storedPart);

const message: Guard<AssistantMessage> = object({
  role: oneOf('assistant'),
  text,
  reasoning: text,
  stop: oneOf('done', 'calls', 'length', 'filtered', 'aborted'),
  provider: text,
  model: text,
  wire: oneOf('chat', 'responses', 'anthropic'),
  usage: object({ input: number, output: number, cacheRead: number, cacheWrite: number, estimated: flag }),
  calls: list(object({ id: text, name: text, arguments: text })),
});

export type CallState = 'proposed' | 'started' | 'done';

/** What each kind of entry holds, so that a damaged file cannot end the program. */
const bodies = {
  /** `typed`: before attachments were read; `line`: the same with what is `inert` in it, to be edited again. */
  user: object({ content: list(part) }, { typed: text, line: text }),
  assistant: object({ message }),
  /** What came of a call stands with `done`. */
  tool: object(
    { callId: text, name: text, state: oneOf('proposed', 'started', 'done') },
    { text, images: list(storedPart), isError: flag, ms: number },
  ),
  mode: object({ mode: oneOf('plan', 'ask', 'auto', 'yolo') }),
  model: object({ model: text }),
  profile: object({ name: textOrNull }),
  name: object({ name: text }, { by: oneOf('person', 'model') }),
  system: object({ text: textOrNull }),
  roots: object({ roots: list(text) }),
  todos: object({ todos: list(todo) }),
  /** `request`: the newest words of the person, when their message is not among those that were kept. */
  compaction: object(
    { summary: text, firstKeptId: text, by: oneOf('model', 'fallback') },
    { request: text, tokensBefore: number, tokensAfter: number },
  ),
  leaf: object({ to: textOrNull }),
};
type Bodies = { readonly [T in keyof typeof bodies]: { readonly type: T } & Guarded<(typeof bodies)[T]> };
export type EntryBody = Bodies[keyof Bodies];
export type EntryOf<T extends keyof Bodies> = Bodies[T] & Stamp;

interface Stamp {
  readonly id: string;
  /** The entry before it on its branch; null for the first. */
  readonly parent: string | null;
  readonly ts: string;
}
export type Entry = EntryBody & Stamp;
const stamp = object({ id, parent: textOrNull, ts: text, type: text });

/** A line of a session file; undefined for one that is damaged, or of a later version. Nothing here throws. */
export function parseEntry(line: string): Entry | undefined {
  const value = parsed(line);
  // As a table of its own keys: a type named `constructor` is not one of ours.
  if (!stamp(value) || !Object.hasOwn(bodies, value.type)) return undefined;
  return bodies[value.type as keyof Bodies](value) ? (value as unknown as Entry) : undefined;
}

/** The header, or the number of another version that wrote it; undefined when it is none. */
export function parseHeader(line: string): SessionHeader | number | undefined {
  const value = parsed(line);
  if (header(value)) return value;
  return object({ type: oneOf('session'), v: number })(value) && value.v !== 1 ? value.v : undefined;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // Cut by a crash, or damaged since.
  }
}
