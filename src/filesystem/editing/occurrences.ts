/**
 * Longer texts are looked for by a search that is slower as a rule, but never takes more than one step for each byte.
 */
const longestNative = 5_000;
/** Comparisons the native search may need at worst before it is looked at how long it took: some 30 ms. */
const stepsBetween = 3e7;
const nativeMs = 20;
/** What the linear search takes for a byte: while the native one is faster, it goes on. */
const linearMs = 5e-6;

/**
 * Where `wanted` begins in `bytes`, also where occurrences overlap, in ascending order. The native search is the
 * fastest one but needs, of texts that repeat themselves, as many steps as the product of both lengths; when it shows
 * that, the rest is searched in linear time.
 */
export function* occurrences(bytes: Buffer, wanted: Buffer, from = 0): Generator<number> {
  const { length } = wanted;
  if (length > longestNative) return yield* linearly(bytes, wanted, from);
  const step = Math.max(4096, Math.ceil(stepsBetween / length));
  let spentMs = 0;
  for (let start = from; start + length <= bytes.length; start += step) {
    if (spentMs > nativeMs + linearMs * (start - from)) return yield* linearly(bytes, wanted, start);
    const part = bytes.subarray(start, start + step + length - 1);
    const hits: number[] = [];
    const began = performance.now();
    for (let at = part.indexOf(wanted); at !== -1; at = part.indexOf(wanted, at + 1)) {
      hits.push(start + at);
      if (hits.length % 256 === 0 && performance.now() - began > nativeMs) {
        yield* hits;
        return yield* linearly(bytes, wanted, start + at + 1);
      }
    }
    spentMs += performance.now() - began;
    yield* hits;
  }
}

/** The search of Knuth, Morris and Pratt (SIAM J. Comput. 6, 1977). */
function* linearly(bytes: Buffer, wanted: Buffer, from: number): Generator<number> {
  const { length } = wanted;
  /** For each beginning of `wanted`: the length of its longest beginning that is also its end. */
  const border = new Int32Array(length + 1);
  for (let at = 1, known = 0; at < length; at++) {
    while (known > 0 && wanted[at] !== wanted[known]) known = border[known] ?? 0;
    if (wanted[at] === wanted[known]) known++;
    border[at + 1] = known;
  }
  for (let at = from, known = 0; at < bytes.length; at++) {
    while (known > 0 && bytes[at] !== wanted[known]) known = border[known] ?? 0;
    if (bytes[at] === wanted[known]) known++;
    if (known < length) continue;
    yield at + 1 - length;
    known = border[known] ?? 0;
  }
}
