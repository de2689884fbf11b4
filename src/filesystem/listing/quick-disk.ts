import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isInside } from '../../machine/paths/inside.ts';
import { pseudoMountsBelow } from '../../machine/paths/pseudo-filesystem.ts';

/** Types in /proc/self/mounts of file systems that answer by themselves: no other machine or program is asked. */
const local: ReadonlySet<string> = new Set([
  'bcachefs',
  'btrfs',
  'erofs',
  'ext2',
  'ext3',
  'ext4',
  'f2fs',
  'jfs',
  'overlay',
  'ramfs',
  'reiserfs',
  'rootfs',
  'squashfs',
  'tmpfs',
  'xfs',
  'zfs',
]);

/**
 * Whether everything at and below a folder answers at once, so that asking in this thread is quicker than in another and
 * keeps nobody waiting. A share of another machine, or a program that plays a file system, may never answer. False where
 * it cannot be told.
 */
export async function answersAtOnce(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const [mounts, pseudo] = await Promise.all([
    readFile('/proc/self/mounts', 'utf8').catch(() => ''),
    pseudoMountsBelow(folder),
  ]);
  // Nobody goes into those.
  const skipped = pseudo.map((name) => join(folder, name));
  let around = { place: '', type: '' };
  for (const line of mounts.split('\n')) {
    const [, written = '', type = ''] = line.split(' ');
    if (written === '') continue;
    // Blanks and the like are in octal: fstab(5).
    const place = written.replaceAll(/\\(\d{3})/g, (_, digits: string) =>
      String.fromCharCode(parseInt(digits, 8)),
    );
    if (isInside(folder, place)) {
      // Of several that are mounted at one place, the last is seen.
      if (place.length >= around.place.length) around = { place, type };
    } else if (isInside(place, folder) && !local.has(type)) {
      if (!skipped.some((name) => isInside(place, name))) return false;
    }
  }
  return local.has(around.type);
}

/**
 * Whether something lies on a disk of this machine, as far as that can be told without asking further: what comes from
 * another machine or a program has no device behind it (major number 0), but so have some file systems on disks.
 */
export const isOnDisk = ({ dev }: { readonly dev: number }): boolean =>
  process.platform === 'linux' && (dev & 0xfff00) !== 0;
