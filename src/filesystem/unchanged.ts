import type { KnownFile } from './known-files.ts';

/** By what a file that nobody has touched is recognised. */
export type Version = KnownFile['stat'];

/** Whether two looks at a file saw the same one, unchanged as far as the system tells. */
export function sameVersion(a: Version, b: Version): boolean {
  return (
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs
  );
}

/** Only what tells versions apart: a whole Stats of each file that was read would be a lot to keep. */
export const versionOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Version): Version => ({
  dev,
  ino,
  size,
  mtimeMs,
  ctimeMs,
});

/** Kernels stamp files with the time of their last tick: 10 ms on Linux (CONFIG_HZ=100), 15.6 ms on Windows. */
const tickMs = 50;
/** FAT has a time every two seconds, HFS+ and ext3 one every second. */
const coarseTickMs = 2_050;

/**
 * Whether any change after the look at `atMs` must show in the file's times. One within the same tick of the clock as
 * the last change need not ("racy git": Documentation/technical/racy-git.adoc in git's sources).
 */
export function settled({ mtimeMs, ctimeMs }: Version, atMs: number): boolean {
  const slack = [mtimeMs, ctimeMs].every((time) => time % 1000 === 0) ? coarseTickMs : tickMs;
  // The time of the last change of content can be set by anyone, also to the future; the other one cannot.
  return atMs - ctimeMs > slack && Math.abs(atMs - mtimeMs) > slack;
}
