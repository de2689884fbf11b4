import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const mostEntries = 200;
/** Listed, but not looked into: what is in them says nothing about a project. */
const closed = new Set(['.git', 'node_modules', '.venv', '__pycache__']);

interface Named {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** What is in a folder and in the folders in it, at most 200 entries, with sizes in bytes. Throws what the system does. */
export async function directoryListing(folder: string): Promise<string> {
  const top = await entriesOf(folder);
  const shown = top.slice(0, mostEntries);
  let left = mostEntries - shown.length;
  const lines: string[] = [];
  for (const entry of shown) {
    lines.push(await lineFor(folder, entry));
    if (entry.kind !== 'folder' || closed.has(entry.name)) continue;
    const path = join(folder, entry.name);
    // A folder that may not be opened is still an entry.
    const inside = await entriesOf(path).catch(() => []);
    const some = inside.slice(0, left);
    left -= some.length;
    for (const child of some) lines.push(`  ${await lineFor(path, child)}`);
    if (some.length < inside.length) lines.push(`  [${inside.length - some.length} more]`);
  }
  if (shown.length < top.length) lines.push(`[${top.length - shown.length} more]`);
  return lines.length === 0 ? '[empty]' : lines.join('\n');
}

async function entriesOf(folder: string): Promise<Named[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .map((entry): Named => ({
      name: entry.name,
      kind: entry.isDirectory()
        ? 'folder'
        : entry.isFile()
          ? 'file'
          : entry.isSymbolicLink()
            ? 'link'
            : 'other',
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function lineFor(folder: string, { name, kind }: Named): Promise<string> {
  // A line end in a name must not make an entry of its own.
  const shown = /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
  if (kind === 'folder') return `${shown}/`;
  if (kind !== 'file') return `${shown} (${kind === 'link' ? 'link' : 'no file'})`;
  const facts = await lstat(join(folder, name)).catch(() => undefined);
  return facts ? `${shown} (${facts.size})` : shown;
}
