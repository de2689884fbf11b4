import { ToolcribError } from '../../../core/errors.ts';
import type { Before } from '../../../machine/history/write.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { hasMask } from '../../../machine/secrets/mask.ts';
import { versionOf, type KnownFile, type KnownFiles } from '../../../machine/known-files.ts';
import { toUtf8 } from '../text/encoding.ts';
import { unifiedDiff } from '../text/unified-diff.ts';
import { formatNumber } from '../wording.ts';

/** The part of a change that says whether the caller knows the content it replaces. */
interface Overwrite {
  readonly path: string;
  /** The whole content is replaced; an edit, in contrast, names the text that it replaces. */
  readonly replacesAll: boolean;
  /** The version that read_file printed, from a caller that has read the file in another session. */
  readonly version?: string | undefined;
}

/** The file that would be overwritten, by its real path. */
interface ExistingFile {
  readonly path: string;
  readonly before: Before;
  /** The call as a text: one that was refused passes when it is repeated. */
  call(): string;
}

/** Characters shown of a file that would be overwritten unseen, or of its changes. */
const shownCharacters = 3_000;

/** The version of a content, by which a caller shows that it has read it: it cannot be guessed. */
export const versionFor = (hash: string): string => hash.slice(0, 24);

/**
 * Refuses once to overwrite content that the caller has not seen: throws NOT_READ with the content,
 * STALE_FILE with the changes of others. The same call passes when it is repeated, as long as the file stays
 * the same. A version in the call has to be that of the content.
 */
export async function refuseUnseen(
  { path: shown, replacesAll, version }: Overwrite,
  { path, before, call }: ExistingFile,
  knownFiles: KnownFiles,
): Promise<void> {
  const file = knownFiles.get(path);
  if (version !== undefined) {
    if (version === versionFor(before.hash())) return;
    const wayOut = 'Read it again, and leave version out or give the one that comes with it.';
    throw refusal('STALE_FILE', shown, 'version: is not that of what is in the file now.', wayOut);
  }
  // An empty file has nothing to lose; an edit names the text that it replaces, so that its caller has seen
  // it.
  const isHarmless = before.bytes.length === 0 || !replacesAll;
  const isUnchanged = file?.version === versionOf(before.stat);
  if (file ? isUnchanged : isHarmless) return;
  if (file?.hash === before.hash() || knownFiles.wasRefused(path, call() + before.hash())) return;
  const content = await describeContent(shown, before, file);
  const again =
    'The same call again does it all the same; in another session, with the version read_file printed.';
  if (file)
    throw refusal(
      'STALE_FILE',
      shown,
      `has changed since it was read. ${content}`,
      `Base the change on what is there now. ${again}`,
    );
  const wayOut = `${again} To change a part of it, use edit_file.`;
  throw refusal('NOT_READ', shown, `is there already, and was not shown. ${content}`, wayOut);
}

/** The beginning of a file, or its differences from the content that was known. */
async function describeContent(shown: string, { bytes }: Before, known?: KnownFile): Promise<string> {
  if (known?.bytes) {
    const options = { path: displayPath(shown), encoding: known.encoding, maxCharacters: shownCharacters };
    return `What changed:\n${(await unifiedDiff(known.bytes, bytes, options)).text}\n`;
  }
  const size = `It has ${formatNumber(bytes.length)} bytes`;
  const text = toUtf8(bytes.subarray(0, 4 * shownCharacters))?.toString();
  if (text === undefined) return `${size}, and is not text.`;
  const head = text.slice(0, shownCharacters);
  const isAll = head.length === text.length && bytes.length <= 4 * shownCharacters;
  return `${size}${isAll ? '' : ', which begin'}:\n${head}${head.endsWith('\n') ? '' : '\n'}`;
}

/**
 * Throws ARG_INVALID for text from an answer in which a secret is masked: writing it would destroy the
 * secret, and searching for it finds nothing. A file that has such text itself may be changed.
 */
export function refuseMask(name: string, text: string, before: Buffer | undefined): void {
  if (!hasMask(text) || (before && hasMask(before.toString('latin1')))) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${name}: has in it what toolcrib shows in the place of a secret, which the file really holds.`,
    'Leave that part out: edit_file can replace what is before and behind it.',
  );
}

// None of these runs over the end of a line, so that the time is linear in the text.
const comment = String.raw`(?://+|#+|/\*+|<!--|--|;+|%+|\*|\{/\*|\(\*|"{3})[ \t]*\(?[ \t]*`;
const restWord = '(?:the |all )?(?:rest|remainder|remaining|existing|unchanged|previous|same|other|omitted)';
const codeWord =
  '(?:code|lines?|file|content|methods?|functions?|class|implementation|imports?|tests?|unchanged)';
const ending = String.raw`(?:\.{3}|…|unchanged|as before|stays? the same)`;
/**
 * A line that stands for code that is not written out: `// ... rest of the code`, `... existing methods`,
 * `# remaining code unchanged`; not `...rest`, which is code.
 */
const omission = new RegExp(
  String.raw`^[ \t]*(?:${comment}(?:\.{3}|…)[^\w\n]{0,20}${restWord}\b(?![,)}\]])|` +
    String.raw`(?:\.{3}|…)[ \t]+${restWord}\b.*\b${codeWord}\b|` +
    String.raw`${comment}${restWord}\b[^.…\n]{0,40}\b${codeWord}\b.{0,40}${ending}).*$`,
  'im',
);

/** Throws ARG_INVALID for a new text with such a line, unless the text before had it, too. */
export function refuseOmission(name: string, text: string, before: () => string): void {
  // This look is forty times as fast as the expression, and most texts have none of these.
  if (!['...', '…', 'unchanged', 'as before', 'the same'].some((sign) => text.includes(sign))) return;
  const line = omission.exec(text)?.[0].trim();
  if (line === undefined || before().includes(line)) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${name}: the line ${JSON.stringify(line.slice(0, 100))} stands for code that would be lost.`,
    'Write that code out, or edit only the part that changes.',
  );
}
