import { readFile, statfs } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { isInside } from './inside.ts';

/** Where kernels show processes, devices and settings as files; what is read there can be secrets or never end. */
const pseudoFolders = ['/proc', '/sys', '/dev'];

/** statfs(2) types, from linux/magic.h, of file systems with files in them that may say that they have no size. */
const withoutSize: ReadonlySet<number> = new Set([
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x65735546, // fuse
  0x01021997, // 9p
  0x6969, // nfs
  0xff534d42, // cifs
  0xfe534d42, // smb2
]);

/** Whether a path lies in a pseudo file system by its name alone. */
export function inPseudoFolder(path: string): boolean {
  return sep === '/' && pseudoFolders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/** Whether what lies at a path is part of a pseudo file system, wherever that is mounted: it has no blocks. */
export async function onPseudoFilesystem(path: string, device: number): Promise<boolean> {
  // Linux gives file systems without a disk the major number 0; elsewhere the number does not tell.
  if (process.platform !== 'linux' || (device & 0xfff00) !== 0) return false;
  const { blocks, type } = await statfs(path);
  return blocks === 0 && !withoutSize.has(type);
}

/** Their names in /proc/self/mounts, of those that are mounted where a search could come by. */
const pseudoNames =
  /^(?:proc|devtmpfs|devpts|cgroup2?|(?:sys|debug|trace|security|selinux|config|efivar|ns)fs|bpf|pstore|fusectl)$/;

/** Where pseudo file systems are mounted below a folder, relative to it. */
export async function pseudoMountsBelow(folder: string): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const places = mounts.split('\n').flatMap((line) => {
    const [, place = '', type = ''] = line.split(' ');
    // Blanks and the like are written in octal: fstab(5).
    const octal = (_: string, digits: string) => String.fromCharCode(parseInt(digits, 8));
    return pseudoNames.test(type) ? [place.replaceAll(/\\(\d{3})/g, octal)] : [];
  });
  const below = [...pseudoFolders, ...places].filter((place) => isInside(place, folder) && place !== folder);
  return [...new Set(below.map((place) => relative(folder, place)))];
}
