import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { ChatError } from '../errors.ts';

/**
 * Makes a folder only its owner can read, or takes the one that is there. Throws SESSION_UNUSABLE for a link and for
 * what belongs to somebody else: whoever put it there could read conversations, or have them written elsewhere.
 */
export function ownFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stats = lstatSync(path);
  if (!stats.isDirectory()) throw unusable(path, 'is a link: remove it, or point XDG_STATE_HOME elsewhere');
  if (!isOurs(stats)) throw unusable(path, 'belongs to another user');
  if (tooOpen(stats)) chmodSync(path, 0o700);
  return path;
}

/** Facts about a file of ours. Throws SESSION_UNUSABLE when it is missing, no plain file, or somebody else's. */
export function ownFile(path: string): Stats {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) throw unusable(path, 'does not exist');
  if (!stats.isFile()) throw unusable(path, 'is no plain file');
  if (!isOurs(stats)) throw unusable(path, 'belongs to another user');
  if (tooOpen(stats)) chmodSync(path, 0o600);
  return stats;
}

export const unusable = (path: string, why: string, options?: ErrorOptions): ChatError =>
  new ChatError('SESSION_UNUSABLE', `${path} cannot be used: it ${why}.`, options);

/** Windows has no user numbers; there, the folder's own access list decides. */
const isOurs = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid();

const tooOpen = ({ mode }: Stats): boolean => process.platform !== 'win32' && (mode & 0o077) !== 0;
