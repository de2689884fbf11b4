import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { ChatError } from '../errors.ts';

/**
 * The bytes of a regular file, links followed. Never waits for a pipe or a device. Throws ATTACHMENT_REFUSED for
 * anything else and for more than `mostBytes`, and what the system throws.
 */
export async function readRegularFile(path: string, mostBytes: number): Promise<Buffer> {
  // Opening some devices is an act: looked at before. A pipe may have taken the file's place since: not waited for.
  if (!(await stat(path)).isFile()) throw new ChatError('ATTACHMENT_REFUSED', 'no regular file');
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    // Files of /proc say that they are empty, and others may be growing: what counts is what there is to read.
    const chunks: Buffer[] = [];
    for await (const chunk of file.createReadStream({ end: mostBytes, autoClose: false }))
      chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    if (bytes.length <= mostBytes) return bytes;
  } finally {
    await file.close();
  }
  const why = `too large, more than ${mostBytes} bytes; let a tool read a part of it`;
  throw new ChatError('ATTACHMENT_REFUSED', why);
}

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

/** What is in a folder, at most 200 entries. Throws what the system does. */
export async function directoryListing(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  const lines = entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, mostEntries)
    .map((entry) => {
      // A line end in a name must not make an entry of its own.
      const shown = /\p{Cc}/u.test(entry.name) ? JSON.stringify(entry.name) : entry.name;
      return entry.isSymbolicLink() ? `${shown} (link)` : `${shown}${entry.isDirectory() ? '/' : ''}`;
    });
  if (entries.length > mostEntries) lines.push(`[${entries.length - mostEntries} more]`);
  return lines.join('\n') || '[empty]';
}
