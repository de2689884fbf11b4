import { ToolcribError, type ErrorCode } from '../../core/errors.ts';
import { byNumber, hasUnseen, unseen } from '../../core/unseen.ts';

/**
 * A path as one line of text: quoted where it has quotes, or what is not seen, and could pass for another.
 */
export const displayPath = (path: string): string =>
  path.includes('"') || hasUnseen(path) ? JSON.stringify(path).replaceAll(unseen, byNumber) : path;

/** An error about a path: what was wrong with it, as the rest of a sentence, and the way out. */
export const refusal = (code: ErrorCode, path: string, says: string, wayOut?: string): ToolcribError =>
  new ToolcribError(code, `${displayPath(path)}: ${says}`, wayOut);
