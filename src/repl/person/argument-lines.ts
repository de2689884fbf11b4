import type { Paint } from '../terminal/paint.ts';
import { escaped } from '../terminal/printable.ts';
import { counted, oneLine } from '../terminal/show.ts';

/** Characters of a line that is not folded. */
const mostOfLine = 500;

/**
 * The arguments a person is asked about, one below the other, with nothing that hides in them: every control and
 * invisible character is spelled out, text of several lines stands behind a bar, so that it cannot look like
 * another argument. Folded in the middle to `most` lines each, and then it says how long they are; Infinity folds
 * nothing.
 */
export function argumentLines(args: Readonly<Record<string, unknown>>, paint: Paint, most: number): string[] {
  const fold = most === Infinity ? (line: string) => line : foldLine;
  return Object.entries(args).flatMap(([key, value]) => {
    const text = typeof value === 'string' ? value : structured(value);
    const name = `  ${paint.strong(fold(oneLine(key)))}:`;
    const all = escaped(text).split('\n');
    if (all.length === 1 && text.length <= mostOfLine)
      return [`${name} ${text === text.trim() && text !== '' ? all[0] : `"${all[0]}"`}`];
    const size = paint.dim(` (${counted(all.length, 'line')}, ${counted(text.length, 'character')})`);
    return [`${name}${size}`, ...middleFolded(all, most).map((line) => `  ${paint.dim('│')} ${fold(line)}`)];
  });
}

export function foldLine(line: string): string {
  if (line.length <= mostOfLine) return line;
  const head = line.slice(0, mostOfLine - 100).replace(/[\ud800-\udbff]$/, '');
  const tail = line.slice(-100).replace(/^[\udc00-\udfff]/, '');
  return `${head} … ${counted(line.length - head.length - tail.length, 'more character')} (/show) … ${tail}`;
}

function structured(value: unknown): string {
  const short = JSON.stringify(value) ?? 'undefined';
  return short.length <= 80 ? short : JSON.stringify(value, null, 2);
}

function middleFolded(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const tail = Math.floor(most / 3);
  const note = `… ${counted(lines.length - most, 'more line')} (/show) …`;
  return [...lines.slice(0, most - tail), note, ...lines.slice(lines.length - tail)];
}
