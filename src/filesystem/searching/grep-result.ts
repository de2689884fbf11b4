import { inlineLimit, presentable } from '../../machine/presentable.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import type { FileLines, RankedHit } from './grep-gather.ts';
import { cursorAfter, pathOf, type Position, type Rank } from './grep-position.ts';
import { decoded, type Line } from './ripgrep-output.ts';

/** What of the findings is shown, and how. */
export interface View {
  /** Matching lines, or files, in a page. */
  readonly limit: number;
  /** What is asked, for the cursor. */
  readonly question: string;
  /** The path a caller can use. */
  nameOf(path: string): string;
}

/** A page for a model. */
interface Page {
  readonly lines: readonly string[];
  /** Matching lines, or files. */
  readonly shown: number;
  /** The cursor for what comes after; undefined when nothing is shown. */
  readonly cursor: string | undefined;
  readonly hasInvisible: boolean;
}

const mostCharacters = inlineLimit - 1_500;
/** So that a match with all that is around it fits into a page. */
export const widthOf = (around: number): number => Math.min(500, Math.floor(12_000 / (1 + around)));

/** Matching lines and those around them, by file. */
export function linesPage(
  files: readonly FileLines[],
  view: View & { readonly before: number; readonly after: number },
): Page {
  const { limit, before, after, question, nameOf } = view;
  const page: string[] = [];
  let length = 0;
  let shown = 0;
  let hasInvisible = false;
  let last: Position | undefined;
  const pageOf = (): Page => ({
    lines: page,
    shown,
    hasInvisible,
    cursor: last && cursorAfter(last, question),
  });
  for (const { rank, lines } of files) {
    const header = [...(page.length > 0 ? [''] : []), shownPath(nameOf(nameIn(rank)))];
    let above: number | undefined;
    for (const { match, group } of groupsOf(lines, before, after)) {
      const next = above === undefined ? [...header] : [];
      for (const line of group) {
        if (before + after > 0 && above !== undefined && line.number > above + 1) next.push('--');
        const text = textOf(line);
        const clean = presentable(text);
        hasInvisible ||= clean !== text;
        next.push(`${line.number}${line.isMatch ? ':' : '-'}${clean}`);
        above = line.number;
      }
      length += next.reduce((sum, text) => sum + text.length + 1, 0);
      if (shown === limit || (shown > 0 && length > mostCharacters)) return pageOf();
      page.push(...next);
      shown++;
      last = { rank, line: match.number };
    }
  }
  return pageOf();
}

/** Each matching line with the lines around it that no earlier one has. */
function* groupsOf(
  lines: readonly Line[],
  before: number,
  after: number,
): Generator<{ match: Line; group: Line[] }> {
  let from = 0;
  for (const [index, match] of lines.entries()) {
    if (!match.isMatch) continue;
    let end = index + 1;
    for (
      let next = lines[end];
      next && !next.isMatch && next.number <= match.number + after;
      next = lines[end]
    )
      end++;
    // What comes before may still belong to the last match of the page before.
    yield { match, group: lines.slice(from, end).filter(({ number }) => number >= match.number - before) };
    from = end;
  }
}

/** A line on one line: some files have lone carriage returns in theirs. */
function textOf({ text, cut, farAt }: Line): string {
  const shown = decoded(text).replaceAll('\r', '\u240d');
  const far = farAt === undefined ? '' : ` [match at byte ${farAt} of the line]`;
  return `${cut.before ? '…' : ''}${shown}${cut.after ? '…' : ''}${far}`;
}

/** Files that have matches, or how many lines match in each. */
export function hitsPage(
  hits: readonly RankedHit[],
  counted: boolean,
  { limit, question, nameOf }: View,
): Page {
  const lines: string[] = [];
  let length = 0;
  for (const { rank, count } of hits.slice(0, limit)) {
    const line = shownPath(nameOf(nameIn(rank))) + (counted ? `:${count}` : '');
    length += line.length + 1;
    if (lines.length > 0 && length > mostCharacters) break;
    lines.push(line);
  }
  const last = hits[lines.length - 1];
  return {
    lines,
    shown: lines.length,
    cursor: last && cursorAfter({ rank: last.rank, line: 0 }, question),
    hasInvisible: false,
  };
}

const nameIn = (rank: Rank): string => decoded(pathOf(rank));
