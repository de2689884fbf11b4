import type { Shape } from './shapes.ts';

/** What is looked for: the value of a secret, what a shape begins with, or what belongs to a private key. */
export type Wanted = { readonly text: string } & (
  | { readonly kind: 'value' }
  | { readonly kind: 'key' }
  | { readonly kind: 'shape'; readonly shape: Shape }
);

/** What is looked for, by three of its characters, which other texts have at few places. */
export interface WantedTexts {
  /** 1 for the hash of every such three. */
  readonly marks: Uint8Array;
  /** What has them, and how far from its beginning. */
  readonly byHash: ReadonlyMap<number, readonly { readonly wanted: Wanted; readonly offset: number }[]>;
  /** `wanted.text` has at least three characters. */
  add(wanted: Wanted): void;
}

export function createWanted(): WantedTexts {
  const marks = new Uint8Array(0x40000);
  const byHash = new Map<number, { wanted: Wanted; offset: number }[]>();
  return {
    marks,
    byHash,
    add(wanted) {
      const offset = rarest(wanted.text);
      const hash = hashAt(wanted.text, offset);
      marks[hash] = 1;
      const others = byHash.get(hash);
      if (others) others.push({ wanted, offset });
      else byHash.set(hash, [{ wanted, offset }]);
    },
  };
}

/** Where three characters stand that are rare elsewhere. */
function rarest(text: string): number {
  let best = 0;
  let least = Infinity;
  const last = Math.min(text.length, 16) - 3;
  for (let at = 0; at <= last; at++) {
    const common = commonness(text, at) + commonness(text, at + 1) + commonness(text, at + 2);
    if (common < least) [best, least] = [at, common];
  }
  return best;
}

/** Words are of small letters, and some signs stand everywhere. */
function commonness(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x61 && code <= 0x7a) return 2;
  return code <= 0x20 || '=".:/-'.includes(text.charAt(at)) ? 1 : 0;
}

/** 18 bits of three characters. */
export const hashAt = (text: string, at: number): number =>
  ((text.charCodeAt(at) << 12) ^ (text.charCodeAt(at + 1) << 6) ^ text.charCodeAt(at + 2)) & 0x3ffff;

/**
 * The next place, from `at` on, with three characters that something wanted has; -1 when there is none. Most of the time
 * is spent here: the hash is carried on from character to character, and what is older than three is shifted out of it.
 */
export function nextMark(text: string, marks: Uint8Array, at: number): number {
  const { length } = text;
  if (at + 2 >= length) return -1;
  let hash = ((text.charCodeAt(at) << 6) ^ text.charCodeAt(at + 1)) & 0x3ffff;
  for (let last = at + 2; last < length; last++) {
    hash = ((hash << 6) ^ text.charCodeAt(last)) & 0x3ffff;
    if (marks[hash] !== 0) return last - 2;
  }
  return -1;
}
