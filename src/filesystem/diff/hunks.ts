import { changedBytesAt, shownLine } from './diff-line.ts';
import type { Block } from './changed-blocks.ts';
import { countLines } from '../text/line-count.ts';
import { lineStart } from '../text/line-endings.ts';
import { nextLine, type Encoding } from '../text/text-file.ts';

/** What is compared; both in the same encoding. */
export interface Compared {
  readonly before: Buffer;
  readonly now: Buffer;
  readonly encoding: Encoding;
}

/** Blocks that are shown together, since there are few lines between them. */
export interface Hunk {
  readonly blocks: readonly Block[];
  /** The first byte of the lines that are shown, in the text before. */
  readonly from: number;
  readonly to: number;
  /** Lines that are the same: before the first block, after each of them. */
  readonly lead: number;
  readonly between: readonly number[];
}

const context = 3;

/** The hunks of a diff: changed lines with the three lines around them. */
export function hunksOf(before: Buffer, blocks: readonly Block[], encoding: Encoding): Hunk[] {
  const hunks: Hunk[] = [];
  let [group, between]: [Block[], number[]] = [[], []];
  for (const [index, block] of blocks.entries()) {
    group.push(block);
    const next = blocks[index + 1];
    const after = forward(before, block.to, next?.from ?? before.length, 2 * context + 1, encoding);
    if (next && after.lines <= 2 * context) {
      between.push(after.lines);
      continue;
    }
    const { at: to, lines } = forward(before, block.to, before.length, context, encoding);
    between.push(lines);
    hunks.push({ blocks: group, between, to, ...backward(before, group[0]?.from ?? 0, encoding) });
    [group, between] = [[], []];
  }
  return hunks;
}

/** The byte after some lines, or the end, and how many lines those are. */
function forward(bytes: Buffer, from: number, end: number, most: number, encoding: Encoding) {
  let [at, lines] = [from, 0];
  while (at < end && lines < most) {
    const next = nextLine(bytes, at, encoding);
    at = next === -1 ? end : next;
    lines++;
  }
  return { at, lines };
}

function backward(bytes: Buffer, from: number, encoding: Encoding): { from: number; lead: number } {
  let [at, lead] = [from, 0];
  while (at > 0 && lead < context) {
    at = lineStart(bytes, at - encoding.unit, encoding);
    lead++;
  }
  return { from: at, lead };
}

/** As many lines of the hunks as fit. */
export function renderHunks(compared: Compared, hunks: readonly Hunk[], mostCharacters: number) {
  const rows: string[] = [];
  let characters = 0;
  let shown = 0;
  for (const row of rowsOf(compared, hunks)) {
    characters += row.length + 1;
    if (characters > mostCharacters) {
      const rest = hunks.reduce((sum, hunk) => sum + rowCount(hunk), -shown);
      rows.push(`… ${rest.toLocaleString('en')} more lines`);
      return { text: `${rows.join('\n')}\n`, truncated: true };
    }
    rows.push(row);
    shown++;
  }
  return { text: rows.map((row) => `${row}\n`).join(''), truncated: false };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

const rowCount = ({ blocks, lead, between }: Hunk): number =>
  1 + lead + sum(between) + sum(blocks.map(({ removed, added }) => removed + added));

/** The lines of a diff one by one, so that no more are made than are shown. */
function* rowsOf({ before, now, encoding }: Compared, hunks: readonly Hunk[]): Generator<string> {
  let [counted, line, shift] = [0, 0, 0];
  for (const { blocks, from, to, lead, between } of hunks) {
    line += countLines(before, counted, from, encoding);
    counted = from;
    const same = lead + sum(between);
    const removed = same + sum(blocks.map((block) => block.removed));
    const added = same + sum(blocks.map((block) => block.added));
    yield `@@ -${range(line, removed)} +${range(line + shift, added)} @@`;
    shift += added - removed;

    let at = from;
    for (const block of blocks) {
      yield* linesAs(' ', before, at, block.from, encoding);
      const differs = changedBytesAt(before, now, block);
      yield* linesAs('-', before, block.from, block.to, encoding, differs);
      yield* linesAs('+', now, block.nowFrom, block.nowTo, encoding, differs);
      at = block.to;
    }
    yield* linesAs(' ', before, at, to, encoding);
  }
}

/** Lines after `line` ones; a range of none is given by the line before it. */
function range(line: number, count: number): string {
  if (count === 1) return `${line + 1}`;
  return `${count === 0 ? line : line + 1},${count}`;
}

function* linesAs(
  sign: string,
  bytes: Buffer,
  from: number,
  to: number,
  encoding: Encoding,
  differsAt = 0,
): Generator<string> {
  for (let at = from; at < to;) {
    const next = nextLine(bytes, at, encoding);
    const end = next === -1 ? bytes.length : next - encoding.unit;
    const text = sign + shownLine(bytes, at, end, encoding, differsAt);
    // One line of the text, two of the diff.
    yield next === -1 ? `${text}\n\\ No newline at end of file` : text;
    at = next === -1 ? to : next;
  }
}
