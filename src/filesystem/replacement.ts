import { encodeExactly } from './exact-encoding.ts';
import { endingAt, endingsIn, hasMacLines } from './line-endings.ts';
import { changedLines } from './line-script.ts';
import type { Encoding } from './text-file.ts';

/** Some text that was found, and what is to take its place. */
export interface Match {
  readonly old: string;
  readonly new: string;
  /** Whether LF means any line ending; else each line ends as given. */
  readonly anyEnding: boolean;
}

/**
 * What stands in a place of a text instead of `old`: in its encoding, and with the line endings of the lines it stands for.
 * Throws ENCODING and ARG_INVALID as encodeExactly().
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
  const encoded = new Map<string, Buffer>();
  return (from, to) => {
    const endings = endingsIn(bytes.subarray(from, to), encoding, mac);
    let ending = endings[0] ?? endingAt(bytes, from, encoding);
    const text = lines
      .map((line, index) => {
        if (index === lines.length - 1) return line;
        // A carriage return that was given stays, and is not given twice.
        if (line.endsWith('\r')) return `${line}\n`;
        ending = endings[standsFor[index] ?? -1] ?? ending;
        return line + ending;
      })
      .join('');
    return (
      encoded.get(text) ??
      encodeExactly(text, encoding.label, what).then((made) => {
        encoded.set(text, made);
        return made;
      })
    );
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
