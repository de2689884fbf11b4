/** One content told by another: from `start`, `removed` bytes gave way to `inserted` (base64). */
export interface Splice {
  readonly start: number;
  readonly removed: number;
  readonly inserted: string;
}

/** The smallest splice that makes the one content of the other; undefined when it inserts more than `most` bytes. */
export function spliceBetween(before: Buffer, after: Buffer, most: number): Splice | undefined {
  if (after.length - before.length > most) return undefined;
  const shorter = Math.min(before.length, after.length);
  const start = sameFor(shorter, (from, to) => before.compare(after, from, to, from, to) === 0);
  const same = (from: number, to: number) =>
    before.compare(
      after,
      after.length - to,
      after.length - from,
      before.length - to,
      before.length - from,
    ) === 0;
  const end = sameFor(shorter - start, same);
  const inserted = after.subarray(start, after.length - end);
  if (inserted.length > most) return undefined;
  return { start, removed: before.length - end - start, inserted: inserted.toString('base64') };
}

export function applySplice(before: Buffer, { start, removed, inserted }: Splice): Buffer {
  return Buffer.concat([
    before.subarray(0, start),
    Buffer.from(inserted, 'base64'),
    before.subarray(start + removed),
  ]);
}

/** How many of the first `length` bytes are the same: a few large comparisons are much faster than many small ones. */
function sameFor(length: number, isSame: (from: number, to: number) => boolean): number {
  let from = 0;
  for (let step = 64 * 1024; step >= 1; step = Math.floor(step / 16)) {
    while (from < length && isSame(from, Math.min(from + step, length))) from = Math.min(from + step, length);
  }
  return from;
}
