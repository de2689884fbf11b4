import { readFile, statfs } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { isInside } from './inside.ts';
import { isOnDisk } from './open-file.ts';

/** Where kernels show processes, devices and settings as files; what is read there can be secrets or never end. */
const pseudoFolders = ['/proc', '/sys', '/dev'];

/** statfs(2) types of file systems without files, from linux/magic.h. tmpfs holds real files and is not among them. */
const pseudoTypes: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x1cd1, // devpts
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0xf97cff8c, // selinuxfs
  0x43415d53, // smackfs
  0x62656570, // configfs
  0xcafe4a11, // bpf
  0xde5e81e4, // efivarfs
  0x6165676c, // pstore
  0x19800202, // mqueue
  0x42494e4d, // binfmt_misc
  0x65735543, // fusectl
  0x6e736673, // nsfs
  0x50494e45, // pipefs
  0x534f434b, // sockfs
  0x09041934, // anonymous inodes
]);

/** Whether a path lies in a pseudo file system by its name alone. */
export function inPseudoFolder(path: string): boolean {
  return sep === '/' && pseudoFolders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/** Whether what lies at a path is part of a pseudo file system, wherever that is mounted. */
export async function onPseudoFilesystem(path: string, device: number): Promise<boolean> {
  // Pseudo file systems have no device behind them (major number 0), disks have one: nothing to ask for those.
  if (process.platform !== 'linux' || isOnDisk({ dev: device })) return false;
  const { type } = await statfs(path);
  return pseudoTypes.has(type);
}

/** Their names in /proc/self/mounts, of those that are mounted where a search could come by. */
const pseudoNames =
  /^(?:proc|sysfs|devtmpfs|devpts|cgroup2?|debugfs|tracefs|securityfs|selinuxfs|configfs|bpf|efivarfs|pstore|mqueue|binfmt_misc|fusectl|nsfs)$/;

/** Where pseudo file systems are mounted below a folder, relative to it. */
export async function pseudoMountsBelow(folder: string): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const places = mounts.split('\n').flatMap((line) => {
    const [, place = '', type = ''] = line.split(' ');
    // Blanks and the like are written in octal: fstab(5).
    const name = place.replaceAll(/\\(\d{3})/g, (_, digits: string) =>
      String.fromCharCode(parseInt(digits, 8)),
    );
    return pseudoNames.test(type) ? [name] : [];
  });
  const below = [...pseudoFolders, ...places].filter((place) => isInside(place, folder) && place !== folder);
  return [...new Set(below.map((place) => relative(folder, join(place))))];
}
