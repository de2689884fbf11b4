import { basename } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import type { PlanContext } from '../../../core/tool.ts';
import type { Session } from '../../../machine/session.ts';
import { withCommas } from '../wording.ts';
import { printedPath, searchAll } from './ripgrep.ts';
import { openScope, type ChosenFiles } from './search-request.ts';

/**
 * What is replaced in the text of a file, and by what; places count bytes of its text in UTF-8, without a
 * mark.
 */
export interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly match: Buffer;
  readonly fresh: Buffer;
}

const most = { files: 2000, places: 200_000, bytes: 32 * 1024 * 1024 };

/**
 * What a regular expression finds, with what ripgrep puts in its place, by the paths below a folder; and what
 * was left. Throws TOO_LARGE for more than one call changes, and what search() throws.
 */
export async function findReplacements(
  given: ChosenFiles & { readonly replacement: string },
  context: PlanContext,
  session: Session,
) {
  const { where, folder, argv, isChosen } = await openScope(given, context);
  const isFile = where.stat.isFile();
  try {
    const told = ['--json', `--replace=${given.replacement}`, ...(isFile ? [] : ['--sort=path']), ...argv];
    const asked = { argv: told, where, ignored: given.ignored, signal: context.signal };
    const { isWhole, notes, printed } = await searchAll(session, asked, most.bytes);
    const files = new Map<string, Replacement[]>();
    const binary: string[] = [];
    let count = 0;
    for (const line of printed.toString().split('\n').slice(0, -1)) {
      const { type, data } = JSON.parse(line) as WorkerMessage;
      const path = isFile ? basename(where.path) : printedPath(bytesOf(data.path).toString());
      // ripgrep stops in files that turn out to be binary.
      if (type === 'end' && typeof data.binary_offset === 'number' && files.delete(path)) binary.push(path);
      if (type !== 'match' || (!files.has(path) && !isChosen(path))) continue;
      const places = files.get(path) ?? [];
      files.set(path, places);
      const found = placesIn(data);
      places.push(...found);
      count += found.length;
    }
    if (!isWhole || count > most.places || files.size > most.files)
      throw new ToolcribError(
        'TOO_LARGE',
        `pattern: more than one call changes (${withCommas(files.size)} files, ${withCommas(count)} places; ` +
          `at most ${withCommas(most.files)} and ${withCommas(most.places)}). Nothing was changed.`,
        'Narrow it by path or glob.',
      );
    return { folder, files, notes: [...notes, ...binary.map((path) => `${path} is binary, and left`)] };
  } finally {
    await where.handle.close();
  }
}

/** Text that is no UTF-8 comes in base64. */
interface JsonText {
  readonly text?: string;
  readonly bytes?: string;
}

interface WorkerMessage {
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

function placesIn({ absolute_offset: at = 0, submatches = [] }: WorkerMessage['data']): Replacement[] {
  return submatches.map(({ match, replacement, start, end }) => {
    if (replacement === undefined)
      throw new ToolcribError(
        'PROGRAM_FAILED',
        'The ripgrep of this machine does not tell replacements.',
        'It has to be 15.',
      );
    return { from: at + start, to: at + end, match: bytesOf(match), fresh: bytesOf(replacement) };
  });
}

const bytesOf = ({ text, bytes }: JsonText = {}): Buffer =>
  bytes === undefined ? Buffer.from(text ?? '') : Buffer.from(bytes, 'base64');
