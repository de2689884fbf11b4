import { basename } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import type { ToolPlanContext } from '../../define-tool.ts';
import { formatNumber } from '../wording.ts';
import { printedPath, searchAll } from './ripgrep.ts';
import { openScope, type SearchParams } from './search-request.ts';

/**
 * A match in a file and its replacement; positions count bytes of the text in UTF-8, without a byte order
 * mark.
 */
export interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly match: Buffer;
  readonly replacement: Buffer;
}

/** Limits of one call. */
const most = { files: 2000, places: 200_000, bytes: 32 * 1024 * 1024 };

/** The replacements in files, by their paths below a folder, and notes on files that were left. */
interface FoundReplacements {
  readonly folder: string;
  readonly files: ReadonlyMap<string, readonly Replacement[]>;
  readonly notes: readonly string[];
}

/**
 * Finds the matches of a regular expression and the replacements that ripgrep makes of them. Throws TOO_LARGE
 * for more than one call may change, and what search() throws.
 */
export async function findReplacements(
  request: SearchParams & { readonly replacement: string },
  context: ToolPlanContext,
): Promise<FoundReplacements> {
  const { target, folder, argv, isChosen } = await openScope(request, context);
  const isFile = target.stat.isFile();
  try {
    const order = isFile ? [] : ['--sort=path'];
    const search = {
      argv: ['--json', `--replace=${request.replacement}`, ...order, ...argv],
      target,
      ignored: request.ignored,
      signal: context.signal,
    };
    const { isWhole, notes, printed } = await searchAll(context.session, search, most.bytes);
    const files = new Map<string, Replacement[]>();
    const binary: string[] = [];
    let count = 0;
    for (const line of printed.toString().split('\n').slice(0, -1)) {
      const { type, data } = JSON.parse(line) as RipgrepMessage;
      const path = isFile ? basename(target.path) : printedPath(toBuffer(data.path).toString());
      // ripgrep stops in a file that turns out to be binary, after it has printed the matches before.
      if (type === 'end' && typeof data.binary_offset === 'number' && files.has(path)) {
        files.delete(path);
        binary.push(path);
      }
      if (type !== 'match' || (!files.has(path) && !isChosen(path))) continue;
      const places = files.get(path) ?? [];
      const added = parseReplacements(data);
      places.push(...added);
      files.set(path, places);
      count += added.length;
    }
    if (!isWhole || count > most.places || files.size > most.files)
      throw new ToolcribError(
        'TOO_LARGE',
        `pattern: more than one call changes (${formatNumber(files.size)} files, ` +
          `${formatNumber(count)} places; ` +
          `at most ${formatNumber(most.files)} and ${formatNumber(most.places)}). Nothing was changed.`,
        'Narrow it by path or glob.',
      );
    return { folder, files, notes: [...notes, ...binary.map((path) => `${path} is binary, and left`)] };
  } finally {
    await target.handle.close();
  }
}

/** Text in the output of ripgrep: `bytes` in base64 when it is not UTF-8. */
interface JsonText {
  readonly text?: string;
  readonly bytes?: string;
}

/** A line of the output of `rg --json`: https://docs.rs/grep-printer. */
interface RipgrepMessage {
  readonly type: string;
  readonly data: {
    readonly path?: JsonText;
    readonly absolute_offset?: number;
    readonly binary_offset?: number | null;
    readonly submatches?: readonly {
      readonly match: JsonText;
      readonly replacement?: JsonText;
      readonly start: number;
      readonly end: number;
    }[];
  };
}

function parseReplacements({
  absolute_offset: at = 0,
  submatches = [],
}: RipgrepMessage['data']): Replacement[] {
  return submatches.map(({ match, replacement, start, end }) => {
    if (replacement === undefined)
      throw new ToolcribError(
        'PROGRAM_FAILED',
        'The ripgrep of this machine does not tell replacements.',
        'It has to be 15.',
      );
    return { from: at + start, to: at + end, match: toBuffer(match), replacement: toBuffer(replacement) };
  });
}

const toBuffer = ({ text, bytes }: JsonText = {}): Buffer =>
  bytes === undefined ? Buffer.from(text ?? '') : Buffer.from(bytes, 'base64');
