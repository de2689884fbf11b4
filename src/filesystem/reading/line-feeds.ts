import { nextLine, type Encoding } from '../text/text-file.ts';

/**
 * Line feeds in bytes that begin with a whole character. `dense` says that there are many: to search for one costs as
 * much as to look at some 14 bytes.
 */
export function feedsIn(bytes: Buffer, { label, unit }: Encoding, dense: boolean): number {
  let count = 0;
  if (unit === 2) {
    const low = label === 'utf-16le' ? 0 : 1;
    for (let at = 0; at + 1 < bytes.length; at += 2)
      if (bytes[at + low] === 10 && bytes[at + 1 - low] === 0) count++;
  } else if (dense) {
    for (let at = 0; at < bytes.length; at++) if (bytes[at] === 10) count++;
  } else {
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++;
  }
  return count;
}

/** Where the bytes go on after their n-th line feed. */
export function afterFeed(bytes: Buffer, feeds: number, encoding: Encoding): number {
  let at = 0;
  for (let count = 0; count < feeds; count++) at = nextLine(bytes, at, encoding);
  return at;
}
