import { ToolcribError, type ErrorCode } from '../../core/errors.ts';
import { byNumber, hasUnseen, unseen } from '../../core/unseen.ts';

/**
 * Formats a path as one line of text: quoted where it has quotes or invisible characters, and could pass for
 * another.
 */
export const displayPath = (path: string): string =>
  path.includes('"') || hasUnseen(path) ? JSON.stringify(path).replaceAll(unseen, byNumber) : path;

/**
 * Makes an error about a path: `says` is the rest of the sentence about it, and `wayOut` what can be done
 * instead.
 */
export const refusal = (code: ErrorCode, path: string, says: string, wayOut?: string): ToolcribError =>
  new ToolcribError(code, `${displayPath(path)}: ${says}`, wayOut);
