import { diffPath } from './diff-path.ts';
import { changedLines, type ChangedLines } from './line-script.ts';
import { shownText } from '../text/exact-encoding.ts';
import { countLines } from '../text/line-count.ts';
import { lineStart } from '../text/line-endings.ts';
import { encodingIn, encodingToShow, nextLine, type Encoding } from '../text/text-file.ts';
import { around } from '../text/visible-text.ts';

export interface UnifiedDiff {
  readonly text: string;
  /** Lines, also those that are not shown. */
  readonly added: number;
  readonly removed: number;
  readonly truncated: boolean;
}

interface How {
  /** As it is shown. */
  readonly path: string;
  /** Of both, unless byte order marks say otherwise. */
  readonly encoding?: string | undefined;
  readonly maxCharacters?: number | undefined;
}

const usualCharacters = 8_000;
/** Lines around a change. */
const context = 3;
/** By which the encoding is told. */
const headBytes = 64 * 1024;

/**
 * The difference of two contents of a file in the unified format of diff(1), so that `patch` and `git apply` can apply
 * it unless it is cut; without a content, of a file that is made or deleted. The same contents give an empty text.
 */
export async function unifiedDiff(
  before: Buffer | undefined,
  after: Buffer | undefined,
  how: How,
): Promise<UnifiedDiff> {
  const [old, now] = [before ?? Buffer.alloc(0), after ?? Buffer.alloc(0)];
  if (before && after && before.equals(after)) return nothing;
  const names = [
    before ? diffPath('a', how.path) : '/dev/null',
    after ? diffPath('b', how.path) : '/dev/null',
  ];
  const [oldEncoding, encoding] = [encodingFor(old, how.encoding), encodingFor(now, how.encoding)];
  if (!oldEncoding || !encoding) return { ...nothing, text: `Binary files ${names.join(' and ')} differ\n` };
  const comparable = oldEncoding.label === encoding.label || old.length === 0 || now.length === 0;
  if (!comparable) return converted(old, now, how, [oldEncoding, encoding]);
  const compared = comparedLines(old, now, old.length === 0 ? encoding : oldEncoding);
  const script = await changedLines(compared.old, compared.now);
  const { text, truncated } = rendered(compared, script, how.maxCharacters ?? usualCharacters);
  return {
    text: `--- ${names[0]}\n+++ ${names[1]}\n${text}`,
    added: script.reduce((sum, { nowFrom, nowTo }) => sum + nowTo - nowFrom, 0),
    removed: script.reduce((sum, { from, to }) => sum + to - from, 0),
    truncated,
  };
}

const nothing: UnifiedDiff = { text: '', added: 0, removed: 0, truncated: false };

function encodingFor(bytes: Buffer, label: string | undefined): Encoding | undefined {
  const told = encodingToShow(bytes.subarray(0, headBytes));
  return label === undefined || (told && told.mark > 0) ? told : encodingIn(bytes, label);
}

/** Of contents in two encodings, the difference of what is shown. */
async function converted(
  before: Buffer,
  now: Buffer,
  how: How,
  [oldEncoding, encoding]: readonly [Encoding, Encoding],
): Promise<UnifiedDiff> {
  const shown = (bytes: Buffer, { label, mark }: Encoding) =>
    Buffer.from(shownText(bytes.subarray(mark), label));
  const diff = await unifiedDiff(shown(before, oldEncoding), shown(now, encoding), {
    path: how.path,
    encoding: 'utf-8',
    maxCharacters: how.maxCharacters,
  });
  const same = `Only the encoding differs: ${oldEncoding.label} before, ${encoding.label} now\n`;
  return diff.text === '' ? { ...diff, text: same } : diff;
}

/** The lines of two texts, without most of what is the same at both ends. */
interface Compared {
  /** How many lines come before. */
  readonly skipped: number;
  /** With their line feeds; of texts with one byte for a line feed, a character for each byte. */
  readonly old: readonly string[];
  readonly now: readonly string[];
  show(line: string): string;
}

function comparedLines(old: Buffer, now: Buffer, encoding: Encoding): Compared {
  const { label, unit } = encoding;
  const same = sameBytes(old, now);
  let start = same.before - (same.before % unit);
  for (let line = 0; line <= context && start > 0; line++)
    start = lineStart(old, line === 0 ? start : start - unit, encoding);
  let left = same.after - (same.after % unit);
  for (let line = 0; line <= context && left > 0; line++) {
    const next = nextLine(old, old.length - left, encoding);
    left = next === -1 ? 0 : old.length - next;
  }
  const linesOf = (bytes: Buffer) => {
    const part = bytes.subarray(start, bytes.length - left);
    const text = unit === 2 ? shownText(part, label) : part.toString('latin1');
    return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  };
  return {
    skipped: countLines(old, 0, start, encoding),
    old: linesOf(old),
    now: linesOf(now),
    show: (line) => (unit === 2 ? line : shownText(Buffer.from(line, 'latin1'), label)),
  };
}

