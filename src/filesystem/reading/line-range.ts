import { ToolcribError } from '../../core/errors.ts';
import { bytesOf, excerptOf, type Excerpt } from './excerpt.ts';
import { lastLines, linesFrom, type TextFile } from './file-lines.ts';
import type { LineIndexes } from './line-index.ts';

/** Which lines, and how they are shown. */
export interface WantedLines {
  readonly limit: number;
  readonly line_numbers: boolean;
  /** More characters than that will not be shown. */
  readonly most: number;
}

/** What finding lines needs of a call. */
export interface Search {
  readonly lines: LineIndexes;
  readonly signal: AbortSignal;
}

/** How long to look for a far line: the call must answer before its client gives up. */
const searchMs = 20_000;

/** Lines from one on. Throws ARG_INVALID when there is none, and what LineIndexes.find throws. */
export async function lineRange(
  file: TextFile,
  first: number,
  wanted: WantedLines,
  search: Search,
): Promise<Excerpt> {
  const found = await findLine(file, first, search);
  if ('lines' in found)
    throw new ToolcribError('ARG_INVALID', `offset: ${file.name} has ${found.lines} lines.`);
  // A character has three bytes at most for each of its UTF-16 units, so this is always enough.
  const lines = await linesFrom(file, found.start, { lines: wanted.limit, bytes: 3 * wanted.most });
  return excerptOf(lines, file, {
    numbered: wanted.line_numbers ? first : undefined,
    fromEnd: false,
    notes(kept) {
      const last = first + kept - 1;
      const end = kept === 0 ? found.start : lines[kept - 1]?.end;
      if (first === 1 && end === file.size) return [];
      return [`lines ${first}-${last} of ${bytesOf(file.size)}`, ...next(last, end, file)];
    },
  });
}

function next(last: number, end: number | undefined, file: TextFile): string[] {
  if (end === undefined) return [`line ${last} goes on for more than 1 MB: read it with bytes`];
  return end < file.size ? [`next: offset ${last + 1}`] : ['end of file'];
}

/** The last lines. Throws what LineIndexes.find throws when they are to be numbered. */
export async function lastRange(
  file: TextFile,
  count: number,
  wanted: WantedLines,
  search: Search,
): Promise<Excerpt> {
  const { lines, start } = await lastLines(file, count);
  const known = search.lines.linesOf(file);
  const total = known ?? (wanted.line_numbers ? await countLines(file, search) : undefined);
  return excerptOf(lines, file, {
    numbered: wanted.line_numbers && total !== undefined ? total - lines.length + 1 : undefined,
    fromEnd: true,
    notes(kept) {
      if (start === file.encoding.mark && kept === lines.length) return [];
      const which = total === undefined ? `last ${kept} lines` : `lines ${total - kept + 1}-${total}`;
      return [`${which} of ${bytesOf(file.size)}`];
    },
  });
}

async function countLines(file: TextFile, search: Search): Promise<number | undefined> {
  const found = await findLine(file, Infinity, search);
  return 'lines' in found ? found.lines : undefined;
}

const findLine = (file: TextFile, line: number, { lines, signal }: Search) =>
  lines.find(file, line, { signal, untilMs: performance.now() + searchMs });
