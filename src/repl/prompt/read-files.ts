import { constants, type Dirent } from 'node:fs';
import { lstat, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ChatError } from '../errors.ts';

/**
 * The bytes of a regular file, links followed. Never waits for a pipe or a device. Throws ATTACHMENT_REFUSED for
 * anything else and for more than `mostBytes`, and what the system throws.
 */
export async function readRegularFile(path: string, mostBytes: number): Promise<Buffer> {
  // Opening some devices is an act: looked at before. A pipe may have taken the file's place since: not waited for.
  if (!(await stat(path)).isFile()) throw refused('no regular file');
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const facts = await file.stat();
    const { size } = facts;
    if (!facts.isFile()) throw refused('no regular file');
    // Files of /proc say that they are empty, and others may be growing: what counts is what there is to read.
    const chunks: Buffer[] = [];
    if (size <= mostBytes)
      for await (const chunk of file.createReadStream({ end: mostBytes, autoClose: false }))
        chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    if (Math.max(size, bytes.length) <= mostBytes) return bytes;
    throw refused(`too large, ${size} bytes where ${mostBytes} are the most; let a tool read a part of it`);
  } finally {
    await file.close();
  }
}

const refused = (why: string): ChatError => new ChatError('ATTACHMENT_REFUSED', why);

/** Text in UTF-8, or in UTF-16 that says so; undefined for any other bytes, which a tool may read by name. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  const encoding = bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : mark;
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined; // Binary, or of an old encoding.
  }
}

/** The type of an image that models take, by its first bytes: names lie. */
export function imageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (/^RIFF.{4}WEBP/s.test(head)) return 'image/webp';
  return undefined;
}

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
