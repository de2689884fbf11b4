import { isObject, type JsonObject } from '../text/json.ts';
import type { Entry, EntryBody, SessionHeader } from './entry.ts';

/** What a line of a session file turned out to be. `other`: damaged, or of a later version. */
export type Line =
  | { readonly kind: 'header'; readonly header: SessionHeader }
  | { readonly kind: 'entry'; readonly entry: Entry }
  | { readonly kind: 'other' };

/** Reads one line. Half characters (lone surrogates) come back as U+FFFD; nothing here throws. */
export function parseLine(line: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(wellFormedJson(line));
  } catch {
    return { kind: 'other' }; // Cut by a crash, or damaged since.
  }
  if (isHeader(value)) return { kind: 'header', header: value };
  return isEntry(value) ? { kind: 'entry', entry: value } : { kind: 'other' };
}

/**
 * JSON text without halves of a surrogate pair, which model APIs refuse. In JSON made by JSON.stringify, and in any
 * JSON read from UTF-8, they can only stand as escapes; pairs of escapes and escaped backslashes are left alone.
 */
export function wellFormedJson(json: string): string {
  if (!json.includes(String.raw`\u`)) return json;
  const pair = String.raw`u[dD][89abAB]..\\u[dD][c-fC-F]..`;
  return json.replace(new RegExp(String.raw`\\(?:${pair}|(u[dD][89a-fA-F]..)|.)`, 'g'), (escape, half) =>
    half === undefined ? escape : String.raw`\ufffd`,
  );
}

const isText = (value: unknown): value is string => typeof value === 'string';
/** Ids are shown, within lines of ours. */
const hasId = (value: JsonObject): boolean => /^[\w-]{1,64}$/.test(String(value['id']));
const isList = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(fits);
const has = (value: unknown, ...texts: readonly string[]): value is JsonObject =>
  isObject(value) && texts.every((name) => isText(value[name]));

/** What another version has in its first line is its own business: only that it is another one counts. */
const isHeader = (value: unknown): value is JsonObject & SessionHeader =>
  isObject(value) &&
  value['type'] === 'session' &&
  typeof value['v'] === 'number' &&
  (value['v'] !== 1 || (has(value, 'id', 'cwd', 'created') && hasId(value)));

function isEntry(value: unknown): value is JsonObject & Entry {
  if (!has(value, 'id', 'ts', 'type') || !(value['parent'] === null || isText(value['parent']))) return false;
  if (!hasId(value)) return false;
  const type = value['type'] as EntryBody['type'];
  // As a table of its own keys: a type named `constructor` is not one of ours.
  return Object.hasOwn(shapes, type) && shapes[type](value);
}

const isStored = (part: unknown): boolean => has(part, 'sha256', 'mimeType', 'name');
const isPart = (part: unknown): boolean =>
  isObject(part) &&
  ((part['type'] === 'text' && has(part, 'text')) ||
    (part['type'] === 'image' && has(part, 'mimeType', 'data')) ||
    (part['type'] === 'stored' && isStored(part)));

/** Checks the fields that other code reads without looking, so that a damaged file cannot end the program. */
const shapes: { readonly [T in EntryBody['type']]: (entry: JsonObject) => boolean } = {
  user: ({ content, typed = '', line = '' }) => isList(content, isPart) && isText(typed) && isText(line),
  assistant: ({ message }) =>
    has(message, 'text', 'reasoning', 'stop', 'provider', 'model', 'wire') &&
    isObject(message['usage']) &&
    isList(message['calls'], (call) => has(call, 'id', 'name', 'arguments')),
  tool: (entry) =>
    has(entry, 'callId', 'name') &&
    ['proposed', 'started', 'done'].includes(String(entry['state'])) &&
    (entry['images'] === undefined || isList(entry['images'], isStored)) &&
    (entry['text'] === undefined || isText(entry['text'])),
  mode: ({ mode }) => ['plan', 'ask', 'auto', 'yolo'].includes(String(mode)),
  model: (entry) => has(entry, 'model'),
  name: (entry) => has(entry, 'name'),
  system: ({ text }) => text === null || isText(text),
  roots: ({ roots }) => isList(roots, isText),
  todos: ({ todos }) => isList(todos, (todo) => has(todo, 'text', 'status', 'priority')),
  compaction: (entry) =>
    has(entry, 'summary', 'firstKeptId', 'by') &&
    (entry['request'] === undefined || isText(entry['request'])),
  prune: ({ callIds }) => isList(callIds, isText),
  leaf: ({ to }) => to === null || isText(to),
};
