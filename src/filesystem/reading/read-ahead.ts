import type { OpenFile } from '../../machine/paths/open-file.ts';
import { fill } from './file-lines.ts';
import type { Buffers } from './read-buffers.ts';

/** A piece of a file and where it is. Overwritten when the next is asked for. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly position: number;
}

/**
 * The bytes of a file from one position up to another, in chunks of 128 KB or 1 MB; the next one is read while the
 * caller works on this one. Ends early where the file does.
 */
export async function* chunksOf(
  handle: OpenFile,
  from: number,
  to: number,
  buffers: Buffers,
): AsyncGenerator<Chunk> {
  const [one, other] = [buffers.takeChunk(), buffers.takeChunk()];
  const both = [one, other] as const;
  const read = (position: number, turn: number) => {
    const buffer = both[turn % 2 === 0 ? 0 : 1];
    const reading = fill(handle, buffer.subarray(0, Math.max(0, to - position)), position);
    // Whoever asks for the next chunk hears of a failure; nobody may ask.
    reading.catch(() => {});
    return reading;
  };
  let next = read(from, 0);
  try {
    for (let turn = 1, position = from; position < to; turn++) {
      const bytes = await next;
      if (bytes.length === 0) return;
      next = read(position + bytes.length, turn);
      yield { bytes, position };
      position += bytes.length;
    }
  } finally {
    // The system may still be writing into a buffer that would be lent again.
    await next.catch(() => {});
    both.forEach(buffers.giveBack);
  }
}
