import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { fstatSync, openSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import { displayPath } from '../../../machine/paths/display-path.ts';
import { makePrivate, permissionsIn, readPrivate, replacePrivate } from '../../../store/own-files.ts';

/** The words by which clients are let in. */
export interface Tokens {
  /** The file that they are in. */
  readonly file: string;
  /** The number of the one that stands in an Authorization header; undefined when none does. */
  indexIn(header?: string): number | undefined;
}

/** The least that cannot be guessed, if it was made by chance. */
const fewestCharacters = 32;
const mostBytes = 64 * 1024;
const ownFile = 'http-token';

/**
 * Reads the tokens of a file, one a line. Throws CONFIG_INVALID when others can read it, or there are none.
 */
export function readTokens(file: string): Tokens {
  const lines = readByUs(file)
    .split(/\r?\n/)
    .map((line) => line.trim());
  const words = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (words.length === 0)
    throw invalid(file, 'there is no token in it', 'Put one into it, in a line of its own.');
  if (words.some((word) => word.length < fewestCharacters || /\s/.test(word)))
    throw invalid(
      file,
      `each line is a token of ${fewestCharacters} characters or more, without spaces`,
      '`openssl rand -hex 32` makes one.',
    );
  return tokensOf(file, words);
}

/** The token of this user, which is made the first time. Throws CONFIG_INVALID where it cannot be kept. */
export function ownToken(state: string | undefined): Tokens {
  if (state === undefined || !makePrivate(state))
    throw invalid(state ?? 'the home folder', 'no private file can be kept there', 'Use --token-file.');
  const kept = readPrivate(state, ownFile)?.toString().trim();
  if (kept !== undefined && kept.length >= fewestCharacters) return tokensOf(join(state, ownFile), [kept]);
  const made = randomBytes(32).toString('base64url');
  replacePrivate(state, ownFile, `${made}\n`);
  return tokensOf(join(state, ownFile), [made]);
}

function tokensOf(file: string, words: readonly string[]): Tokens {
  const digests = words.map(digestOf);
  return {
    file,
    indexIn(header = '') {
      const given = /^Bearer +(\S+) *$/i.exec(header)?.[1];
      if (given === undefined) return undefined;
      const digest = digestOf(given);
      // All of them are looked at, whichever it is.
      const matches = digests.map((one) => timingSafeEqual(one, digest));
      const index = matches.indexOf(true);
      return index < 0 ? undefined : index;
    },
  };
}

const digestOf = (word: string): Buffer => createHash('sha256').update(word).digest();

function readByUs(file: string): string {
  let opened: number | undefined;
  try {
    opened = openSync(file, 'r');
    const { mode, size } = fstatSync(opened);
    // The group may read: a secret that Kubernetes mounts belongs to root, and is ours by its group.
    if ((permissionsIn(mode) & 0o027) !== 0)
      throw invalid(file, 'others can read or change it', `chmod 600 ${displayPath(file)}`);
    if (size > mostBytes) throw invalid(file, 'it is too large for a file of tokens', 'One token a line.');
    return readFileSync(opened, 'utf8');
  } catch (error) {
    if (error instanceof ToolcribError) throw error;
    throw invalid(file, (error as Error).message, 'It has to be a readable file.');
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

const invalid = (file: string, why: string, wayOut: string): ToolcribError =>
  new ToolcribError('CONFIG_INVALID', `--token-file ${displayPath(file)}: ${why}.`, wayOut);
