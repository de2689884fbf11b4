/** Memory that files are read into, lent and given back: what is not needed again soon is only given up late by V8. */
export interface Buffers {
  /** Of at least that many bytes. */
  take(bytes: number): Buffer;
  /** For a reader that goes through a whole file: 1 MB, or less when many read at the same time. */
  takeChunk(): Buffer;
  /** What nobody looks at any more. */
  giveBack(buffer: Buffer): void;
}

/** The buffers of one call. */
export interface Loan {
  take(bytes: number): Buffer;
  /** Gives all of them back. */
  end(): void;
}

const smallBytes = 64 * 1024;
/** Reading costs a visit to another thread, some 20 µs: much less than 1 MB takes and much more than 64 KB do. */
const largeBytes = 1024 * 1024;
const crowdedBytes = 128 * 1024;
/** Large ones that are lent for going through files before there are only crowded ones. */
const mostChunks = 4;
/** Enough for one reader, which reads one while it looks at the other. */
const kept = 2;

/** Keeps a few of each size from their first use on: 2.1 MB in all. */
export function createBuffers(): Buffers {
  const free: Readonly<Record<number, Buffer[]>> = { [smallBytes]: [], [largeBytes]: [] };
  const lent = new Set<Buffer>();

  const take = (bytes: number): Buffer => {
    const size = bytes <= smallBytes ? smallBytes : bytes <= largeBytes ? largeBytes : bytes;
    const buffer = free[size]?.pop() ?? Buffer.allocUnsafeSlow(size);
    if (size === largeBytes) lent.add(buffer);
    return buffer;
  };

  return {
    take,
    takeChunk: () => (lent.size < mostChunks ? take(largeBytes) : Buffer.allocUnsafeSlow(crowdedBytes)),
    giveBack(buffer) {
      lent.delete(buffer);
      const same = free[buffer.length];
      if (same && same.length < kept) same.push(buffer);
    },
  };
}

/** Lends to one call, which must not hold on to anything it has read when it ends. */
export function lend(buffers: Buffers): Loan {
  const taken: Buffer[] = [];
  return {
    take(bytes) {
      const buffer = buffers.take(bytes);
      taken.push(buffer);
      return buffer.subarray(0, bytes);
    },
    end() {
      taken.splice(0).forEach(buffers.giveBack);
    },
  };
}
