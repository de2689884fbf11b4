import { headOf } from './cut-text.ts';

/** A value with everything that was too long shortened, and how much of each list was left out. */
export interface Fitted {
  readonly value: Readonly<Record<string, unknown>>;
  /** Entries left out, by the path of their list: `{ "files": 1200 }`. */
  readonly omitted: Readonly<Record<string, number>>;
  /** Whether any text was shortened. */
  readonly clipped: boolean;
  /** Whether any text was made another one by `clean`. */
  readonly cleaned: boolean;
}

const longestString = 4_000;

/**
 * Shortens data to about `most` characters of JSON: first strings, then the longest lists, from their end. Every
 * string goes through `clean`.
 */
export function fitResult(
  data: Readonly<Record<string, unknown>>,
  most: number,
  clean: (text: string) => string,
): Fitted {
  let clipped = false;
  let cleaned = false;
  const cleanly = (text: string) => {
    const clear = clean(text);
    cleaned ||= clear !== text;
    return clear;
  };
  const short = (text: string, most: number) => {
    clipped ||= text.length > most;
    return clip(text, most);
  };
  const value = mapStrings(data, (text) => short(cleanly(text), longestString)) as Record<string, unknown>;
  const omitted: Record<string, number> = {};
  let size = sizeOf(value);
  while (size > most) {
    const longest = longestList(value);
    if (!longest) break;
    const { list, path } = longest;
    const keep = Math.max(1, Math.floor(list.length * (1 - (size - most) / sizeOf(list)) * 0.97));
    const gone = list.length - Math.min(keep, list.length - 1);
    list.length -= gone;
    omitted[path] = (omitted[path] ?? 0) + gone;
    size = sizeOf(value);
  }
  if (size <= most) return { value, omitted, clipped, cleaned };
  // One huge entry: what is left is all strings, so they are cut instead.
  const shortest = Math.max(100, Math.floor((longestString * most) / size / 2));
  const cut = mapStrings(value, (text) => short(text, shortest)) as Record<string, unknown>;
  return { value: cut, omitted, clipped, cleaned };
}

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = headOf(text, most);
  return `${head}… [${text.length - head.length} more characters]`;
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [change(key), mapStrings(item, change)]),
  );
}

/** The list of more than one entry that takes most room. */
function longestList(value: unknown): { list: unknown[]; path: string } | undefined {
  const found: { list: unknown[]; path: string; size: number }[] = [];
  const visit = (here: unknown, path: string) => {
    if (typeof here !== 'object' || here === null) return;
    if (Array.isArray(here) && here.length > 1) found.push({ list: here, path, size: sizeOf(here) });
    for (const [key, item] of Object.entries(here)) {
      // Items of a list are told apart only by number, which would move when it is cut.
      visit(item, Array.isArray(here) ? `${path}[]` : path ? `${path}.${key}` : key);
    }
  };
  visit(value, '');
  return found.sort((a, b) => b.size - a.size)[0];
}
