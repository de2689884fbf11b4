import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readPrivate, writePrivate } from '../machine/folders.ts';

/** Proofs that this user's toolcrib has handed out a content of a file. They outlive the server. */
export interface Versions {
  /** A short opaque handle for a content at a path; undefined when no key can be kept. */
  mint(path: string, hash: string): string | undefined;
  /** Whether a handle was minted for just that. */
  fits(version: string, path: string, hash: string): boolean;
}

/** 96 bits: nobody can try them all, and a person can still paste it. */
const versionBytes = 12;
const keyName = 'version.key';

/** Signs with a key that is made once and kept in a private folder. Nothing is read before the first use. */
export function createVersions(folder: string | undefined): Versions {
  let key: Buffer | undefined;

  const keyOf = (): Buffer | undefined => {
    key ??= readPrivate(folder, keyName);
    if (key) return key;
    writePrivate(folder, keyName, randomBytes(32));
    // Not the one just made: another process may have put its own in the place.
    return (key = readPrivate(folder, keyName));
  };
  const mint = (path: string, hash: string) => {
    const secret = keyOf();
    if (!secret) return undefined;
    const signed = createHmac('sha256', secret).update(`${path}\0${hash}`).digest();
    return signed.subarray(0, versionBytes).toString('base64url');
  };

  return {
    mint,
    fits(version, path, hash) {
      const expected = Buffer.from(mint(path, hash) ?? '');
      const given = Buffer.from(version);
      return expected.length > 0 && given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
