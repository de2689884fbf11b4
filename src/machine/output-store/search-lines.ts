import { createContext, Script } from 'node:vm';
import { ToolcribError } from '../../core/errors.ts';
import { createBreath } from '../paths/breath.ts';
import type { View } from './line-runs.ts';
import { longText, type MissingPart, type StoredLine, type StoredOutput } from './stored-output.ts';

/** A line that was found, or stands around one. */
export interface FoundLine {
  readonly kind: 'found';
  readonly line: StoredLine;
  /** About how many bytes of the line stand before what was found; undefined for one that stands around it. */
  readonly at: number | undefined;
}

export interface Search {
  readonly view: View;
  readonly from: number;
  readonly pattern: string;
  /** Lines to be had before and after each one that matches. */
  readonly context: number;
  readonly signal: AbortSignal;
}

/** What a search yields: lines in order, what it could not look at, and where it gave up when it took too long. */
export type SearchStep = FoundLine | MissingPart | { readonly kind: 'gave up'; readonly at: number };

/** Nothing else goes on while a pattern is tried, and one can be made to take for ever: it is given up then. */
const mostMsAtOnce = 250;
const mostMs = 10_000;
/** Lines, or characters, that are tried at once: to begin takes 0.1 ms. */
const atOnce = { lines: 4096, characters: 256 * 1024 };
/** What the parts of a very long line have in common, so that what lies across is found. */
const overlap = 1024;

/**
 * A regular expression of JavaScript, for one line at a time; `(?i)` before it makes case not count. Throws ARG_INVALID
 * for one that is none.
 */
export function linePattern(pattern: string): RegExp {
  const [, ignoring, rest = ''] = /^(\(\?i\))?([^]*)$/.exec(pattern) ?? [];
  try {
    return new RegExp(rest, ignoring ? 'i' : '');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolcribError(
      'ARG_INVALID',
      `grep: ${why.slice(0, 500)}.`,
      'Give a regular expression of JavaScript; write \\( for a bracket that is meant as one.',
    );
  }
}

/**
 * The lines of an output that match, with those around them. Leaves the turn to others between its steps. Throws
 * ARG_INVALID for a pattern that is none or takes too long on few lines, and CANCELLED.
 */
export async function* searchLines(output: StoredOutput, search: Search): AsyncGenerator<SearchStep> {
  const { view, from, context, signal } = search;
  const test = tester(linePattern(search.pattern));
  const until = performance.now() + mostMs;
  const before: StoredLine[] = [];
  let after = 0;
  let batch: StoredLine[] = [];
  let characters = 0;

  async function* tried(): AsyncGenerator<SearchStep> {
    const places = test(batch.map(({ text }) => text));
    for (const [index, line] of batch.entries()) {
      const place = places[index] ?? -1;
      const at = place < 0 ? await laterIn(output, line, test, until) : bytesBefore(line.text, place);
      if (at !== undefined) {
        for (const earlier of before.splice(0)) yield { kind: 'found', line: earlier, at: undefined };
        yield { kind: 'found', line, at };
        after = context;
      } else if (after > 0) {
        after--;
        yield { kind: 'found', line, at };
      } else if (context > 0) {
        before.push(line);
        if (before.length > context) before.shift();
      }
    }
    batch = [];
    characters = 0;
  }

  for await (const step of output.lines(view, from)) {
    if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    if (step.kind === 'missing') {
      yield* tried();
      yield step;
      continue;
    }
    batch.push(step);
    characters += step.text.length;
    if (batch.length < atOnce.lines && characters < atOnce.characters) continue;
    yield* tried();
    if (performance.now() > until) {
      yield { kind: 'gave up', at: step.number };
      return;
    }
  }
  yield* tried();
}

/** Where in each text the pattern is found; -1 where it is not. */
type Test = (texts: readonly string[]) => readonly number[];

/** Tries a pattern on texts for a limited time. */
function tester(pattern: RegExp): Test {
  let texts: readonly string[] = [];
  const context = createContext({ work: () => texts.map((text) => text.search(pattern)) });
  const script = new Script('work()');
  return (given) => {
    texts = given;
    try {
      return script.runInContext(context, { timeout: mostMsAtOnce }) as number[];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      throw new ToolcribError(
        'ARG_INVALID',
        'grep: takes too long on these lines.',
        'Repeat less within what is repeated: a+ instead of (a+)+.',
      );
    }
  };
}

const bytesBefore = (text: string, place: number): number => Buffer.byteLength(text.slice(0, place));

/** About where a pattern is found in a very long line, after its beginning. */
async function laterIn(
  output: StoredOutput,
  line: StoredLine,
  test: Test,
  until: number,
): Promise<number | undefined> {
  if (line.bytes <= longText) return undefined;
  const breathe = createBreath();
  for (let from = longText - overlap; performance.now() < until;) {
    const part = output.part(line, from, longText);
    if (!part || part.to <= from) return undefined;
    const [place = -1] = test([part.text]);
    if (place >= 0) return part.from + bytesBefore(part.text, place);
    if (part.to >= line.bytes) return undefined;
    // What is missing is stepped over.
    from = Math.max(part.to - overlap, from + 1);
    await breathe();
  }
  return undefined;
}
