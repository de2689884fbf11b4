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

interface FoundReplacements {
  readonly folder: string;
  readonly files: readonly FileReplacements[];
  readonly notes: readonly string[];
}

const most = { files: 2000, places: 200_000, bytes: 64 * 1024 * 1024 };

/**
 * What a regular expression finds, with what ripgrep puts in its place. Throws TOO_LARGE for more than one call
 * changes, and what search() throws.
 */
export async function findReplacements(
  given: ChosenFiles & { readonly replacement: string },
  context: PlanContext,
  services: Services,
): Promise<FoundReplacements> {
  const pattern = given.glob === undefined ? undefined : parseGlob(given.glob.replace(/^!/, ''));
  const workspace = rooted(context.workspace);
  const where = await openScope(given, pattern, workspace);
  const isFile = where.stat.isFile();
  const folder = isFile ? dirname(where.path) : where.path;
  const only = isFile ? basename(where.path) : undefined;
  const found = new Collected(only, choiceOf(given, pattern, where, workspace));
  try {
    const ended = await search(services, {
      argv: [
        '--json',
        `--replace=${given.replacement}`,
        ...(isFile ? [] : ['--sort=path']),
        ...searchArguments(given, pattern),
      ],
      where,
      ignored: given.ignored,
      signal: context.signal,
      take: (chunk) => found.take(chunk),
    });
    if (!ended.isWhole) throw tooMuch(found.files.size, found.places);
    return { folder, files: found.whole(), notes: [...ended.notes, ...found.notes()] };
  } finally {
    await where.handle.close();
  }
}

/** What ripgrep has told so far. */
class Collected {
  readonly files = new Map<string, Replacement[]>();
  places = 0;
  readonly #binary = new Set<string>();
  readonly #only: string | undefined;
  readonly #isChosen: (path: string) => boolean;
  readonly #read = jsonLines((message) => this.#note(message));
  #bytes = 0;

  constructor(only: string | undefined, isChosen: (path: string) => boolean) {
    this.#only = only;
    this.#isChosen = isChosen;
  }

  /** Whether there may be more. */
  take(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    this.#read(chunk);
    return this.#bytes <= most.bytes && this.places <= most.places && this.files.size <= most.files;
  }

  /** Without those in which ripgrep has stopped, since they turned out to be binary. */
  whole(): FileReplacements[] {
    const files = [...this.files].filter(([path]) => !this.#binary.has(path));
    return files.map(([path, places]) => ({ path, places }));
  }

  notes(): string[] {
    return [...this.#binary]
      .filter((path) => this.files.has(path))
      .map((path) => `${path} is binary, and left`);
  }

  #note({ type, data }: Message): void {
    const path = this.#only ?? printedPath(textOf(data.path).toString());
    if (type === 'end' && typeof data.binary_offset === 'number') this.#binary.add(path);
    if (type !== 'match' || (!this.files.has(path) && !this.#isChosen(path))) return;
    const places = this.files.get(path) ?? [];
    this.files.set(path, places);
    for (const { match, replacement, start, end } of data.submatches ?? []) {
      if (replacement === undefined) throw tooOld();
      const at = data.absolute_offset ?? 0;
      places.push({ from: at + start, to: at + end, match: textOf(match), fresh: textOf(replacement) });
      this.places++;
    }
  }
}

const tooMuch = (files: number, places: number): ToolcribError =>
  new ToolcribError(
    'TOO_LARGE',
    `pattern: more than one call changes (${withCommas(files)} files, ${withCommas(places)} places so far; at most ` +
      `${withCommas(most.files)} and ${withCommas(most.places)}). Nothing was changed.`,
    'Narrow it by path or glob.',
  );

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

/** Takes output in pieces of any size, and hands on each line. */
function jsonLines(take: (message: Message) => void): (chunk: Buffer) => void {
  let waiting: Buffer[] = [];
  return (chunk) => {
    waiting.push(chunk);
    // Not joined for each piece of a long line: that would take time in the square of its length.
    if (!chunk.includes(10)) return;
    const bytes = Buffer.concat(waiting);
    const end = bytes.lastIndexOf(10);
    waiting = [bytes.subarray(end + 1)];
    for (const line of bytes.toString('utf8', 0, end).split('\n')) take(JSON.parse(line) as Message);
  };
}