const blockBytes = 16 * 1024;

/** How many bytes two texts have in common at their beginning, and at their end behind that. */
function sameBytes(old: Buffer, now: Buffer): { before: number; after: number } {
  const most = Math.min(old.length, now.length);
  let before = 0;
  const end = (at: number) => Math.min(at + blockBytes, most);
  while (before < most && old.subarray(before, end(before)).equals(now.subarray(before, end(before))))
    before = end(before);
  while (before < most && old[before] === now[before]) before++;
  const left = most - before;
  let after = 0;
  const tail = (bytes: Buffer, count: number) =>
    bytes.subarray(bytes.length - after - count, bytes.length - after);
  while (after + blockBytes <= left && tail(old, blockBytes).equals(tail(now, blockBytes)))
    after += blockBytes;
  while (after < left && old[old.length - 1 - after] === now[now.length - 1 - after]) after++;
  return { before, after };
}

/** Changes that are shown together, since there are few lines between them. */
function hunksOf(script: readonly ChangedLines[]): ChangedLines[][] {
  const hunks: ChangedLines[][] = [];
  for (const change of script) {
    const last = hunks.at(-1);
    const before = last?.at(-1);
    if (last && before && change.from - before.to <= 2 * context) last.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

/** As many lines of the hunks as fit. */
function rendered(compared: Compared, script: readonly ChangedLines[], most: number) {
  const rows: string[] = [];
  let [characters, left] = [0, 0];
  for (const row of rowsOf(compared, script)) {
    // The others are only counted.
    if (left === 0) characters += row().length + 1;
    if (characters > most) left++;
    else rows.push(row());
  }
  if (left > 0) rows.push(`… ${left.toLocaleString('en')} more lines`);
  return { text: rows.map((row) => `${row}\n`).join(''), truncated: left > 0 };
}

/** The lines of a diff one by one, each made only when it is shown. */
function* rowsOf(
  { skipped, old, now, show }: Compared,
  script: readonly ChangedLines[],
): Generator<() => string> {
  for (const hunk of hunksOf(script)) {
    const [first, last] = [hunk[0], hunk.at(-1)];
    if (!first || !last) continue;
    const lead = Math.min(context, first.from);
    const trail = Math.min(context, old.length - last.to);
    const [from, nowFrom] = [first.from - lead, first.nowFrom - lead];
    const was = range(skipped + from, last.to + trail - from);
    const is = range(skipped + nowFrom, last.nowTo + trail - nowFrom);
    const header = `@@ -${was} +${is} @@`;
    yield () => header;
    let at = from;
    for (const change of hunk) {
      for (; at < change.from; at++) yield rowOf(' ', old[at], show);
      const paired = change.to - change.from === 1 && change.nowTo - change.nowFrom === 1;
      const differs = paired ? differenceAt(old[at] ?? '', now[change.nowFrom] ?? '', show) : 0;
      for (; at < change.to; at++) yield rowOf('-', old[at], show, differs);
      for (let line = change.nowFrom; line < change.nowTo; line++) yield rowOf('+', now[line], show, differs);
    }
    for (; at < last.to + trail; at++) yield rowOf(' ', old[at], show);
  }
}

/** Lines after `line` ones; a range of none is given by the line before it. */
function range(line: number, count: number): string {
  if (count === 1) return `${line + 1}`;
  return `${count === 0 ? line : line + 1},${count}`;
}

/** Of a longer line only the part around the difference is shown; such a diff cannot be applied. */
const lineCharacters = 500;

function rowOf(sign: string, line = '', show: (line: string) => string, differs = 0): () => string {
  return () => {
    const isEnded = line.endsWith('\n');
    const shown = around(show(isEnded ? line.slice(0, -1) : line), differs, lineCharacters);
    // One line of the text, two of the diff.
    return sign + (isEnded ? shown : `${shown}\n\\ No newline at end of file`);
  };
}

function differenceAt(line: string, other: string, show: (line: string) => string): number {
  const most = Math.min(line.length, other.length);
  let at = 0;
  while (at < most && line.charCodeAt(at) === other.charCodeAt(at)) at++;
  return show(line.slice(0, at)).length;
}
