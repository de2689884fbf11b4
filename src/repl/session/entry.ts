import { textOf, type AssistantMessage, type ToolCall } from '../message.ts';
import { live } from '../terminal/paste.ts';
import * as g from '../text/json.ts';

/** Ids are shown, within lines of ours. */
const id = (value: unknown): value is string => /^[\w-]{1,64}$/.test(String(value));

/** The first line of a session file. `parent`: the session this one was forked from. */
const header = g.object(
  { v: g.oneOf(1), type: g.oneOf('session'), id, cwd: g.text, created: g.text },
  // A temporary one is removed when it has not been used for 48 hours.
  { parent: g.text, temporary: g.flag },
);
export type SessionHeader = g.Guarded<typeof header>;

const todo = g.object({
  text: g.text,
  status: g.oneOf('pending', 'in_progress', 'completed'),
  priority: g.oneOf('high', 'medium', 'low'),
});
export type Todo = g.Guarded<typeof todo>;

const textPart = g.object({ type: g.oneOf('text'), text: g.text });
const imagePart = g.object({ type: g.oneOf('image'), mimeType: g.text, data: g.text }, { name: g.text });

const { number } = g;
const message: g.TypeGuard<AssistantMessage> = g.object({
  role: g.oneOf('assistant'),
  text: g.text,
  reasoning: g.text,
  stop: g.oneOf('done', 'calls', 'length', 'filtered', 'aborted'),
  provider: g.text,
  model: g.text,
  wire: g.oneOf('chat', 'responses', 'anthropic'),
  usage: g.object({
    input: number,
    output: number,
    cacheRead: number,
    cacheWrite: number,
    estimated: g.flag,
  }),
  calls: g.list(g.object({ id: g.text, name: g.text, arguments: g.text })),
});

/** The fields of each kind of entry, checked so that a damaged file cannot end the program. */
const bodies = {
  /** `typed`: before attachments were read, with what is `inert` in it. */
  user: g.object({ content: g.list(g.either(textPart, imagePart)) }, { typed: g.text }),
  assistant: g.object({ message }),
  /** The progress of a call; its result stands with `done`. */
  tool: g.object(
    { callId: g.text, name: g.text, state: g.oneOf('proposed', 'started', 'done') },
    { text: g.text, images: g.list(imagePart), isError: g.flag, ms: number },
  ),
  /** The choices of the person, on whichever branch; null takes back what is configured. */
  set: g.object(
    {},
    {
      // Nothing but a flag switches questions off: yolo is in no session.
      mode: g.oneOf('plan', 'ask', 'auto'),
      model: g.text,
      profile: g.textOrNull,
      roots: g.list(g.text),
      system: g.textOrNull,
      name: g.text,
    },
  ),
  todos: g.object({ todos: g.list(todo) }),
  /** `request`: the newest words of the person, when their message is not among those that were kept. */
  compaction: g.object(
    { summary: g.text, firstKeptId: g.text, by: g.oneOf('model', 'fallback') },
    { request: g.text, tokensBefore: number, tokensAfter: number },
  ),
  leaf: g.object({ to: g.textOrNull }),
};
type EntryBodies = {
  readonly [T in keyof typeof bodies]: { readonly type: T } & g.Guarded<(typeof bodies)[T]>;
};
export type EntryBody = EntryBodies[keyof EntryBodies];
export type EntryOf<T extends keyof EntryBodies> = EntryBodies[T] & EntryStamp;

/** `parent`: the entry before it on its branch; null for the first. */
const stamp = g.object({ id, parent: g.textOrNull, ts: g.text, type: g.text });
type EntryStamp = Omit<g.Guarded<typeof stamp>, 'type'>;
export type SessionEntry = EntryBody & EntryStamp;

/**
 * A line of a session file; undefined for one that is damaged, or of a later version. Nothing here throws.
 */
export function parseEntry(line: string): SessionEntry | undefined {
  const value = parsed(line);
  // As a table of its own keys: a type named `constructor` is not one of ours.
  if (!stamp(value) || !Object.hasOwn(bodies, value.type)) return undefined;
  return bodies[value.type as keyof EntryBodies](value) ? (value as unknown as SessionEntry) : undefined;
}

/** The first line of a session file; undefined when it is none of this version. */
export function parseHeader(line: string): SessionHeader | undefined {
  const value = parsed(line);
  return header(value) ? value : undefined;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // Cut by a crash, or damaged since.
  }
}

/**
 * Returns the words of an entry and who said them; undefined for an entry that says nothing. It is as it was
 * written: do not print it raw.
 */
export function wordsOf(
  entry: SessionEntry,
): { readonly role: 'you' | 'answer' | 'tool' | 'summary'; readonly text: string } | undefined {
  switch (entry.type) {
    case 'user':
      return { role: 'you', text: live(entry.typed || textOf(entry.content)) };
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
  /** The state it got to. `started`: whether it took effect is not known; before that it did not. */
  readonly state: 'none' | Exclude<EntryOf<'tool'>['state'], 'done'>;
  /** The answer was cut, so that the arguments may be as well. */
  readonly isCut: boolean;
}

/** The calls of the last answer on a path that have no result yet, in call order. */
export function unfinishedCalls(path: readonly SessionEntry[]): UnfinishedCall[] {
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
