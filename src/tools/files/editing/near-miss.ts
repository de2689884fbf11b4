import { excerptAround, differenceAt, showInvisible } from '../text/visible-line.ts';

/**
 * Limits: characters of a file compared line by line; characters and lines of `old` that are looked at; rows
 * shown, and characters of each.
 */
const most = { compared: 1024 * 1024, searched: 256 * 1024, lines: 1000, shown: 24, characters: 200 };
/** Lines of the file that are looked at beyond the number of lines in `old`, which may lack some. */
const margin = 8;

/** The reason why a text was not found, and the way out. */
interface Explanation {
  readonly problem: string;
  readonly wayOut: string;
}

/** Explains why `old` was not found, with the differences from the nearest text. Takes 100 ms at worst. */
export async function explainNotFound(text: string, old: string): Promise<Explanation> {
  if (text === '') return { problem: 'The file is empty.', wayOut: 'Use write_file.' };
  const searched = old.slice(0, most.searched).replace(/(?<=[^])\n$/, '');
  const oldLines = searched.split('\n').slice(0, most.lines);
  const lines = text.split('\n');
  const start =
    (text.length > most.compared ? undefined : nearestStart(lines, oldLines)) ?? lineOfPiece(text, old);
  if (start === undefined)
    return {
      problem: 'Nothing in the file is like it.',
      wayOut: 'Read the part again, and copy old_string from there.',
    };
  const fileLines = lines.slice(start, start + oldLines.length + margin);
  const allRows = await differenceRows(oldLines, fileLines, start + 1);
  const rows = allRows.slice(0, most.shown);
  const omitted = allRows.length - rows.length;
  const legend = '(- as given, + as in the file; · is a blank, → a tab)';
  const shown = [legend, ...rows, ...(omitted > 0 ? [`… ${omitted} more lines`] : [])].join('\n');
  return {
    problem: `The nearest begins at line ${start + 1}.`,
    wayOut: `Copy old_string from the lines with +.\n${shown}`,
  };
}

/** The line, from 0, of the first of sixteen pieces of `old` that occurs in the file. */
function lineOfPiece(text: string, old: string): number | undefined {
  const step = Math.max(16, Math.floor(old.length / 16));
  for (let from = 0; from < step * 16; from += step) {
    const piece = old.slice(from, from + 16).trim();
    const at = piece.length < 6 || piece.includes('\n') ? -1 : text.indexOf(piece);
    if (at !== -1) return text.slice(0, at).split('\n').length - 1;
  }
  return undefined;
}

/**
 * The line, from 0, at which `old` would have to begin for most of its characters to be in the right line;
 * undefined when the file has none of its lines.
 */
function nearestStart(lines: readonly string[], oldLines: readonly string[]): number | undefined {
  const indexes = new Map(oldLines.map((line, index) => [foldLine(line), index] as const).toReversed());
  const votes = new Map<number, number>();
  for (const [at, line] of lines.entries()) {
    const key = foldLine(line);
    const index = indexes.get(key);
    if (index !== undefined && key !== '') votes.set(at - index, (votes.get(at - index) ?? 0) + key.length);
  }
  const [best] = [...votes].sort(([, a], [, b]) => b - a);
  return best && Math.max(0, best[0]);
}

/** A line without the differences that are usual: blanks, case, the forms of quotes, dashes and accents. */
const foldLine = (line: string): string =>
  line
    .slice(0, 400)
    .replaceAll(/[\s\u00ad\u200b-\u200f\u2060\ufeff]+/g, '')
    .replaceAll(/[`´"\u2018-\u201f]/g, "'")
    .replaceAll(/[\u2010-\u2015]/g, '-')
    .normalize('NFC')
    .toLowerCase();

/**
 * Formats the differences of two lists of lines, with the equal lines next to them. The first line of the
 * file has the number `firstLine`.
 */
async function differenceRows(
  oldLines: readonly string[],
  fileLines: readonly string[],
  firstLine: number,
): Promise<string[]> {
  const { diffArrays } = await import('diff');
  // Text that begins inside a line does not differ by the indentation of that line.
  const [firstOld = '', ...otherOld] = oldLines;
  const indent = /^\S/.test(firstOld) ? (/^\s*/.exec(fileLines[0] ?? '')?.[0] ?? '') : '';
  const changes = diffArrays([indent + firstOld, ...otherOld], [...fileLines]);
  const rows: string[] = [];
  let line = firstLine;
  for (const [at, { added, removed, value }] of changes.entries()) {
    const [before, after] = [changes[at - 1], changes[at + 1]];
    if (removed) {
      const others = after?.added ? after.value : [];
      rows.push(...value.map((text, index) => `- given  ${markDifference(text, others[index])}`));
      continue;
    }
    const others = before?.removed ? before.value : [];
    for (const [index, text] of value.entries()) {
      // At the end, only as many lines as they replace: the others come from the margin.
      if (added && (after || index < others.length))
        rows.push(`+ ${line + index}  ${markDifference(text, others[index])}`);
      const isNext = (before && index === 0) || (after && index === value.length - 1);
      if (!added && isNext) rows.push(`  ${line + index}  ${excerptAround(text, 0, most.characters)}`);
    }
    line += value.length;
  }
  return rows;
}

/**
 * Makes the invisible characters of a line visible; also single blanks and accents, when the other line
 * hardly differs in anything else.
 */
function markDifference(line: string, other = ''): string {
  // Of a very long line, the part where the other line begins is shown.
  const start = line.length > most.characters && other ? line.indexOf(other.slice(0, 12)) : -1;
  const at = Math.max(differenceAt(line, other), start);
  return showInvisible(
    excerptAround(line.toWellFormed(), at, most.characters),
    foldLine(line) === foldLine(other),
  );
}
