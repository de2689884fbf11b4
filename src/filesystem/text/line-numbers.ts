/** The number of the line that a position is in, from 1. */
export function lineAt(text: string, at: number): number {
  let line = 1;
  for (let feed = text.indexOf('\n'); feed !== -1 && feed < at; feed = text.indexOf('\n', feed + 1)) line++;
  return line;
}

/** Nobody copies more lines than this has. */
const longest = 512 * 1024;
/** As read_file, cat -n and editors put it before a line. */
const numberMark = /^[ \t]*(\d{1,9})[\t→]/;

/**
 * The edit that is meant when the line numbers of a listing were copied with the text: each line of `old` has a number
 * that is one higher than the one before. They are taken off `new` when all its lines have them; when only some have,
 * nobody can know what is meant. Undefined for an edit without them.
 */
export function withoutLineNumbers(edit: { readonly old: string; readonly new: string }) {
  if (!numberMark.test(edit.old) || edit.old.length + edit.new.length > longest) return undefined;
  const [first = 0, ...others] = numbersOf(edit.old);
  if (others.some((number, index) => number !== first + index + 1)) return undefined;
  const fresh = numbersOf(edit.new);
  const numbered = fresh.filter((number) => number !== undefined).length;
  if (numbered > 0 && numbered < fresh.length) return undefined;
  return { old: stripped(edit.old), new: stripped(edit.new) };
}

/** The number before each line; after a line feed at the end there is no other line. */
const numbersOf = (text: string): (number | undefined)[] =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const number = numberMark.exec(line)?.[1];
      return number === undefined ? undefined : Number(number);
    });

const stripped = (text: string): string => text.replaceAll(new RegExp(numberMark, 'gm'), '');
