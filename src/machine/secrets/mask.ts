import type { ToolResult } from '../../core/tool.ts';
import { secretTexts } from './known-values.ts';
import { shapes } from './shapes.ts';

/** A text with every secret that is known or looks like one replaced by a mask. */
export type Mask = (text: string) => string;

// Put together, so that it does not stand in this file: an edit of that would be refused.
const opening = ['[redacted by', 'toolcrib'].join(' ');

/** Names us, so that no text has it by chance and a model knows who did it. */
const maskOf = (what: string): string => `${opening}: ${what}]`;

/** Whether a text has one of our masks in it: written to a file, it would take the place of the secret. */
export const hasMask = (text: string): boolean => text.includes(opening);

/**
 * Masks the secrets of an environment, and what has the shape of one. It is courtesy and no border: a secret that was
 * written in another form, or cut in two, is not known for one.
 */
export function createMask(env: Readonly<Record<string, string | undefined>>): Mask {
  let known: RegExp | 'none' | undefined;
  const maskText: Mask = (text) => {
    known ??= anyOf(secretTexts(env));
    let masked = known === 'none' ? text : text.replace(known, maskOf('secret'));
    // Without a group, `kept` is the place of the match.
    for (const { what, pattern, sign = '' } of shapes)
      if (masked.includes(sign))
        masked = masked.replace(
          pattern,
          (_whole, kept: unknown) => `${typeof kept === 'string' ? kept : ''}${maskOf(what)}`,
        );
    return masked;
  };
  // A file of UTF-8 that was read as UTF-16 can be turned back by anybody.
  return (text) =>
    maskText(text).replace(asUtf16, (run) => {
      const bytes = Buffer.from(run, 'utf16le');
      const isMasked = [bytes, Buffer.from(bytes).swap16()].some((each) => {
        const read = each.toString('latin1');
        return maskText(read) !== read;
      });
      return isMasked ? maskOf('secret in UTF-16') : run;
    });
}

/** Two ASCII characters read as one of UTF-16 are one of these: Indic scripts, symbols, Chinese. */
const asUtf16 = /[\u0900-\u7eff]{8,}/g;

const anyOf = (texts: readonly string[]): RegExp | 'none' =>
  texts.length === 0
    ? 'none'
    : new RegExp(
        texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join('|'),
        'g',
      );

/** What leaves the server of a result, with every text in it masked: its parts, and what is said for hosts. */
export const maskResult = ({ content, meta, isError }: ToolResult, mask: Mask): ToolResult => ({
  content: content.map((part) => (part.type === 'text' ? { ...part, text: mask(part.text) } : part)),
  ...(isError && { isError }),
  ...(meta && { meta: maskStrings(meta, mask) }),
});

/** A JSON value with all its strings and names masked. */
export function maskStrings<T>(value: T, mask: Mask): T;
export function maskStrings(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [mask(name), maskStrings(item, mask)]),
  );
}
