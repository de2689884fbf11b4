import { ToolcribError } from '../core/errors.ts';

/** A cursor names the last thing on a page, so that what comes or goes between pages moves nothing. */
export const cursorAt = (position: string): string => Buffer.from(position).toString('base64url');

/** What a cursor names; undefined for none. Throws ARG_INVALID for one that `cursorAt` did not make. */
export function positionOf(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const position = Buffer.from(cursor, 'base64url').toString();
  if (position === '' || cursorAt(position) !== cursor) throw notOurs();
  return position;
}

/** For a cursor that names nothing a page can begin after. */
export const notOurs = (): ToolcribError =>
  new ToolcribError(
    'ARG_INVALID',
    'cursor: is none that this tool gave with these parameters.',
    'Give the one at the end of the page before, or leave it out.',
  );
