import type { AuditEntry } from './audit-entry.ts';
import type { Redactor } from '../redact/redactor.ts';

/** Bytes of a line: what a file system takes in one piece, and a person can read. */
const mostBytes = 4096;
/** Characters of a text that are kept. */
const mostCharacters = 200;
/** Characters that are looked at, so that a secret is recognised that the cut goes through. */
const lookedAt = 4096;
/** Items of a list or an object, and values in all. */
const mostItems = 30;
const mostValues = 100;
const deepest = 4;

/** An entry as one line of JSON with its line end: without secrets, at most 4 KB, and harmless in a terminal. */
export function lineOf(entry: AuditEntry, redact: Pick<Redactor, 'redact'>): string {
  const short = shortener(redact, mostCharacters);
  const { client, arguments: given, ...rest } = entry;
  const facts = {
    time: new Date().toISOString(),
    pid: process.pid,
    client: short(client),
    ...(short(rest) as Omit<AuditEntry, 'client' | 'arguments'>),
  };
  for (const most of [mostCharacters, 40, 10]) {
    const line = harmless({
      ...facts,
      arguments: given === undefined ? undefined : shortener(redact, most)(given),
    });
    if (Buffer.byteLength(line) <= mostBytes) return line;
  }
  return lineWithout(facts);
}

/** Names and long texts of the caller's that fill a line even when they are cut. */
function lineWithout(facts: object): string {
  const line = harmless({ ...facts, arguments: '(too many)' });
  if (Buffer.byteLength(line) <= mostBytes) return line;
  const texts = Object.entries(facts).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.slice(0, 40) : typeof value === 'number' ? value : undefined,
  ]);
  return harmless(Object.fromEntries(texts));
}

/** Makes a copy without secrets and with at most so much of everything. */
function shortener({ redact }: Pick<Redactor, 'redact'>, most: number): (value: unknown) => unknown {
  let values = 0;
  const text = (given: string): string => {
    const clean = redact(given.length > lookedAt ? given.slice(0, lookedAt) : given);
    if (clean.length <= most && given.length <= lookedAt) return clean;
    return `${clean.slice(0, most).replace(/[\ud800-\udbff]$/, '')}… (${given.length} characters)`;
  };
  const shorten = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
    if (++values > mostValues || depth > deepest) return '…';
    if (Array.isArray(value)) {
      const items = value.slice(0, mostItems).map((item) => shorten(item, depth + 1));
      return value.length > mostItems ? [...items, `… (${value.length} items)`] : items;
    }
    const names = Object.keys(value);
    const entries = names
      .slice(0, mostItems)
      .map((name) => [text(name), shorten((value as Record<string, unknown>)[name], depth + 1)]);
    if (names.length > mostItems) entries.push(['…', `${names.length} names`]);
    return Object.fromEntries(entries);
  };
  return (value) => shorten(value, 0);
}

// JSON escapes no C1 controls, and nothing that is invisible or changes the direction of what follows.
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** JSON that can be printed as it is. */
export const harmless = (value: object): string =>
  `${JSON.stringify(value).replaceAll(hidden, (found) =>
    [...Array(found.length).keys()]
      .map((index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  )}\n`;
