import type { Question, Shown } from './question.ts';
import { reasonsInWords } from './reasons.ts';
import { inOneLine, quoted, quotedLength } from './shown-text.ts';

/** Clients show a message as a whole, and nobody reads more before answering. */
const mostCharacters = 8000;
const commandCharacters = 2500;
const folderCharacters = 500;
const settingCharacters = 300;
const titleCharacters = 120;
/** With more, nothing of each could be read. */
const mostShown = 12;

/**
 * A question as a person reads it, in 8,000 characters at most: what would be done and why that is asked, then the texts that
 * show more. Of what is too long the ends are shown and the rest is counted. Only lines that are ours have no bar before them.
 */
export function questionText(question: Question): string {
  const { tool, because, setting, effects, command, folder, shows } = question;
  const head = [
    `May ${inOneLine(tool, titleCharacters)} do this? You are asked because ${reasonsInWords(because)}.`,
    ...(setting === undefined ? [] : [`Setting: ${inOneLine(setting, settingCharacters)}`]),
    ...(command === undefined ? [] : ['Command:', quoted(command, commandCharacters)]),
    ...(folder === undefined ? [] : ['Folder:', quoted(folder, folderCharacters)]),
    `Effects: ${effects.join(', ') || 'none'}`,
  ].join('\n');
  const listed = shows.slice(0, mostShown);
  const rest = shows.length - listed.length;
  const tail = rest === 0 ? '' : `\n⟨${rest} more ${rest === 1 ? 'text is' : 'texts are'} not shown⟩`;
  const titles = listed.map(
    ({ title }, at) => `\n(${at + 1}/${shows.length}) ${inOneLine(title, titleCharacters)}:\n`,
  );
  const taken = [head, tail, ...titles].reduce((sum, text) => sum + text.length, 0);
  const room = shares(listed, mostCharacters - taken);
  return [head, ...listed.map(({ text }, at) => `${titles[at]}${quoted(text, room[at] ?? 0)}`), tail].join(
    '',
  );
}

/** How many characters each text gets: what it needs, or the same part of what those leave that need less. */
function shares(texts: readonly Shown[], most: number): number[] {
  const needs = texts.map(({ text }, at) => ({ at, length: quotedLength(text) }));
  const result: number[] = [];
  let left = most;
  let waiting = needs.length;
  for (const { at, length } of needs.toSorted((one, other) => one.length - other.length)) {
    const share = Math.min(length, Math.floor(left / waiting--));
    result[at] = share;
    left -= share;
  }
  return result;
}
