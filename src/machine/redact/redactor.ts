import { looksChosen, looksLiteral, looksRandom, looksSet } from './judge.ts';
import { keyMarks, privateKeyAt } from './private-keys.ts';
import { formsOf, secretsOf } from './secret-values.ts';
import { shapes } from './shapes.ts';
import { createWanted, hashAt, nextMark, type Wanted, type WantedTexts } from './wanted.ts';

/** A part of a longer text. */
export interface Part {
  readonly before: string;
  readonly text: string;
  readonly after: string;
  /** Whether a secret of several lines leaves as many, each with a mask. */
  readonly keepsLines?: boolean;
}

export interface Redactor {
  /** The text with every secret that was recognised replaced by a mask. Linear in its length. */
  redact(text: string): string;
  /** The same for a part of a longer text: what stands around it (some thousand characters) shows what was cut in two. */
  redactPart(part: Part): string;
  /** The same for all strings and keys of a JSON value; the value itself when there is nothing to hide. */
  redactValue<T>(value: T): T;
  /** Hides a value from now on, in all its forms. One that stands in ordinary text as well (`true`, `postgres`) stays. */
  addSecret(value: string): void;
}

// Put together, so that it does not stand in this file: an edit of that would be refused.
const opening = ['[redacted by', 'toolcrib'].join(' ');

/** What stands in the place of a secret. It names us, so that no text has it by chance and a model knows who did it. */
const maskOf = (what: string): string => `${opening}: ${what}]`;

/** Whether a text has one of our masks in it: written to a file, it would take the place of the secret. */
export const hasMask = (text: string): boolean => text.includes(opening);

/** How deep a value may be nested; what lies deeper is taken for hostile, and masked whole. */
const deepest = 200;

interface Span {
  readonly start: number;
  readonly end: number;
  readonly what: string;
}

/** Hides the secrets of an environment, further values, and what has the shape of a secret. */
export function createRedactor({
  env,
  extra = [],
}: {
  env: Readonly<Record<string, string | undefined>>;
  extra?: readonly string[];
}): Redactor {
  const known = new Set<string>();
  let made: WantedTexts | undefined;
  const hide = (secret: string, wanted: WantedTexts) => {
    for (const text of formsOf(secret)) {
      if (known.has(text)) continue;
      known.add(text);
      wanted.add({ kind: 'value', text });
    }
  };
  // Takes some milliseconds, which a server that starts has no time for.
  const make = (): WantedTexts => {
    const wanted = createWanted();
    for (const text of keyMarks) wanted.add({ kind: 'key', text });
    for (const shape of shapes) for (const text of shape.starts) wanted.add({ kind: 'shape', text, shape });
    for (const secret of [...secretsOf(env), ...extra.flatMap(given)]) hide(secret, wanted);
    return wanted;
  };
  const wanted = () => (made ??= make());

  const redact = (text: string): string => masked(text, spansIn(text, wanted()), 0, text.length);
  const redactValue = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return redact(value);
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
    if (depth > deepest) return maskOf('nested too deeply');
    if (Array.isArray(value)) {
      const items = value.map((item) => redactValue(item, depth + 1));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    let changed = false;
    const entries = Object.entries(value).map(([key, item]) => {
      const [cleanKey, clean] = [redact(key), redactValue(item, depth + 1)];
      changed ||= cleanKey !== key || clean !== item;
      return [cleanKey, clean] as const;
    });
    return changed ? Object.fromEntries(entries) : value;
  };
  return {
    redact,
    redactPart({ before, text, after, keepsLines }) {
      const whole = before + text + after;
      const spans = spansIn(whole, wanted());
      return masked(whole, spans, before.length, before.length + text.length, keepsLines);
    },
    redactValue: <T>(value: T) => redactValue(value, 0) as T,
    addSecret: (value) => given(value).forEach((secret) => hide(secret, wanted())),
  };
}

/** What is secret of a value that is one as a whole: not all of an address, and nothing common. */
const given = (value: string): string[] => secretsOf({ SECRET: value });

