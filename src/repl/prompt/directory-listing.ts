import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const mostEntries = 200;

/** What is in a folder, at most 200 entries, files with their sizes in bytes. Throws what the system does. */
export async function directoryListing(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  const shown = entries.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, mostEntries);
  const lines = await Promise.all(shown.map((entry) => lineFor(folder, entry)));
  if (shown.length < entries.length) lines.push(`[${entries.length - shown.length} more]`);
  return lines.join('\n') || '[empty]';
}

async function lineFor(folder: string, entry: Dirent): Promise<string> {
  const { name } = entry;
  // A line end in a name must not make an entry of its own.
  const shown = /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
  if (entry.isDirectory()) return `${shown}/`;
  if (!entry.isFile()) return `${shown} (${entry.isSymbolicLink() ? 'link' : 'no file'})`;
  const facts = await lstat(join(folder, name)).catch(() => undefined);
  return facts ? `${shown} (${facts.size})` : shown;
}
