import { basename, dirname } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { PlanContext } from '../../core/tool.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { parseGlob } from '../listing/glob-pattern.ts';
import type { Services } from '../services.ts';
import { withCommas } from '../with-commas.ts';
import type { ChosenFiles } from './grep-params.ts';
import { search } from './ripgrep.ts';
import { choiceOf, openScope, printedPath, searchArguments } from './search-scope.ts';

/** What is replaced in the text of a file, and by what; places count bytes of its text in UTF-8, without a mark. */
export interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly match: Buffer;
  readonly fresh: Buffer;
}

export interface FileReplacements {
  /** Below the searched folder. */
  readonly path: string;
  readonly places: readonly Replacement[];
}

const most = { files: 2000, places: 200_000, bytes: 32 * 1024 * 1024 };

/**
 * What a regular expression finds, with what ripgrep puts in its place: the folder, its files, and what was left.
 * Throws TOO_LARGE for more than one call changes, and what search() throws.
 */
export async function findReplacements(
  given: ChosenFiles & { readonly replacement: string },
  { signal, ...context }: PlanContext,
  services: Services,
) {
  const pattern = given.glob === undefined ? undefined : parseGlob(given.glob.replace(/^!/, ''));
  const workspace = rooted(context.workspace);
  const where = await openScope(given, pattern, workspace);
  const isFile = where.stat.isFile();
  const isChosen = choiceOf(given, pattern, where, workspace);
  const found = new Map<string, Replacement[]>();
  const binary = new Set<string>();
  let [count, bytes] = [0, 0];
  const note = ({ type, data }: Message) => {
    const path = isFile ? basename(where.path) : printedPath(textOf(data.path).toString());
    if (type === 'end' && typeof data.binary_offset === 'number') binary.add(path);
    if (type !== 'match' || (!found.has(path) && !isChosen(path))) return;
    const places = found.get(path) ?? [];
    found.set(path, places);
    const at = data.absolute_offset ?? 0;
    for (const { match, replacement, start, end } of data.submatches ?? []) {
      if (replacement === undefined) throw tooOld();
      places.push({ from: at + start, to: at + end, match: textOf(match), fresh: textOf(replacement) });
      count++;
    }
  };
  const chunks: Buffer[] = [];
  const take = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes <= most.bytes;
  };
  const order = isFile ? [] : ['--sort=path'];
  const argv = ['--json', `--replace=${given.replacement}`, ...order, ...searchArguments(given, pattern)];
  try {
    const ended = await search(services, { argv, where, ignored: given.ignored, signal, take });
    const lines = Buffer.concat(chunks).toString().split('\n').slice(0, -1);
    for (const line of lines) note(JSON.parse(line) as Message);
    if (!ended.isWhole || count > most.places || found.size > most.files)
      throw new ToolcribError(
        'TOO_LARGE',
        `pattern: more than one call changes (${withCommas(found.size)} files, ${withCommas(count)} places; ` +
          `at most ${withCommas(most.files)} and ${withCommas(most.places)}). Nothing was changed.`,
        'Narrow it by path or glob.',
      );
    // ripgrep stops in files that turn out to be binary.
    const left = [...binary]
      .filter((path) => found.delete(path))
      .map((path) => `${path} is binary, and left`);
    return {
      folder: isFile ? dirname(where.path) : where.path,
      files: Array.from(found, ([path, places]): FileReplacements => ({ path, places })),
      notes: [...ended.notes, ...left],
    };
  } finally {
    await where.handle.close();
  }
}

const tooOld = (): ToolcribError =>
  new ToolcribError(
    'PROGRAM_FAILED',
    'The ripgrep of this machine does not tell replacements.',
    'It has to be 15.',
  );

/** Text that is no UTF-8 comes in base64. */
interface JsonText {
  readonly text?: string;
  readonly bytes?: string;
}

interface Message {
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

const textOf = ({ text, bytes }: JsonText = {}): Buffer =>
  bytes === undefined ? Buffer.from(text ?? '') : Buffer.from(bytes, 'base64');
