import { encodeExactly } from '../text/exact-encoding.ts';
import { endingsIn, hasMacLines } from '../text/line-endings.ts';
import { changedLines } from '../diff/line-script.ts';
import { nextLine, type Encoding } from '../text/text-file.ts';

/** Some text that was found, and what is to take its place. */
export interface Match {
  readonly old: string;
  readonly new: string;
  /** Whether LF means any line ending; else each line ends as given. */
  readonly anyEnding: boolean;
}

/**
 * What stands in a place of a text instead of `old`: in its encoding, and with the line endings of the lines it stands
 * for. Asked for ascending places. Throws ENCODING and ARG_INVALID as encodeExactly().
 */
export async function replacer(
  bytes: Buffer,
  match: Match,
  encoding: Encoding,
  what: string,
): Promise<(from: number, to: number) => Buffer | Promise<Buffer>> {
  const literal = await encodeExactly(match.new, encoding.label, what);
  if (!match.anyEnding || !match.new.includes('\n')) return () => literal;

  const mac = hasMacLines(bytes, encoding);
  const lines = match.new.split('\n');
  const standsFor = await linesStoodFor(match.old.split('\n'), lines);
  /** By the line endings they are made of, of which there are few kinds in a file. */
  const encoded = new Map<string, Buffer>();
  const endingAt = mac ? () => '\r' : lineEndings(bytes, encoding);
  return (from, to) => {
    const endings = endingsIn(bytes.subarray(from, to), encoding, mac);
    let ending = endings[0] ?? endingAt(from);
    const form = ending + endings.join('');
    const known = encoded.get(form);
    if (known) return known;
    const text = lines
      .map((line, index) => {
        if (index === lines.length - 1) return line;
        // A carriage return that was given stays, and is not given twice.
        if (line.endsWith('\r')) return `${line}\n`;
        ending = endings[standsFor[index] ?? -1] ?? ending;
        return line + ending;
      })
      .join('');
    return encodeExactly(text, encoding.label, what).then((made) => {
      encoded.set(form, made);
      return made;
    });
  };
}

/**
 * How the line that begins or goes on at a byte ends; where none ends there, how the first of the file does, else LF.
 * Asked for ascending bytes, it looks for the end of each line once.
 */
function lineEndings(bytes: Buffer, encoding: Encoding): (at: number) => string {
  const endingBefore = (next: number) => {
    const end = bytes.subarray(Math.max(encoding.mark, next - 2 * encoding.unit), next);
    return endingsIn(end, encoding, false).at(-1) ?? '\n';
  };
  let next = nextLine(bytes, encoding.mark, encoding);
  if (next === -1) return () => '\n';
  const first = endingBefore(next);
  let ending = first;
  return (at) => {
    if (at < next) return ending;
    const found = nextLine(bytes, at, encoding);
    next = found === -1 ? Infinity : found;
    return (ending = found === -1 ? first : endingBefore(found));
  };
}

/** For each new line the old one that is the same, or that it takes the place of. */
async function linesStoodFor(
  old: readonly string[],
  lines: readonly string[],
): Promise<(number | undefined)[]> {
  const given = lines.map((line) => line.replace(/\r$/, ''));
  const stands: (number | undefined)[] = [];
  let next = 0;
  for (const { from, to, nowFrom, nowTo } of await changedLines(old, given)) {
    while (stands.length < nowFrom) stands.push(next++);
    for (let line = 0; line < nowTo - nowFrom; line++)
      stands.push(from + line < to ? from + line : undefined);
    next = to;
  }
  while (stands.length < lines.length) stands.push(next++);
  return stands;
}
