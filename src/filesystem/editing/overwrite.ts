import { createHash } from 'node:crypto';
import { ToolcribError } from '../../core/errors.ts';
import type { Before } from '../../machine/history/write.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { hasMask } from '../../machine/secrets/mask.ts';
import { sameVersion, type KnownFile } from '../known-files.ts';
import type { Services } from '../services.ts';
import { textToShow } from '../text/encoding.ts';
import { unifiedDiff } from '../text/unified-diff.ts';

/** A file about to be changed, and how. */
interface Overwriting {
  /** Its real path, and the one the caller knows it by. */
  readonly path: string;
  readonly shown: string;
  readonly before: Before;
  /** Whether nothing of the old content stays but by chance; an edit names what it replaces. */
  readonly replacesAll: boolean;
  /** All that was asked for: the same call again passes. */
  call(): string;
  /** What read_file handed out with the content, for a caller that has read it through another server. */
  readonly version?: string | undefined;
}

/** What is shown of a file that would be overwritten unseen, or of what has changed in it. */
const shownCharacters = 3_000;

/** What a caller can show to have read a content: nobody who has not can tell it. */
export const versionFor = (hash: string): string => hash.slice(0, 24);

/**
 * Refuses, once, to overwrite what the caller has not seen: NOT_READ with what is there, STALE_FILE with what somebody
 * else has changed. The same call again passes, as long as nothing changes. A version that is given has to hold.
 */
export async function refuseUnseen(overwriting: Overwriting, services: Services): Promise<void> {
  const { path, shown, before, replacesAll, version } = overwriting;
  const known = services.known.get(path);
  // An empty file has nothing that could be lost; what is edited has been seen by whoever names it.
  if (version === undefined && !known && (before.bytes.length === 0 || !replacesAll)) return;
  if (version === undefined && known && sameVersion(known.stat, before.stat)) return;
  const hash = before.hash();
  if (version !== undefined) return refuseOtherVersion(shown, version, hash);
  const isSame = known?.hash === hash;
  if (isSame) return;
  const digest = createHash('sha256').update(overwriting.call()).update(hash).digest('base64');
  if (services.known.wasRefused(path, digest)) return;
  const again =
    'The same call again does it all the same; in another session, with the version read_file printed.';
  if (!known)
    throw new ToolcribError(
      'NOT_READ',
      `${shownPath(shown)}: is there already, and was not shown. ${whatIsThere(before)}`,
      `${again} To change a part of it, use edit_file.`,
    );
  throw new ToolcribError(
    'STALE_FILE',
    `${shownPath(shown)}: has changed since it was read.${await whatChanged(overwriting, known)}`,
    `Base the change on what is there now. ${again}`,
  );
}

function refuseOtherVersion(shown: string, version: string, hash: string): void {
  if (version === versionFor(hash)) return;
  throw new ToolcribError(
    'STALE_FILE',
    `${shownPath(shown)}: version: is not that of what is in the file now.`,
    'Read it again, and leave version out or give the one that comes with it.',
  );
}

function whatIsThere({ bytes }: Before): string {
  const size = `It has ${bytes.length.toLocaleString('en')} bytes`;
  const text = textToShow(bytes.subarray(0, 4 * shownCharacters));
  if (text === undefined) return `${size}, and is not text.`;
  const head = text.slice(0, shownCharacters);
  const isAll = head.length === text.length && bytes.length <= 4 * shownCharacters;
  return `${size}${isAll ? '' : ', which begin'}:\n${head}${head.endsWith('\n') ? '' : '\n'}`;
}

async function whatChanged({ shown, before }: Overwriting, known: KnownFile) {
  if (!known.bytes) return ` ${whatIsThere(before)}`;
  const { text } = await unifiedDiff(known.bytes, before.bytes, {
    path: shownPath(shown),
    encoding: known.encoding,
    maxCharacters: shownCharacters,
  });
  return ` What changed:\n${text}\n`;
}

/**
 * Throws ARG_INVALID for text that came out of an answer in which secrets are masked: written back, it would destroy
 * them, and searched for, it is not there. A file that has such text itself may be changed.
 */
export function refuseMask(name: string, text: string, before: Buffer | undefined): void {
  if (!hasMask(text) || (before && hasMask(before.toString('latin1')))) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${name}: has in it what toolcrib shows in the place of a secret, which the file really holds.`,
    'Leave that part out: edit_file can replace what is before and behind it.',
  );
}
