import type { Entry, EntryBody, SessionHeader } from './entry.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a line of a session file turned out to be. `unknown`: an entry, but none this version understands. */
export type Line =
  | { readonly kind: 'header'; readonly header: SessionHeader }
  | { readonly kind: 'entry'; readonly entry: Entry }
  | { readonly kind: 'unknown'; readonly id: string; readonly parent: string | null }
  | { readonly kind: 'broken' };

/** Reads one line. Half characters (lone surrogates) come back as U+FFFD; nothing here throws. */
export function parseLine(line: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(wellFormedJson(line));
  } catch {
    return { kind: 'broken' }; // Cut by a crash, or damaged since.
  }
  if (!isFields(value)) return { kind: 'broken' };
  if (value['type'] === 'session') {
    return isHeader(value) ? { kind: 'header', header: value } : { kind: 'broken' };
  }
  const { id, parent, ts, type } = value;
  if (!isText(id) || !(parent === null || isText(parent))) return { kind: 'broken' };
  // As a table of its own keys: a type named `constructor` is not one of ours.
  const fits = isText(type) && Object.hasOwn(shapes, type) ? shapes[type as EntryBody['type']] : undefined;
  if (!fits?.(value) || !isText(ts)) return { kind: 'unknown', id, parent };
  return { kind: 'entry', entry: value as unknown as Entry };
}

/**
 * JSON text without halves of a surrogate pair, which model APIs refuse. In JSON made by JSON.stringify, and in any JSON
 * read from UTF-8, they can only stand as escapes; pairs of escapes and escaped backslashes are left alone.
 */
export function wellFormedJson(json: string): string {
  if (!json.includes(String.raw`\u`)) return json;
  const pair = String.raw`u[dD][89abAB]..\\u[dD][c-fC-F]..`;
  return json.replace(new RegExp(String.raw`\\(?:${pair}|(u[dD][89a-fA-F]..)|.)`, 'g'), (escape, half) =>
    half === undefined ? escape : String.raw`\ufffd`,
  );
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(fits);
const has = (value: unknown, ...texts: readonly string[]): value is Fields =>
  isFields(value) && texts.every((name) => isText(value[name]));

/** What another version has in its first line is its own business: only that it is another one counts. */
const isHeader = (value: Fields): value is Fields & SessionHeader =>
  typeof value['v'] === 'number' && (value['v'] !== 1 || has(value, 'id', 'cwd', 'created'));

const isStored = (part: unknown): boolean => has(part, 'sha256', 'mimeType', 'name');
const isPart = (part: unknown): boolean =>
  isFields(part) &&
  ((part['type'] === 'text' && has(part, 'text')) ||
    (part['type'] === 'image' && has(part, 'mimeType', 'data')) ||
    (part['type'] === 'stored' && isStored(part)));

/** As much as everybody who reads entries relies on, so that a damaged file cannot end the program. */
const shapes: { readonly [T in EntryBody['type']]: (entry: Fields) => boolean } = {
  user: ({ content }) => isList(content, isPart),
  assistant: ({ message }) =>
    has(message, 'text', 'reasoning', 'stop', 'provider', 'model', 'wire') &&
    isFields(message['usage']) &&
    isList(message['calls'], (call) => has(call, 'id', 'name', 'arguments')),
  tool: (entry) =>
    has(entry, 'callId', 'name') &&
    ['proposed', 'approved', 'started', 'done'].includes(String(entry['state'])) &&
    (entry['images'] === undefined || isList(entry['images'], isStored)) &&
    (entry['text'] === undefined || isText(entry['text'])),
  mode: ({ mode }) => ['plan', 'ask', 'auto', 'yolo'].includes(String(mode)),
  model: (entry) => has(entry, 'model'),
  name: (entry) => has(entry, 'name'),
  system: ({ text }) => text === null || isText(text),
  roots: ({ roots }) => isList(roots, isText),
  todos: ({ todos }) => isList(todos, (todo) => has(todo, 'text', 'status', 'priority')),
  compaction: (entry) => has(entry, 'summary', 'firstKeptId', 'by'),
  prune: ({ callIds }) => isList(callIds, isText),
  omit: (entry) => has(entry, 'target'),
  leaf: ({ to }) => to === null || isText(to),
};
