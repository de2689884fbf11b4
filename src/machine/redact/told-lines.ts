import type { CallContext } from '../../core/tool.ts';

/** Characters of a line that are told. */
const mostTold = 500;
/** Lines between the beginning of a private key and its first line: its headers, and what another stream says meanwhile. */
const mostBetween = 8;

/**
 * Tells the lines of a program one by one: without secrets, and shortened after that, since half a secret is recognised by
 * nobody. The lines of a private key say nothing by themselves, so they are looked at below its beginning.
 */
export function toldLines({ hides, progress }: Pick<CallContext, 'hides' | 'progress'>) {
  const redact = (text: string) => hides({ before: '', text, after: '' });
  let key: { first: string; last: string; between: number } | undefined;
  const hidden = (line: string): string => {
    const opening = /-----? ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|^Private-Lines: \d/.exec(line)?.[0];
    if (opening !== undefined) {
      const first = opening.startsWith('Private') ? `PuTTY-User-Key-File-2: x\n${line}` : line;
      key = { first, last: '', between: 0 };
      return redact(line);
    }
    if (!key) return redact(line);
    const shown = hides({ before: `${key.first}\n${key.last}`, text: line, after: '' });
    if (shown !== line) key = { ...key, last: `${line}\n`, between: mostBetween };
    else if (key.between++ >= mostBetween) key = undefined;
    else key.last += /^[A-Z][A-Za-z-]{2,20}: /.test(line) ? `${line}\n` : '';
    return shown;
  };
  return (line: string): void => {
    const shown = hidden(line);
    progress(shown.length > mostTold ? shown.slice(0, mostTold).replace(/[\ud800-\udbff]$/, '') : shown);
  };
}
