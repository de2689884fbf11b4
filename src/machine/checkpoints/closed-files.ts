import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteName } from './changed-files.ts';
import { readPrivate } from '../folders.ts';
import type { Shadow } from './shadow-store.ts';

/**
 * Names of files that nobody but their owner may read. A git tree says nothing of that, so that a key that was deleted
 * would come back open to all. Each between two zero bytes; one that was cut short does no harm.
 */
const fileName = 'closed-files';

/** With more than that, all are taken for closed. */
const mostBytes = 1024 * 1024;

const separator = '\0';
const flags =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

/** Remembers them for as long as the shadow is kept, also when they are opened to others later. Throws what the system says. */
export async function rememberClosed(shadow: Shadow, names: readonly ByteName[]): Promise<void> {
  const isKnown = readClosed(shadow);
  const added = names.filter((name) => !isKnown(name));
  if (added.length === 0) return;
  const handle = await open(join(shadow.folder, fileName), flags, 0o600);
  try {
    // In one piece, since another server may add its own at the same time.
    await handle.appendFile(
      Buffer.from([separator, ...added.map((name) => name + separator)].join(''), 'latin1'),
    );
  } finally {
    await handle.close();
  }
}

/** Tells which of the files that are in no place now were closed when they were last kept. */
export function readClosed({ folder }: Shadow): (name: ByteName) => boolean {
  const content = readPrivate(folder, fileName);
  if (!content) return () => false;
  if (content.length > mostBytes) return () => true;
  const known = new Set(content.toString('latin1').split(separator));
  return (name) => known.has(name);
}
