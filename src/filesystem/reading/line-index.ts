import { ToolcribError } from '../../core/errors.ts';
import { sameVersion, versionOf, type Version } from '../known-files.ts';
import { countLines, nextLine } from '../text/encoding.ts';
import { fill, type TextFile } from './text-file.ts';

/** Where a line begins, or how many lines there are when there are fewer. */
type LinePlace = { readonly start: number } | { readonly lines: number };

interface LineIndex {
  readonly version: Version;
  readonly label: string;
  /** Line feeds before each mark. */
  readonly feeds: number[];
}

/** Bytes from one mark to the next: a file of 30 GB has 30,000. */
const stride = 1024 * 1024;
const mostFiles = 16;

/** Where lines are in the large files that were looked into last, as far as they have been looked at. */
export class LineIndexes {
  readonly #indexes = new Map<string, LineIndex>();

  /** The byte where a line begins. Throws CANCELLED; a next call goes on from there. */
  async find(file: TextFile, line: number, signal: AbortSignal): Promise<LinePlace> {
    const { encoding, size, head, handle } = file;
    const wanted = line - 1;
    if (wanted === 0) return { start: encoding.mark };
    if (head.length === size) return placeIn(file, head, 0, wanted) ?? { lines: linesIn(file, head, 0) };
    const { feeds } = this.#indexOf(file);
    let mark = Math.max(
      0,
      feeds.findLastIndex((before) => before < wanted),
    );
    const buffer = Buffer.allocUnsafe(stride);
    for (; ; mark++) {
      if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
      const [position, before = 0] = [mark * stride, feeds[mark]];
      const bytes = await fill(handle, buffer.subarray(0, Math.max(0, size - position)), position);
      const here = countLines(bytes, encoding);
      if (before + here >= wanted)
        return placeIn(file, bytes, position, wanted - before) ?? { lines: wanted };
      if (position + bytes.length >= size || bytes.length < stride)
        return { lines: linesIn(file, bytes, before) };
      feeds[mark + 1] = before + here;
    }
  }

  #indexOf({ encoding: { label }, stat }: TextFile): LineIndex {
    const key = `${stat.dev}:${stat.ino}`;
    const kept = this.#indexes.get(key);
    const isSame = kept?.label === label && sameVersion(kept.version, stat);
    const index = isSame ? kept : { version: versionOf(stat), label, feeds: [0] };
    this.#indexes.delete(key);
    this.#indexes.set(key, index);
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size > mostFiles && oldest !== undefined) this.#indexes.delete(oldest);
    return index;
  }
}

/** Where the line after some line feeds begins; undefined when none does: one at the very end begins no other line. */
function placeIn({ encoding, size }: TextFile, bytes: Buffer, position: number, feeds: number) {
  let at = 0;
  for (let seen = 0; seen < feeds; seen++) {
    at = nextLine(bytes, at, encoding);
    if (at === -1 || position + at >= size) return undefined;
  }
  return { start: position + at };
}

/** Lines of a text whose last bytes these are. */
function linesIn({ encoding }: TextFile, bytes: Buffer, before: number): number {
  const isEnded =
    bytes.length <= encoding.mark || nextLine(bytes.subarray(-encoding.unit), 0, encoding) !== -1;
  return before + countLines(bytes, encoding) + (isEnded ? 0 : 1);
}
