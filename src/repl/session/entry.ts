import * as z from 'zod/mini';
import { textOf, type AssistantMessage, type ToolCall } from '../message.ts';

const text = z.string();
const number = z.number();
const flag = z.boolean();
const textOrNull = z.nullable(text);
const list = <T extends z.ZodMiniType>(item: T) => z.readonly(z.array(item));
const maybe = z.exactOptional;

/** Ids are shown, within lines of ours. */
const id = text.check(z.regex(/^[\w-]{1,64}$/));

/** The first line of a session file. `parent`: the session this one was forked from. */
const header = z.object({
  v: z.literal(1),
  type: z.literal('session'),
  id,
  cwd: text,
  created: text,
  parent: maybe(text),
  // A temporary one is removed when it has not been used for 48 hours.
  temporary: maybe(flag),
});
export type SessionHeader = Readonly<z.output<typeof header>>;

const todo = z.object({
  text,
  status: z.enum(['pending', 'in_progress', 'completed']),
  priority: z.enum(['high', 'medium', 'low']),
});
export type Todo = Readonly<z.output<typeof todo>>;

const textPart = z.object({ type: z.literal('text'), text });
const imagePart = z.object({ type: z.literal('image'), mimeType: text, data: text, name: maybe(text) });

const message: z.ZodMiniType<AssistantMessage> = z.object({
  role: z.literal('assistant'),
  text,
  reasoning: text,
  stop: z.enum(['done', 'calls', 'length', 'filtered', 'aborted']),
  provider: text,
  model: text,
  wire: z.enum(['chat', 'responses', 'anthropic']),
  usage: z.object({ input: number, output: number, cacheRead: number, cacheWrite: number, estimated: flag }),
  calls: list(z.object({ id: text, name: text, arguments: text })),
});

/** `parent`: the entry before it on its branch; null for the first. */
const kind = <T extends string, S extends Readonly<Record<string, z.ZodMiniType>>>(type: T, body: S) =>
  z.object({ id, parent: textOrNull, ts: text, type: z.literal(type), ...body });

/** What each kind of entry holds, so that a damaged file cannot end the program. */
const anyEntry = z.discriminatedUnion('type', [
  /** `typed`: before attachments were read; `line`: the same with what is `inert` in it, to be edited again. */
  kind('user', { content: list(z.union([textPart, imagePart])), typed: maybe(text), line: maybe(text) }),
  kind('assistant', { message }),
  /** What came of a call stands with `done`. */
  kind('tool', {
    callId: text,
    name: text,
    state: z.enum(['proposed', 'started', 'done']),
    text: maybe(text),
    images: maybe(list(imagePart)),
    isError: maybe(flag),
    ms: maybe(number),
  }),
  /** What the person has chosen, on whichever branch; null takes back what is configured. */
  kind('set', {
    // Nothing but a flag switches questions off: yolo is in no session.
    mode: maybe(z.enum(['plan', 'ask', 'auto'])),
    model: maybe(text),
    profile: maybe(textOrNull),
    roots: maybe(list(text)),
    system: maybe(textOrNull),
    name: maybe(text),
  }),
  kind('todos', { todos: list(todo) }),
  /** `request`: the newest words of the person, when their message is not among those that were kept. */
  kind('compaction', {
    summary: text,
    firstKeptId: text,
    by: z.enum(['model', 'fallback']),
    request: maybe(text),
    tokensBefore: maybe(number),
    tokensAfter: maybe(number),
  }),
  kind('leaf', { to: textOrNull }),
]);
export type Entry = Readonly<z.output<typeof anyEntry>>;
export type EntryOf<T extends Entry['type']> = Extract<Entry, { type: T }>;
type Body<E> = E extends Entry ? Omit<E, 'id' | 'parent' | 'ts'> : never;
export type EntryBody = Body<Entry>;

/** A line of a session file; undefined for one that is damaged, or of a later version. Nothing here throws. */
export const parseEntry = (line: string): Entry | undefined => parsed(anyEntry, line);

/** The first line of a session file; undefined when it is none of this version. */
export const parseHeader = (line: string): SessionHeader | undefined => parsed(header, line);

/** As it was written: also what a later version has added. */
function parsed<T>(schema: z.ZodMiniType<T>, line: string): T | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return schema.safeParse(value).success ? (value as T) : undefined;
  } catch {
    return undefined; // Cut by a crash, or damaged since.
  }
}

/** What was said, by whom; undefined for an entry that says nothing. It is as it was written: do not print it raw. */
export function wordsOf(
  entry: Entry,
): { readonly role: 'you' | 'answer' | 'tool' | 'summary'; readonly text: string } | undefined {
  switch (entry.type) {
    case 'user':
      return { role: 'you', text: entry.typed || textOf(entry.content) };
    case 'assistant':
      return { role: 'answer', text: entry.message.text };
    case 'tool':
      return entry.text === undefined ? undefined : { role: 'tool', text: entry.text };
    case 'compaction':
      return { role: 'summary', text: entry.summary };
    default:
      return undefined;
  }
}

/** Neutral words: nobody knows whether it was run. */
export const noResult = 'No result was recorded; the call may or may not have run.';

export interface UnfinishedCall {
  readonly call: ToolCall;
  /** How far it got. `started`: whether it took effect is not known; before that it did not. */
  readonly state: 'none' | Exclude<EntryOf<'tool'>['state'], 'done'>;
  /** The answer was cut, so that the arguments may be as well. */
  readonly isCut: boolean;
}

/** The calls of the last answer on a path that have no result yet, in call order. */
export function unfinishedCalls(path: readonly Entry[]): UnfinishedCall[] {
  const at = path.findLastIndex(({ type }) => type === 'assistant');
  const answer = path[at];
  if (answer?.type !== 'assistant' || answer.message.stop === 'aborted') return [];
  const isCut = answer.message.stop === 'length';
  const calls = new Map<string, UnfinishedCall>(
    answer.message.calls.map((call) => [call.id, { call, state: 'none', isCut }]),
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
