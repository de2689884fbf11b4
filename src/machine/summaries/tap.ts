import { performance } from 'node:perf_hooks';
import { tooLarge, type Summary } from './summary.ts';
import { createReader, isPlan, pointLine, version } from './tap-reader.ts';
import { othersTurn } from './turn.ts';

/** A command that is echoed before its output, by npm or make, has few lines. */
const mostBefore = 20;
/** Of a line: a name and its directive have room. */
const lineCharacters = 4000;
/** They take less than a second. */
const mostLines = 500_000;
/** Everything else waits so long at most. */
const turnMs = 10;

/**
 * The Test Anything Protocol, versions 13 and 14, subtests and YAML diagnostics included, as Node's test runner, vitest,
 * Perl's and others print it. Undefined for what is none. Time and memory are linear in the text, and others have their
 * turn meanwhile.
 */
export async function summariseTap(
  text: string,
  isWhole: boolean,
): Promise<Summary | typeof tooLarge | undefined> {
  const start = startOf(text);
  if (start === undefined) return undefined;
  const reader = createReader(start);
  let turnStarted = performance.now();
  let count = 0;
  for (let from = start.at; from < text.length;) {
    const end = text.indexOf('\n', from);
    reader.line(text.slice(from, Math.min(end < 0 ? text.length : end, from + lineCharacters)));
    if (end < 0) break;
    from = end + 1;
    if (++count > mostLines) return tooLarge;
    if (count % 64 !== 0 || performance.now() - turnStarted < turnMs) continue;
    await othersTurn();
    turnStarted = performance.now();
  }
  return reader.finish(isWhole);
}

/** Where the report begins: at its version, or at once with a plan or a test; `before`: lines above it, of anything. */
function startOf(text: string): { at: number; hasVersion: boolean; before: number } | undefined {
  let at = 0;
  let before = 0;
  for (let count = 0; count < mostBefore && at < text.length; count++) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, Math.min(end < 0 ? text.length : end, at + 200));
    if (version.test(line)) return { at, hasVersion: true, before };
    if (before === 0 && (isPlan(line) || (pointLine.exec(line)?.[3] === '1' && !line.startsWith(' '))))
      return { at, hasVersion: false, before };
    if (!isEcho(line)) before++;
    if (end < 0) break;
    at = end + 1;
  }
  return undefined;
}

/** A blank line, or one with which npm says what it runs. */
const isEcho = (line: string): boolean => line.trim() === '' || line.startsWith('> ');
