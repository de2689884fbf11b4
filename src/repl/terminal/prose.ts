import { cells } from './width.ts';

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
  /** The word, or its beginning, that may have to begin the next row. */
  #word = '';
  /** The beginning of the current word is shown. */
  #begun = false;

  /** `width`: columns of the terminal; 0 for no end. */
  constructor(width: () => number) {
    this.#width = () => width() || Infinity;
  }

  /** What the line begins with; `further`: what its further rows do. */
  begin(mark: string, further: string): string {
    this.#column = cells(mark);
    this.#margin = this.#column > this.#width() / 2 ? '' : further;
    return mark;
  }

  /** What can be shown of a text. */
  add(text: string): string {
    let shown = '';
    for (const [token] of text.replaceAll('\t', '    ').matchAll(/ +|[^ ]+/g)) {
      if (token.startsWith(' ')) {
        shown += this.#show();
        this.#begun = false;
        this.#gap += token;
        continue;
      }
      this.#word += token;
      const room = this.#width() - this.#column - cells(this.#gap);
      const isFirst = this.#column <= cells(this.#margin);
      if (this.#begun || isFirst || room >= Math.max(roomy, cells(this.#word))) shown += this.#show();
      else if (cells(this.#word) > room) {
        this.#column = cells(this.#margin);
        this.#gap = '';
        shown += `\n${this.#margin}${this.#show()}`;
      }
    }
    return shown;
  }

  /** The rest of the line; the next one begins. */
  end(): string {
    const shown = this.#show();
    this.#margin = this.#gap = '';
    this.#column = 0;
    this.#begun = false;
    return shown;
  }

  #show(): string {
    if (this.#word === '') return '';
    const shown = this.#gap + this.#word;
    this.#gap = this.#word = '';
    this.#begun = true;
    const end = this.#column + cells(shown);
    // The terminal breaks what is longer than a row.
    this.#column = end <= this.#width() ? end : ((end - 1) % this.#width()) + 1;
    return shown;
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
