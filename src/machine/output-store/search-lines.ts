import { setImmediate } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import { ToolcribError } from '../../core/errors.ts';
import type { OutputLine, StoredOutput } from './kept-output.ts';

export interface LineSearch {
  readonly from: number;
  /**
   * A JavaScript regular expression that is tried on one line at a time; with `(?i)` before it, case does not
   * count.
   */
  readonly pattern: string;
  /** The parameter that holds the pattern. */
  readonly parameter: string;
  readonly signal: AbortSignal;
}

/**
 * The times after which a search is given up: nothing else runs while a pattern is tried, and some take for
 * ever.
 */
const mostMsAtOnce = 250;
const mostMs = 10_000;

/**
 * Yields the lines of an output, many at a time, with whether they match. Lets other work run between its
 * steps. Throws ARG_INVALID for a pattern that is invalid or takes too long, and CANCELLED.
 */
export async function* searchLines(
  output: StoredOutput,
  { from, pattern, parameter, signal }: LineSearch,
): AsyncGenerator<{ readonly lines: readonly OutputLine[]; readonly matches: readonly boolean[] }> {
  const test = tester(pattern, parameter);
  const until = performance.now() + mostMs;
  for (const lines of output.lines(from)) {
    yield { lines, matches: test(lines.map((line) => (line.kind === 'line' ? line.text : undefined))) };
    await setImmediate();
    if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    if (performance.now() > until) throw takesTooLong(parameter);
  }
}

/** Creates a function that tries a pattern on texts for a limited time. */
function tester(pattern: string, parameter: string) {
  const expression = expressionOf(pattern, parameter);
  let texts: readonly (string | undefined)[] = [];
  const work = () => texts.map((text) => text !== undefined && expression.test(text));
  const context = createContext({ work });
  const script = new Script('work()');
  return (batch: readonly (string | undefined)[]): readonly boolean[] => {
    texts = batch;
    try {
      return script.runInContext(context, { timeout: mostMsAtOnce }) as boolean[];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      throw takesTooLong(parameter);
    }
  };
}

function expressionOf(pattern: string, parameter: string): RegExp {
  const isCaseless = pattern.startsWith('(?i)');
  try {
    return new RegExp(isCaseless ? pattern.slice(4) : pattern, isCaseless ? 'i' : '');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolcribError(
      'ARG_INVALID',
      `${parameter}: ${why.slice(0, 500)}.`,
      'Give a regular expression of JavaScript; write \\( for a bracket that is meant as one.',
    );
  }
}

const takesTooLong = (parameter: string): ToolcribError =>
  new ToolcribError(
    'ARG_INVALID',
    `${parameter}: takes too long on these lines.`,
    'Repeat less within what is repeated (a+ instead of (a+)+).',
  );