/** Where secrets are, in order and apart. */
function spansIn(text: string, { marks, byHash }: WantedTexts): readonly Span[] {
  let mark = nextMark(text, marks, 0);
  if (mark < 0) return [];
  const spans: Span[] = [];
  let until = 0;
  // What is no secret after all has cost time. A text that wants it again and again is hostile: then doubt is a secret.
  let doubts = text.length + 20_000;
  for (; mark >= 0; mark = nextMark(text, marks, mark + 1)) {
    for (const { wanted, offset } of byHash.get(hashAt(text, mark)) ?? []) {
      const at = mark - offset;
      if (at < 0 || !text.startsWith(wanted.text, at)) continue;
      // A value may begin in what was found before and go on after it; a shape in a shape is nothing new.
      if (wanted.kind !== 'value' && at < until) continue;
      const found = spanOf(text, at, wanted, until);
      if (found === undefined) continue;
      if (doubts < 0 || isSecret(text.slice(found.start, found.end), wanted)) {
        spans.push(found);
        until = Math.max(until, found.end);
      } else doubts -= 100 + found.end - found.start;
    }
  }
  return joined(spans);
}

function spanOf(text: string, at: number, wanted: Wanted, from: number): Span | undefined {
  if (wanted.kind === 'value') return { start: at, end: at + wanted.text.length, what: 'secret' };
  if (wanted.kind === 'key') {
    const range = privateKeyAt(text, at, from);
    return range && { ...range, what: 'private key' };
  }
  const { rest, begins, what } = wanted.shape;
  if (begins !== undefined && !isBeginning(text, at, begins)) return undefined;
  rest.lastIndex = at + wanted.text.length;
  const match = rest.exec(text);
  if (!match) return undefined;
  const end = rest.lastIndex;
  return { start: match[1] === undefined ? at : end - match[1].length, end, what };
}

function isSecret(secret: string, wanted: Wanted): boolean {
  if (wanted.kind !== 'shape' || wanted.shape.must === undefined) return true;
  const hidden = secret.startsWith(wanted.text) ? secret.slice(wanted.text.length) : secret;
  return judges[wanted.shape.must](hidden);
}

const judges = { random: looksRandom, chosen: looksChosen, set: looksSet, literal: looksLiteral } as const;

/** Whether no word goes on at a place. In JSON and source, the n of a line end stands before it; in an address, a code. */
function isBeginning(text: string, at: number, of: 'word' | 'name' | 'curl'): boolean {
  if (of === 'curl') return /\bcurl\s[^\n]*$/.test(text.slice(Math.max(0, at - 200), at + 1));
  if (at === 0 || !(of === 'word' ? /[A-Za-z0-9]/ : /[\w-]/).test(text.charAt(at - 1))) return true;
  return /\\[nrtbf]$|%[0-9A-Fa-f]{2}$|\\u[0-9A-Fa-f]{4}$/.test(text.slice(Math.max(0, at - 6), at));
}

/** In order, and those that overlap as one. */
function joined(spans: readonly Span[]): Span[] {
  const apart: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = apart.at(-1);
    if (!last || span.start >= last.end) apart.push(span);
    else if (span.end > last.end) apart[apart.length - 1] = { ...last, end: span.end };
  }
  return apart;
}

/** The part of a text between two places, with masks. */
function masked(text: string, spans: readonly Span[], from: number, to: number, keepsLines = false): string {
  if (spans.length === 0) return from === 0 && to === text.length ? text : text.slice(from, to);
  const pieces: string[] = [];
  let at = from;
  for (const { start, end, what } of spans) {
    if (end <= from || start >= to) continue;
    const mask = maskOf(what);
    const hidden = keepsLines ? text.slice(Math.max(from, start), Math.min(to, end)) : '';
    pieces.push(text.slice(at, Math.max(at, start)));
    pieces.push(hidden.includes('\n') ? hidden.replaceAll(/[^\n]+/g, mask) : mask);
    at = Math.min(to, end);
  }
  return pieces.join('') + text.slice(at, to);
}
