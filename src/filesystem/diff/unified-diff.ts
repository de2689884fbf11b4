import { changedBlocks } from './changed-blocks.ts';
import { changedSpans } from './changed-spans.ts';
import { shownText } from '../text/exact-encoding.ts';
import { diffPath } from './diff-path.ts';
import { hunksOf, renderHunks } from './hunks.ts';
import type { Span } from '../editing/spans.ts';
import { encodingIn, encodingToShow, type Encoding } from '../text/text-file.ts';

export interface UnifiedDiff {
  readonly text: string;
  /** Lines, also those that are not shown. */
  readonly added: number;
  readonly removed: number;
  readonly truncated: boolean;
}

interface How {
  /** As it is shown. */
  readonly path: string;
  /** Of both, unless byte order marks say otherwise. */
  readonly encoding?: string | undefined;
  /** Where they differ, when that is known. */
  readonly spans?: readonly Span[] | undefined;
  readonly maxCharacters?: number | undefined;
}

const usualCharacters = 8_000;
/** By which the encoding is told. */
const headBytes = 64 * 1024;

/**
 * The difference of two contents of a file in the unified format of diff(1), so that `patch` and `git apply` can apply it
 * unless it is cut; without a content, of a file that is made or deleted. The same contents give an empty text.
 */
export async function unifiedDiff(
  before: Buffer | undefined,
  after: Buffer | undefined,
  how: How,
): Promise<UnifiedDiff> {
  const [old, now] = [before ?? Buffer.alloc(0), after ?? Buffer.alloc(0)];
  if (before && after && (how.spans ? how.spans.length === 0 : before.equals(after))) return nothing;
  const names = [
    before ? diffPath('a', how.path) : '/dev/null',
    after ? diffPath('b', how.path) : '/dev/null',
  ];
  const [oldEncoding, encoding] = [encodingFor(old, how.encoding), encodingFor(now, how.encoding)];
  if (!oldEncoding || !encoding) return { ...nothing, text: `Binary files ${names.join(' and ')} differ\n` };
  const header = `--- ${names[0]}\n+++ ${names[1]}\n`;
  const comparable = oldEncoding.label === encoding.label || old.length === 0 || now.length === 0;
  if (!comparable) return converted(old, now, how, [oldEncoding, encoding]);
  const used = old.length === 0 ? encoding : oldEncoding;
  const spans = how.spans ?? changedSpans(old, now, used);
  const blocks = await changedBlocks(old, now, spans, used);
  const hunks = hunksOf(old, blocks, used);
  const { text, truncated } = renderHunks(
    { before: old, now, encoding: used },
    hunks,
    how.maxCharacters ?? usualCharacters,
  );
  return {
    text: header + text,
    added: blocks.reduce((sum, { added }) => sum + added, 0),
    removed: blocks.reduce((sum, { removed }) => sum + removed, 0),
    truncated,
  };
}

const nothing: UnifiedDiff = { text: '', added: 0, removed: 0, truncated: false };

function encodingFor(bytes: Buffer, label: string | undefined): Encoding | undefined {
  const told = encodingToShow(bytes.subarray(0, headBytes));
  return label === undefined || (told && told.mark > 0) ? told : encodingIn(bytes, label);
}

/** Of contents in two encodings, the difference of what is shown. */
async function converted(
  before: Buffer,
  now: Buffer,
  how: How,
  [oldEncoding, encoding]: readonly [Encoding, Encoding],
): Promise<UnifiedDiff> {
  const shown = (bytes: Buffer, { label, mark }: Encoding) =>
    Buffer.from(shownText(bytes.subarray(mark), label));
  const diff = await unifiedDiff(shown(before, oldEncoding), shown(now, encoding), {
    path: how.path,
    encoding: 'utf-8',
    maxCharacters: how.maxCharacters,
  });
  const same = `Only the encoding differs: ${oldEncoding.label} before, ${encoding.label} now\n`;
  return diff.text === '' ? { ...diff, text: same } : diff;
}
