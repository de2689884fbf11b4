import { closeSync, constants, openSync, readSync } from 'node:fs';

/** Links are not followed: a session is a plain file. Windows does not know the flag. */
export const noFollow = constants.O_NOFOLLOW ?? 0;

const chunkBytes = 256 * 1024;

/**
 * The lines of a file, one after the other, without ever holding more than one of them and 256 KB. Lines end with `\n`
 * and nothing else: U+2028 is text. What follows the last `\n` is given, too. `most`: no more is read than so many bytes.
 */
export function* linesOf(file: string, most = Infinity): Generator<string, void> {
  const fd = openSync(file, constants.O_RDONLY | noFollow);
  try {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, most));
    let begun: Buffer[] = [];
    for (let at = 0; at < most;) {
      const read = readSync(fd, chunk, 0, Math.min(chunk.length, most - at), at);
      if (read === 0) break;
      at += read;
      const bytes = chunk.subarray(0, read);
      let from = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
        const rest = bytes.subarray(from, end);
        yield begun.length === 0 ? rest.toString() : Buffer.concat([...begun, rest]).toString();
        begun = [];
        from = end + 1;
      }
      // Copied, as the chunk is filled anew.
      if (from < read) begun.push(Buffer.from(bytes.subarray(from)));
    }
    if (begun.length > 0) yield Buffer.concat(begun).toString();
  } finally {
    closeSync(fd);
  }
}

/** The last bytes of a file as text; its first line may be the end of one. */
export function tailOf(file: string, size: number, most: number): string {
  const fd = openSync(file, constants.O_RDONLY | noFollow);
  try {
    const bytes = Buffer.alloc(Math.min(size, most));
    const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(fd);
  }
}
