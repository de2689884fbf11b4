import { ToolcribError, type ErrorCode } from '../../core/errors.ts';

/** A path as one line of text: quoted where it has controls, quotes or invisible characters, and could pass for two. */
export function shownPath(path: string): string {
  return /[\p{C}\u2028\u2029"]/u.test(path) ? JSON.stringify(path).replaceAll(unseen, escaped) : path;
}

// What JSON leaves as it is: formats, marks that reorder, the controls from U+007F on, and ends of lines.
const unseen = /[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** An error about a path: what was wrong with it, as the rest of a sentence, and the way out. */
export const refusal = (code: ErrorCode, path: string, says: string, wayOut?: string): ToolcribError =>
  new ToolcribError(code, `${shownPath(path)}: ${says}`, wayOut);
