import { inlineLimit, presentable } from '../machine/presentable.ts';
import { shownPath } from '../machine/shown-path.ts';
import type { Found } from './ripgrep.ts';
import { printedPath } from './search-scope.ts';

/** What of the findings is shown, and how. */
interface View {
  readonly limit: number;
  /** Whether to mark where lines between two shown ones are missing. */
  readonly gaps: boolean;
  /** Which files are wanted, by their path below the searched folder; all when undefined. */
  readonly chosen: ((name: string) => boolean) | undefined;
  /** The path a caller can use. */
  nameOf(printed: string): string;
}

/** Text for a model, and what it should know beside it. */
interface Shown {
  readonly text: string;
  readonly notes: readonly string[];
}

interface Row {
  readonly path: string;
  readonly line: number;
  readonly isMatch: boolean;
  readonly text: string;
}

const mostCharacters = inlineLimit - 1_500;
const narrower = 'narrow it with path, glob or type, or use mode "files" or "count"';

/** Matching lines and those around them, by file. */
export function inLines(found: Found, { limit, gaps, chosen, nameOf }: View): Shown {
  const byFile = new Map<string, Row[]>();
  let matches = 0;
  let isOver = found.incomplete === 'too_much' || found.incomplete === 'stopped';
  for (const row of rowsIn(found)) {
    if (chosen && !chosen(row.path)) continue;
    if (row.isMatch && ++matches > limit) {
      matches = limit;
      isOver = true;
      break;
    }
    const rows = byFile.get(row.path);
    if (rows) rows.push(row);
    else byFile.set(row.path, [row]);
  }
  if (matches === 0)
    return { text: 'No matches.', notes: isOver ? [`not all of the files were looked at: ${narrower}`] : [] };

  const lines: string[] = [];
  let length = 0;
  let shown = 0;
  let hasInvisible = false;
  for (const [path, rows] of [...byFile].sort(([a], [b]) => (a < b ? -1 : 1))) {
    let last = rows[0]?.line ?? 0;
    for (const [index, row] of rows.entries()) {
      const raw = row.text.replace(/\r$/, '');
      const clean = presentable(raw);
      hasInvisible ||= clean !== raw;
      const above =
        index > 0
          ? gaps && row.line > last + 1
            ? ['--']
            : []
          : [...(lines.length > 0 ? [''] : []), shownPath(nameOf(path))];
      const next = [...above, `${row.line}${row.isMatch ? ':' : '-'}${clean}`];
      length += next.reduce((sum, line) => sum + line.length + 1, 0);
      if (length > mostCharacters) break;
      lines.push(...next);
      last = row.line;
      if (row.isMatch) shown++;
    }
    if (length > mostCharacters) break;
  }
  const notes = hasInvisible ? ['control and invisible characters are left out here'] : [];
  if (isOver || shown < matches)
    notes.unshift(`the first ${shown} matching lines, there are more: ${narrower}`);
  return { text: lines.join('\n'), notes };
}

/** Records of the form `path NUL line : text LF`. A path may hold line feeds, a text may hold NULs. */
function* rowsIn({ stdout, incomplete }: Found): Generator<Row> {
  const numbered = /(\d+)([:-])/y;
  for (let at = 0; at < stdout.length;) {
    const pathEnd = stdout.indexOf('\0', at);
    if (pathEnd === -1) return;
    const path = printedPath(stdout.slice(at, pathEnd));
    numbered.lastIndex = pathEnd + 1;
    const [prefix = '', line, mark] = numbered.exec(stdout) ?? [];
    const lineEnd = stdout.indexOf('\n', pathEnd + 1);
    // The last one may have been cut off anywhere.
    if (lineEnd === -1 && incomplete) return;
    const end = lineEnd === -1 ? stdout.length : lineEnd;
    if (line !== undefined)
      yield {
        path,
        line: Number(line),
        isMatch: mark === ':',
        text: stdout.slice(pathEnd + 1 + prefix.length, end),
      };
    at = end + 1;
  }
}

/** Files that have matches, or how many lines match in each. */
export function inFiles(found: Found, mode: 'files' | 'count', { limit, chosen, nameOf }: View): Shown {
  const record = mode === 'count' ? /([^\0]+)\0(\d+)\r?\n/g : /([^\0]+)\0/g;
  const all = [...found.stdout.matchAll(record)]
    .map(([, path = '', count = '1']) => ({ path: printedPath(path), count: Number(count) }))
    .filter(({ path }) => !chosen || chosen(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  if (all.length === 0) return { text: 'No matches.', notes: [] };
  const lines = all
    .slice(0, limit)
    .map(({ path, count }) => shownPath(nameOf(path)) + (mode === 'count' ? `:${count}` : ''));
  let length = 0;
  const over = lines.findIndex((line) => (length += line.length + 1) > mostCharacters);
  const shown = over === -1 ? lines : lines.slice(0, over);
  const isOver = shown.length < all.length || found.incomplete === 'too_much';
  const total = all.reduce((sum, { count }) => sum + count, 0);
  const notes = mode === 'count' ? [`${total} matching lines in ${all.length} files`] : [];
  if (isOver) notes.unshift(`${shown.length} of ${all.length} files`);
  return { text: shown.join('\n'), notes };
}
