import { ToolcribError } from '../../core/errors.ts';
import type { Question, Shown } from './question.ts';
import { reasonsInWords } from './reasons.ts';
import { inOneLine, quoted, quotedLength } from './shown-text.ts';

/** Clients show a message as a whole, and nobody reads more before answering. */
const mostCharacters = 8000;
/** What of that may be taken by what has to be seen whole; the rest is for reasons, settings and titles. */
const mostWhole = 6500;
const commandCharacters = 2500;
const folderCharacters = 500;
const settingCharacters = 300;
const titleCharacters = 120;
/** With more, nothing of each could be read. */
const mostShown = 12;
/** For less than a title and a line it is not worth to begin another text. */
const leastCharacters = 200;

/** Characters of what nobody can say yes to without having seen all of it: the command line, the folder, texts that say so. */
function wholeLength({ command = '', folder = '', shows }: Question): number {
  const texts = shows.filter(({ whole }) => whole).map(({ title, text }) => titleOf(title) + text);
  return [command, folder, ...texts].reduce((sum, text) => sum + quotedLength(text), 0);
}

const titleOf = (title: string): string => inOneLine(title, titleCharacters);

/** Throws TOO_LARGE when a part of what has to be seen would be left out: nobody can say yes to what they are not shown. */
export function refuseCut(question: Question): void {
  const length = wholeLength(question);
  const count = question.shows.filter(({ whole }) => whole).length;
  if (length <= mostWhole && count <= mostShown) return;
  throw new ToolcribError(
    'TOO_LARGE',
    `A person has to be asked about ${question.tool}, and this takes ${length.toLocaleString('en')} characters to show; ${mostWhole.toLocaleString('en')} can be shown at a time.`,
    'Put what is long into a file, and run that; or do it in several calls.',
  );
}

/**
 * A question as a person reads it, in 8,000 characters at most: what would be done and why that is asked, then the texts that
 * show more, those first that have to be seen whole. Of what is too long the ends are shown and the rest is counted. Only lines
 * that are ours have no bar before them.
 */
export function questionText(question: Question): string {
  const { tool, because, setting, effects, command, folder } = question;
  const isWhole = wholeLength(question) <= mostWhole;
  const most = (usual: number) => (isWhole ? Infinity : usual);
  const head = [
    `May ${inOneLine(tool, titleCharacters)} do this? You are asked because ${reasonsInWords(because)}.`,
    ...(setting === undefined ? [] : [`Setting: ${inOneLine(setting, settingCharacters)}`]),
    ...(command === undefined ? [] : ['Command:', quoted(command, most(commandCharacters))]),
    ...(folder === undefined ? [] : ['Folder:', quoted(folder, most(folderCharacters))]),
    `Effects: ${effects.join(', ') || 'none'}`,
  ].join('\n');
  const shows = question.shows.toSorted((one, other) => Number(other.whole ?? 0) - Number(one.whole ?? 0));
  const whole = isWhole ? shows.filter((one) => one.whole) : [];
  const wholeRoom = whole.reduce((sum, { text }) => sum + quotedLength(text) + leastCharacters, 0);
  const others = Math.max(0, Math.floor((mostCharacters - head.length - wholeRoom) / leastCharacters));
  const listed = shows.slice(0, Math.min(mostShown, whole.length + others));
  const rest = shows.length - listed.length;
  const tail = rest === 0 ? '' : `\n⟨${rest} more ${rest === 1 ? 'text is' : 'texts are'} not shown⟩`;
  const titles = listed.map(({ title }, at) => `\n(${at + 1}/${shows.length}) ${titleOf(title)}:\n`);
  const told = whole.reduce((sum, { text }) => sum + quotedLength(text), 0);
  const taken = [head, tail, ...titles].reduce((sum, text) => sum + text.length, told);
  const room = [...whole.map(() => Infinity), ...shares(listed.slice(whole.length), mostCharacters - taken)];
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
