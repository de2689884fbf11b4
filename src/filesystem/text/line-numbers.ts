/** Text that was copied with the number of each line before it. */
interface Numbered {
  readonly old: string;
  readonly new: string;
  /** The number of its first line. */
  readonly first: number;
  readonly lines: number;
  /** What stood after the numbers. */
  readonly mark: string;
  /** Whether nothing but a listing has numbers of this form. */
  readonly plain: boolean;
}

/** As read_file, cat -n and editors, or grep and bat put them; the longer form of two comes first. */
const marks = ['\t', '→', ' | ', '| ', '|', ': ', ':'];

/**
 * The edits that are meant when line numbers of a listing were copied with the text: each line of `old` has a number
 * that is one higher than the one before. They are taken off `new` when all its lines have them; when only some have,
 * nobody can know what is meant.
 */
export function withoutLineNumbers(edit: { readonly old: string; readonly new: string }): Numbered[] {
  if (!/^[ \t]*\d/.test(edit.old) || isLong(edit.old) || isLong(edit.new)) return [];
  return marks.flatMap((mark) => {
    const old = stripped(edit.old, mark);
    if (!old || old.numbers.some((number, index) => number !== (old.numbers[0] ?? 0) + index)) return [];
    const fresh = stripped(edit.new, mark);
    if (!fresh && edit.new.split('\n').some((line) => splitLine(line, mark))) return [];
    return [
      {
        old: old.text,
        new: fresh?.text ?? edit.new,
        first: old.numbers[0] ?? 0,
        lines: old.numbers.length,
        mark,
        plain: mark === '\t' || mark === '→',
      },
    ];
  });
}

/** Nobody lists more lines than this to copy them. */
const mostLines = 10_000;

function isLong(text: string): boolean {
  let at = -1;
  for (let lines = 0; lines < mostLines; lines++) {
    at = text.indexOf('\n', at + 1);
    if (at === -1) return false;
  }
  return true;
}

function stripped(text: string, mark: string): { text: string; numbers: number[] } | undefined {
  const lines = text.split('\n');
  // After a line feed at the end there is no other line.
  const last = lines.length > 1 && lines.at(-1) === '' ? lines.pop() : undefined;
  const numbers: number[] = [];
  const rests: string[] = [];
  for (const line of lines) {
    const parts = splitLine(line, mark);
    if (!parts) return undefined;
    numbers.push(parts.number);
    rests.push(parts.rest);
  }
  return { text: [...rests, ...(last === undefined ? [] : [last])].join('\n'), numbers };
}

function splitLine(line: string, mark: string): { number: number; rest: string } | undefined {
  const digits = /^[ \t]*(\d{1,9})/.exec(line);
  if (!digits) return undefined;
  const rest = line.slice(digits[0].length);
  const number = Number(digits[1]);
  if (rest.startsWith(mark)) return { number, rest: rest.slice(mark.length) };
  // An empty line may have lost the blank at its end.
  const bare = mark.trimEnd();
  return bare !== '' && rest.replace(/\r$/, '') === bare
    ? { number, rest: rest.slice(bare.length) }
    : undefined;
}
