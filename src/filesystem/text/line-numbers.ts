/** The number of the line that a position is in, from 1. */
export function lineAt(text: string, at: number): number {
  let line = 1;
  for (let feed = text.indexOf('\n'); feed !== -1 && feed < at; feed = text.indexOf('\n', feed + 1)) line++;
  return line;
}

/** Text that was copied with the number of each line before it, without these. */
interface Unnumbered {
  readonly old: string;
  readonly new: string;
  /** The number of its first line. */
  readonly first: number;
  readonly lines: number;
  /** Whether nothing but a listing has numbers of this form. */
  readonly plain: boolean;
}

/** As read_file, cat -n and editors, or grep and bat put them; the longer form of two comes first. */
const marks = ['\t', '→', ' | ', '| ', '|', ': ', ':'];
/** Nobody copies more lines than this has. */
const longest = 512 * 1024;

/**
 * The edits that are meant when line numbers of a listing were copied with the text: each line of `old` has a number
 * that is one higher than the one before. They are taken off `new` when all its lines have them; when only some have,
 * nobody can know what is meant.
 */
export function withoutLineNumbers(edit: { readonly old: string; readonly new: string }): Unnumbered[] {
  if (!/^[ \t]*\d/.test(edit.old) || edit.old.length + edit.new.length > longest) return [];
  return marks.flatMap((mark) => {
    const old = stripped(edit.old, mark);
    const [first = 0] = old?.numbers ?? [];
    if (!old || old.numbers.some((number, index) => number !== first + index)) return [];
    const fresh = stripped(edit.new, mark);
    if (!fresh && edit.new.split('\n').some((line) => splitLine(line, mark))) return [];
    const lines = old.numbers.length;
    return [{ old: old.text, new: fresh?.text ?? edit.new, first, lines, plain: /[\t→]/.test(mark) }];
  });
}

function stripped(text: string, mark: string): { text: string; numbers: number[] } | undefined {
  const lines = text.split('\n');
  // After a line feed at the end there is no other line.
  const end = lines.length > 1 && lines.at(-1) === '' ? [lines.pop() ?? ''] : [];
  const parts = lines.map((line) => splitLine(line, mark));
  if (parts.includes(undefined)) return undefined;
  return {
    text: [...parts.map((part) => part?.rest ?? ''), ...end].join('\n'),
    numbers: parts.map((part) => part?.number ?? 0),
  };
}

function splitLine(line: string, mark: string): { number: number; rest: string } | undefined {
  const [digits = '', number] = /^[ \t]*(\d{1,9})/.exec(line) ?? [];
  const rest = line.slice(digits.length);
  if (number === undefined) return undefined;
  if (rest.startsWith(mark)) return { number: Number(number), rest: rest.slice(mark.length) };
  // An empty line may have lost the blank at its end.
  const bare = mark.trimEnd();
  const isBare = bare !== '' && rest.trimEnd() === bare;
  return isBare ? { number: Number(number), rest: rest.slice(bare.length) } : undefined;
}
