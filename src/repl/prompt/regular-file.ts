import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
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
