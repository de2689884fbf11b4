import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** What is hashed without letting anything else happen: about half a millisecond. */
const sliceBytes = 1024 * 1024;

/**
 * SHA-256 in hexadecimal. On the main thread, in slices: crypto.subtle copies the bytes first and takes a thread that
 * then is missing for writing, which takes twice as long when a file of 1 MB is hashed while it is written.
 */
export async function sha256(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256');
  for (let start = 0; start === 0 || start < bytes.length; start += sliceBytes) {
    if (start > 0) await setImmediate();
    hash.update(bytes.subarray(start, start + sliceBytes));
  }
  return hash.digest('hex');
}
