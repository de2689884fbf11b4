/** Memory for the content of a file, lent from one change to the next. */
export interface SpareBuffer {
  /** At least that long. */
  take(bytes: number): Buffer;
  /** What was taken; nobody may look at it any more. */
  giveBack(buffer: Buffer): void;
}

/** Larger ones are not kept: they would be missing elsewhere. */
const mostBytes = 2 * 1024 * 1024;

/**
 * Keeps one buffer. The system gives every new one page by page, when it is first written to, which takes longer than
 * reading a file into it.
 */
export function createSpareBuffer(): SpareBuffer {
  let spare: Buffer | undefined;
  return {
    take(bytes) {
      const found = spare && spare.length >= bytes ? spare : undefined;
      if (found) spare = undefined;
      return found ?? Buffer.allocUnsafeSlow(bytes);
    },
    giveBack(buffer) {
      if (buffer.length <= mostBytes && buffer.length > (spare?.length ?? 0)) spare = buffer;
    },
  };
}
