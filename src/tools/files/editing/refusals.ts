import { ToolcribError } from '../../../core/errors.ts';
import type { Before } from '../../../machine/history/write.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { hasMask } from '../../../machine/secrets/mask.ts';
import { versionOf, type KnownFile, type KnownFiles } from '../../../machine/known-files.ts';
import { asUtf8 } from '../text/encoding.ts';
import { unifiedDiff } from '../text/unified-diff.ts';
import { withCommas } from '../wording.ts';

/** A change of a file, as far as it says whether the caller knows what is there. */
interface Overwriting {
  readonly path: string;
  /** Whether nothing of the old content stays but by chance; an edit names what it replaces. */
  readonly replacesAll: boolean;
  /** What read_file handed out with the content, for a caller that has read it through another server. */
  readonly version?: string | undefined;
}

/** What is there, by its real path. */
interface There {
  readonly path: string;
  readonly before: Before;
  /** All that was asked for: the same call again passes. */
  call(): string;
}

/** What is shown of a file that would be overwritten unseen, or of what has changed in it. */
const shownCharacters = 3_000;

/** What a caller can show to have read a content: nobody who has not can tell it. */
export const versionFor = (hash: string): string => hash.slice(0, 24);

/**
 * Refuses, once, to overwrite what the caller has not seen: NOT_READ with what is there, STALE_FILE with what
 * somebody else has changed. The same call again passes, as long as nothing changes. A version that is given
 * has to hold.
 */
export async function refuseUnseen(
  { path: shown, replacesAll, version }: Overwriting,
  { path, before, call }: There,
  known: KnownFiles,
): Promise<void> {
  const file = known.get(path);
  if (version !== undefined) {
    if (version === versionFor(before.hash())) return;
    const wayOut = 'Read it again, and leave version out or give the one that comes with it.';
    throw refusal('STALE_FILE', shown, 'version: is not that of what is in the file now.', wayOut);
  }
  // An empty file has nothing that could be lost; what is edited has been seen by whoever names it.
  if (file ? file.version === versionOf(before.stat) : before.bytes.length === 0 || !replacesAll) return;
  if (file?.hash === before.hash() || known.wasRefused(path, call() + before.hash())) return;
  const there = await whatIsThere(shown, before, file);
  const again =
    'The same call again does it all the same; in another session, with the version read_file printed.';
  if (file)
    throw refusal(
      'STALE_FILE',
      shown,
      `has changed since it was read. ${there}`,
      `Base the change on what is there now. ${again}`,
    );
  const wayOut = `${again} To change a part of it, use edit_file.`;
  throw refusal('NOT_READ', shown, `is there already, and was not shown. ${there}`, wayOut);
}

/** The beginning of a file, or its difference from what was known of it. */
async function whatIsThere(shown: string, { bytes }: Before, known?: KnownFile): Promise<string> {
  if (known?.bytes) {
    const options = { path: displayPath(shown), encoding: known.encoding, maxCharacters: shownCharacters };
    return `What changed:\n${(await unifiedDiff(known.bytes, bytes, options)).text}\n`;
  }
  const size = `It has ${withCommas(bytes.length)} bytes`;
  const text = asUtf8(bytes.subarray(0, 4 * shownCharacters))?.toString();
  if (text === undefined) return `${size}, and is not text.`;
  const head = text.slice(0, shownCharacters);
  const isAll = head.length === text.length && bytes.length <= 4 * shownCharacters;
  return `${size}${isAll ? '' : ', which begin'}:\n${head}${head.endsWith('\n') ? '' : '\n'}`;
}

/**
 * Throws ARG_INVALID for text that came out of an answer in which secrets are masked: written back, it would
 * destroy them, and searched for, it is not there. A file that has such text itself may be changed.
 */
export function refuseMask(name: string, text: string, before: Buffer | undefined): void {
  if (!hasMask(text) || (before && hasMask(before.toString('latin1')))) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${name}: has in it what toolcrib shows in the place of a secret, which the file really holds.`,
    'Leave that part out: edit_file can replace what is before and behind it.',
  );
}

// Nothing here runs over the end of a line, so that time is linear in the text.
const comment = String.raw`(?://+|#+|/\*+|<!--|--|;+|%+|\*|\{/\*|\(\*|"{3})[ \t]*\(?[ \t]*`;
const kept = '(?:the |all )?(?:rest|remainder|remaining|existing|unchanged|previous|same|other|omitted)';
const what =
  '(?:code|lines?|file|content|methods?|functions?|class|implementation|imports?|tests?|unchanged)';
const ending = String.raw`(?:\.{3}|…|unchanged|as before|stays? the same)`;
/**
 * `// ... rest of the code`, `... existing methods`, `# remaining code unchanged`; not `...rest`, which is
 * code.
 */
const omission = new RegExp(
  String.raw`^[ \t]*(?:${comment}(?:\.{3}|…)[^\w\n]{0,20}${kept}\b(?![,)}\]])|` +
    String.raw`(?:\.{3}|…)[ \t]+${kept}\b.*\b${what}\b|` +
    String.raw`${comment}${kept}\b[^.…\n]{0,40}\b${what}\b.{0,40}${ending}).*$`,
  'im',
);

/** Throws ARG_INVALID for a new text with a line of its own that stands for code which is not written out. */
export function refuseOmission(name: string, fresh: string, before: () => string): void {
  // Most texts have none of these, which is told forty times as fast.
  if (!['...', '…', 'unchanged', 'as before', 'the same'].some((sign) => fresh.includes(sign))) return;
  const line = omission.exec(fresh)?.[0].trim();
  if (line === undefined || before().includes(line)) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${name}: the line ${JSON.stringify(line.slice(0, 100))} stands for code that would be lost.`,
    'Write that code out, or edit only the part that changes.',
  );
}
