import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { ChatError } from '../errors.ts';

/**
 * The bytes of a regular file, links followed. Never waits for a pipe or a device. Throws ATTACHMENT_REFUSED for anything
 * else and for more than `mostBytes`, and what the system throws.
 */
export async function readRegularFile(path: string, mostBytes: number): Promise<Buffer> {
  // Opening some devices is an act: looked at before. A pipe may have taken the file's place since: not waited for.
  if (!(await stat(path)).isFile()) throw notRegular();
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw notRegular();
    if (facts.size > mostBytes) throw tooLarge(facts.size, mostBytes);
    // Files of /proc say that they are empty, and others may be growing: read until the end or the limit.
    const chunks: Buffer[] = [];
    for (let length = 0; length <= mostBytes;) {
      const chunk = Buffer.allocUnsafe(Math.min(Math.max(facts.size - length, 0), mostBytes) + 4096);
      const { bytesRead } = await file.read(chunk, 0, chunk.length);
      if (bytesRead === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, bytesRead));
      length += bytesRead;
    }
    throw tooLarge(facts.size, mostBytes);
  } finally {
    await file.close();
  }
}

const notRegular = (): ChatError => new ChatError('ATTACHMENT_REFUSED', 'no regular file');

const tooLarge = (size: number, most: number): ChatError =>
  new ChatError(
    'ATTACHMENT_REFUSED',
    `too large, ${size} bytes where ${most} are the most; let a tool read a part of it`,
  );
