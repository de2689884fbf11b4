import { headOf, tailOf } from '../../core/cut-text.ts';
import { decode } from '../../machine/decode.ts';
import { printedPath } from './ripgrep.ts';

/** A line of a file, as it is shown. */
export interface Line {
  readonly number: number;
  readonly isMatch: boolean;
  readonly text: string;
}

/** Bytes of a line that ripgrep prints at most. Minified files have lines of some megabytes. */
export const mostPrinted = 4 * 1024 * 1024;
/** Bytes shown before a match far into a line. */
const shownBefore = 150;

/**
 * A line in the form `line : column : text`, or `line - text` around a match. Of long lines `width` bytes are kept,
 * from around the match. Not `--json`: that prints the longest line whole, with every match in it.
 */
export function lineIn(record: Buffer, width: number): Line {
  const start = record.toString('latin1', 0, 50);
  const [mark = '', number, sign, column = '1'] = /^(\d+)(?:(:)(\d+):|-)/.exec(start) ?? [];
  const text = record.subarray(mark.length, record.at(-1) === 0x0d ? -1 : record.length);
  // Some files have lone carriage returns in their lines.
  const shown = shownPart(text, Number(column) - 1, width).replaceAll('\r', '\u240d');
  return { number: Number(number), isMatch: sign === ':', text: shown };
}

/** A line, or `width` bytes of it from around `match`, whole characters where it is UTF-8. */
function shownPart(line: Buffer, match: number, width: number): string {
  if (line.length <= width) return decode(line);
  // What is farther than ripgrep prints of a line is not there.
  const middle = match >= mostPrinted ? 0 : match;
  const from = Math.min(Math.max(0, middle - shownBefore), line.length - width);
  const [start, end] = [characterAt(line, from), characterAt(line, from + width)];
  const [before, after] = [decode(line.subarray(start, middle)), decode(line.subarray(middle, end))];
  return (
    (start > 0 ? `…${tailOf(`.${before}`, before.length)}` : before) +
    (end < line.length ? `${headOf(`${after}.`, after.length)}…` : after)
  );
}

/** Where the UTF-8 character that a byte belongs to begins: at most three bytes before it. */
function characterAt(bytes: Buffer, at: number): number {
  const isRest = (index: number) => ((bytes[index] ?? 0) & 0xc0) === 0x80;
  let start = at;
  while (start > at - 3 && start > 0 && isRest(start)) start--;
  return isRest(start) ? at : start;
}

/** What ripgrep prints, between records, about a file that turned out to be binary after a match. */
const binaryRemarks =
  /^(?:[^\n\0]*: (?:WARNING: stopped searching binary file after match|binary file matches) \(found [^\n\0]*\)\n)+/;

/**
 * Takes output in pieces of any size, and hands on of each record the path, which may hold line feeds, up to a NUL, and
 * what follows it up to a line feed. `rest` is what is left in the end: nothing, or a remark of ripgrep's.
 */
export function readRecords(take: (path: string, record: Buffer) => void, hasContent: boolean) {
  let waiting: Buffer[] = [];
  const last = hasContent ? 0x0a : 0;
  return {
    take(chunk: Buffer): void {
      waiting.push(chunk);
      // Not joined for each piece of a long line: that would take time in the square of its length.
      if (!chunk.includes(last)) return;
      const bytes = waiting.length === 1 ? chunk : Buffer.concat(waiting);
      let at = 0;
      for (;;) {
        const pathEnd = bytes.indexOf(0, at);
        const end = pathEnd === -1 || !hasContent ? pathEnd : bytes.indexOf(last, pathEnd + 1);
        if (end === -1) break;
        // A character for each byte, by which paths are put in order.
        const path = bytes.toString('latin1', at, pathEnd);
        take(printedPath(path.replace(binaryRemarks, '')), bytes.subarray(pathEnd + 1, end));
        at = end + 1;
      }
      waiting = at < bytes.length ? [bytes.subarray(at)] : [];
    },
    rest: (): string => Buffer.concat(waiting).toString('latin1', 0, 1000),
  };
}

/** The path that a record was about. */
export const decodedPath = (path: string): string => decode(Buffer.from(path, 'latin1'));
