import { cells } from './width.ts';

/** With so many columns left, a word is shown as it comes; nearer to the edge it is held until it is known to fit. */
const roomy = 24;
const tokens = /\u001b\[[0-9;]*m|[ \t]+|[^ \t\u001b]+/g;
const wide = String.raw`\u2e80-\u303e\u3041-\u33ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff60\u{20000}-\u{3fffd}`;
/** Scripts without spaces: a line may end around each character, but not before a closing or after an opening one. */
const between = new RegExp(
  String.raw`(?<=[${wide}]|(?=[${wide}]))(?<![（「『【《〈〔“‘([{])(?![\p{M}\p{Pe}\p{Pf}、。，．！？；：・…ー々‥.,!?;:])`,
  'u',
);
const isWide = new RegExp(`[${wide}]`, 'u');

/**
 * Ends the rows of a streamed line between its words, and begins the next one below its text. What was given out
 * stays.
 */
export class Prose {
  readonly #width: () => number;
  #out = '';
  /** Where the text that was given out ends; not counting the word that is being shown. */
  #column = 0;
  /** What a further row begins with. */
  #margin = '';
  /** Spaces, and styles after them, that the next word brings along or the end of the row takes away. */
  #gap = '';
  #styles = '';
  #word = '';
  #state: 'none' | 'shown' | 'held' = 'none';
  #last = '';
  /** Styles that hold where the text given out ends. */
  #active: string[] = [];

  /** `width`: columns of the terminal; 0 for no end. */
  constructor(width: () => number) {
    this.#width = () => width() || Infinity;
  }

  /** What the line begins with; `again`: so do its further rows, which else have spaces there. */
  mark(text: string, again = false): string {
    this.#column += cells(text);
    this.#margin += again ? text : ' '.repeat(cells(text));
    return text;
  }

  /** What can be shown. `whole`: how this text goes on is known, as it came in one piece. */
  add(text: string, whole = false): string {
    for (const { 0: token, index } of text.matchAll(tokens)) {
      if (token.startsWith('\u001b')) this.#style(token);
      else if (/^[ \t]/.test(token)) for (const space of token) this.#space(space);
      else this.#letters(token, whole ? text.slice(index) : '');
    }
    const out = this.#out;
    this.#out = '';
    return out;
  }

  /** The rest of the line; the next one begins. */
  end(): string {
    this.#endWord();
    this.#emit(this.#styles);
    const out = this.#out;
    this.#out = this.#margin = this.#gap = this.#styles = this.#last = '';
    this.#column = 0;
    this.#active = [];
    return out;
  }

  #style(code: string): void {
    if (this.#state === 'held') this.#word += code;
    else if (this.#gap !== '') this.#styles += code;
    else this.#emit(code);
  }

  #space(space: string): void {
    this.#endWord();
    this.#last = '';
    const size = space === '\t' ? 8 - (this.#column % 8) : 1;
    if (this.#gap !== '' || (this.#begun && this.#column + size + roomy > this.#width())) this.#gap += space;
    else {
      this.#out += space;
      this.#column += size;
    }
  }

  /** `known`: this text and what comes after it, as far as that is known. */
  #letters(text: string, known: string): void {
    const joined = this.#last + text;
    const [first = '', ...more] = isWide.test(joined) ? joined.split(between) : [joined];
    const begin = first.slice(this.#last.length);
    if (begin !== '') this.#letter(begin, known);
    for (const part of more) {
      this.#endWord();
      this.#letter(part, '');
    }
    this.#last = /[^]$/u.exec(text)?.[0] ?? '';
  }

  #letter(text: string, known: string): void {
    const room = this.#width() - this.#column - cells(this.#gap);
    if (this.#state === 'none') {
      this.#word = this.#styles;
      this.#styles = '';
      const shown = !this.#begun || (room >= roomy && cells(/^[^ \t]*/.exec(known)?.[0] ?? '') <= room);
      this.#state = shown ? 'shown' : 'held';
      if (shown) {
        this.#emit(this.#gap + this.#word);
        this.#column += cells(this.#gap);
        this.#gap = '';
      }
    }
    this.#word += text;
    if (this.#state === 'shown') this.#out += text;
    else if (cells(this.#word) > room) this.#break();
  }

  /** The word that is held does not fit: it begins the next row, where nothing is before it that it could leave. */
  #break(): void {
    if (cells(this.#margin) > this.#width() / 2) this.#margin = '';
    const closed = [...new Set(this.#active.map(closing))].join('');
    this.#out += `${closed}\n${this.#margin}${this.#active.join('')}`;
    this.#emit(this.#word);
    this.#column = cells(this.#margin);
    this.#gap = '';
    this.#state = 'shown';
  }

  #endWord(): void {
    if (this.#state === 'none') return;
    if (this.#state === 'held') this.#emit(this.#gap + this.#word);
    const end = this.#column + cells(this.#gap) + cells(this.#word);
    const width = this.#width();
    // The terminal has broken what is longer than a row.
    this.#column = end <= width ? end : ((end - 1) % width) + 1;
    this.#gap = this.#word = '';
    this.#state = 'none';
  }

  /** Something of the line's text stands before. */
  get #begun(): boolean {
    return this.#column > cells(this.#margin);
  }

  #emit(text: string): void {
    this.#out += text;
    for (const [code] of text.matchAll(/\u001b\[[0-9;]*m/g)) {
      if (/\[(?:2[2-9]|39)m/.test(code)) this.#active = this.#active.filter((open) => closing(open) !== code);
      else this.#active.push(code);
    }
  }
}

/** The end of a style: bold and dim share theirs. */
const closing = (open: string): string => {
  const [code = ''] = /\d+/.exec(open) ?? [];
  return `\u001b[${{ 1: 22, 2: 22, 3: 23, 4: 24, 9: 29 }[code] ?? 39}m`;
};

/** Lines of prose in rows of at most `width` columns. */
export const wrapped = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => {
      const prose = new Prose(() => width);
      return prose.add(line) + prose.end();
    })
    .join('\n');
