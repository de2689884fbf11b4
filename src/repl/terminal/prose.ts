import { cells } from './width.ts';

export type Style = (text: string) => string;
export const plain: Style = (text) => text;

/** With so many columns left, a word is shown as it comes; nearer to the edge it is held until it is known to fit. */
const roomy = 24;

/** Ends the rows of a streamed line between its words, and begins the next one below its text. */
export class Prose {
  readonly #width: () => number;
  /** Where the text that was given out ends. */
  #column = 0;
  /** What a further row begins with. */
  #margin = '';
  /** Spaces that the next word brings along, or the end of the row takes away. */
  #gap = '';
  #inWord = false;
  /** The word that may have to begin the next row. */
  #held: { text: string; size: number } | undefined;

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

  /** What can be shown of a text; each of its words has the style for itself, so that none goes over a row's end. */
  add(text: string, style: Style = plain): string {
    let shown = '';
    for (const [token] of text.matchAll(/[ \t]+|[^ \t]+/g)) {
      if (!/^[ \t]/.test(token)) shown += this.#letters(token, style);
      else {
        shown += this.#endWord();
        this.#gap += token.replaceAll('\t', '    ');
      }
    }
    return shown;
  }

  /** The rest of the line; the next one begins. */
  end(): string {
    const shown = this.#endWord();
    this.#margin = this.#gap = '';
    this.#column = 0;
    return shown;
  }

  #letters(text: string, style: Style): string {
    const room = this.#width() - this.#column - cells(this.#gap);
    if (!this.#inWord && this.#begun && room < roomy) this.#held = { text: '', size: 0 };
    this.#inWord = true;
    if (!this.#held) return this.#show(style(text), cells(text));
    this.#held.text += style(text);
    this.#held.size += cells(text);
    return this.#held.size > room ? this.#break(this.#held) : '';
  }

  /** The word that is held begins the next row, where nothing is before it that it could leave. */
  #break({ text, size }: { text: string; size: number }): string {
    if (cells(this.#margin) > this.#width() / 2) this.#margin = '';
    this.#column = cells(this.#margin);
    this.#gap = '';
    this.#held = undefined;
    return `\n${this.#margin}${this.#show(text, size)}`;
  }

  #show(text: string, size: number): string {
    const end = this.#column + cells(this.#gap) + size;
    const width = this.#width();
    // The terminal breaks what is longer than a row.
    this.#column = end <= width ? end : ((end - 1) % width) + 1;
    const shown = this.#gap + text;
    this.#gap = '';
    return shown;
  }

  #endWord(): string {
    const held = this.#held;
    this.#inWord = false;
    this.#held = undefined;
    return held ? this.#show(held.text, held.size) : '';
  }

  /** Something of the line's text stands before. */
  get #begun(): boolean {
    return this.#column > cells(this.#margin);
  }
}

/** Lines of prose in rows of at most `width` columns. */
export const wrapped = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => {
      const prose = new Prose(() => width);
      return prose.add(line) + prose.end();
    })
    .join('\n');
