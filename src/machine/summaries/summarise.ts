import type { Summary, tooLarge } from './summary.ts';

export { tellSummary, tooLarge } from './summary.ts';

/** A shorter text is shown as it is: its summary would say less and save nothing. */
const leastCharacters = 2000;
/** What is read at most; more is a report that somebody writes to a file. */
const mostCharacters = 8 * 1024 * 1024;

/**
 * What a program's output says, when all of it is a report in a stable format for machines: TAP, JUnit's XML, SARIF, or the
 * JSON of jest, vitest and eslint; undefined for any other, `tooLarge` for such a report that takes too long to read.
 * `isWhole`: nothing has been left out of the text.
 */
export async function summarise(
  text: string,
  isWhole: boolean,
): Promise<Summary | typeof tooLarge | undefined> {
  if (isWhole && text.length <= leastCharacters) return undefined;
  if (text.length > mostCharacters + 1) return undefined;
  // A report of any of these begins with one of these, if not with a line of TAP.
  const start = afterEcho(text);
  const first = text[start];
  if (first === '<') return (await import('./junit.ts')).summariseJunit(text.slice(start).trim(), isWhole);
  if (first === '{' || first === '[')
    return (await import('./json-reports.ts')).summariseJson(text.slice(start), isWhole);
  return (await import('./tap.ts')).summariseTap(text, isWhole);
}

/** Where the first line begins that is not blank and not npm's saying what it runs. */
function afterEcho(text: string): number {
  const [echo] = /^(?:[ \t]*\n|> [^\n]{0,2000}\n){0,10}[ \t]*/.exec(text) ?? [''];
  return echo.length;
}
