import { inline, nextPiece } from './markdown-inline.ts';
import { isDelimiter, renderTable } from './markdown-table.ts';
import { createPrintable } from './printable.ts';
import { Prose } from './prose.ts';
import type { Paint, Terminal } from './terminal.ts';

export interface MarkdownStream {
  push(text: string): void;
  /** Completes the last line, and is ready for another text. */
  end(): void;
}

/** What is held of a table before it is printed as it came. */
const mostRows = 200;
const mostHeld = 64 * 1024;
/** As much of the beginning of a line as can be marks, and of a line as is looked back at. */
const mostMarks = 300;

/**
 * Shows Markdown while it streams. Nothing is printed twice, the cursor never moves: plain words are written at once,
 * `**bold**`, a link or the marks that begin a line when they are clear, a table when it is whole. Where there is no
 * screen the text is passed on as it is. What comes out does not depend on how it was cut.
 */
export function createMarkdownStream(
  terminal: Pick<Terminal, 'paint' | 'width' | 'screen' | 'write'>,
): MarkdownStream {
  const cleaner = createPrintable();
  const begin = () => (terminal.screen ? new Lines(terminal.paint, () => terminal.width) : undefined);
  let lines = begin();
  let last = '\n';
  const put = (text: string) => {
    if (text === '') return;
    last = text;
    terminal.write(text);
  };
  return {
    push(text) {
      const clean = cleaner.push(text);
      put(lines ? lines.add(clean) : clean);
    },
    end() {
      const clean = cleaner.end();
      put(lines ? lines.add(clean) + lines.end() : clean);
      if (!last.endsWith('\n')) terminal.write('\n');
      last = '\n';
      lines = begin();
    },
  };
}

/** As long as a line is nothing but these, what comes next decides what it is. */
const undecided = /^(?:[ \t>|#\-*_+=`~[\]xX]|\d{1,9}[.)]?)*$/;
const marks = {
  quote: /[ \t]*> ?/y,
  bullet: /[ \t]*[-*+](?:[ \t]+|$)/y,
  number: /[ \t]*\d{1,9}[.)](?:[ \t]+|$)/y,
};
const rule = /^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const fence = /^[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

interface Fence {
  readonly mark: string;
  /** Quote marks its lines begin with. */
  readonly quotes: number;
  readonly diff: boolean;
}

/** The state between lines and inside of one: returns what can be shown. */
class Lines {
  readonly #paint: Paint;
  readonly #width: () => number;
  readonly #prose: Prose;
  #shown = '';
  /** What has come of this line and is not shown. */
  #rest = '';
  /** `start`: it is not known what the line is; `raw`: it is shown as it is; `row`: it is held for a table. */
  #in: 'start' | 'text' | 'raw' | 'row' = 'start';
  /** The text of this line that is shown, for what depends on the character before. */
  #before = '';
  /** A style that holds to the end of the line. */
  #open = '';
  #close = '';
  #fence: Fence | undefined;
  #rows: string[] = [];
  /** The table became too long: its rows are shown as they are. */
  #rawRows = false;
  #blankBefore = true;
  /** Columns before the text of the list item that we are in. */
  #indent = 0;

  constructor(paint: Paint, width: () => number) {
    this.#paint = paint;
    this.#width = width;
    this.#prose = new Prose(width);
  }

  add(text: string): string {
    const parts = text.split('\n');
    const last = parts.pop() ?? '';
    for (const part of parts) this.#take(part, true);
    if (last !== '') this.#take(last, false);
    return this.#flush();
  }

  end(): string {
    if (this.#rest !== '' || this.#in !== 'start') this.#take('', true);
    this.#showTable();
    return this.#flush();
  }

  #flush(): string {
    const shown = this.#shown;
    this.#shown = '';
    return shown;
  }

  #take(part: string, ended: boolean): void {
    this.#rest += part;
    if (this.#in === 'start' && !this.#begin(ended)) return;
    if (this.#in === 'raw') {
      this.#shown += this.#rest;
      this.#rest = '';
    } else if (this.#in === 'row') this.#takeRow(ended);
    else this.#takeText(ended);
    if (!ended) return;
    if (this.#in !== 'row') this.#shown += `${this.#prose.add(this.#close)}${this.#prose.end()}\n`;
    this.#in = 'start';
    this.#before = this.#open = this.#close = '';
  }

  #takeText(ended: boolean): void {
    let at = 0;
    for (;;) {
      const text = this.#rest.slice(at);
      const piece = text === '' ? undefined : nextPiece(text, { before: this.#before, ended }, this.#paint);
      if (!piece) break;
      // A style that ends inside the style of the line has ended that too.
      const shown = piece.shown + (this.#open !== '' && piece.shown.includes('\u001b') ? this.#open : '');
      this.#shown += this.#prose.add(shown, piece.shown !== text.slice(0, piece.length));
      this.#before = (this.#before + text.slice(0, piece.length)).slice(-mostMarks);
      at += piece.length;
    }
    this.#rest = this.#rest.slice(at);
  }

  /** Shows the marks a line begins with; false when what comes next decides what it is. */
  #begin(ended: boolean): boolean {
    const text = this.#rest.slice(0, mostMarks);
    const whole = ended && this.#rest.length <= mostMarks;
    const open = !ended && this.#rest.length < mostMarks;
    if (open && undecided.test(text)) return false;
    if (this.#fence) return this.#inFence(this.#fence, text, whole);
    if (open && /^(?:[ \t>\-*+]|\d{1,9}[.)])*(?:```|~~~)/.test(text)) return false;
    const isRow = /^[ \t]*\|/.test(text);
    if (!isRow) {
      this.#showTable();
      this.#rawRows = false;
    }
    const indent = columns(/^[ \t]*/.exec(text)?.[0] ?? '');
    const isBlank = whole && text.trim() === '';
    const isCode = this.#blankBefore && indent >= this.#indent + 4 && !isBlank;
    if (this.#blankBefore && !isBlank && indent < this.#indent) this.#indent = 0;
    this.#blankBefore = isBlank || isCode;
    this.#in = isRow ? (this.#rawRows ? 'raw' : 'row') : isBlank || isCode ? 'raw' : 'text';
    if (this.#in !== 'text') return true;
    this.#beginText(text, whole);
    return true;
  }

  #beginText(text: string, whole: boolean): void {
    const paint = this.#paint;
    const { at, quotes, item } = this.#showMarks(text, whole);
    const rest = text.slice(at);
    this.#rest = this.#rest.slice(at);
    const fenced = whole ? fence.exec(rest) : null;
    if (fenced) {
      const [, mark = '', info = ''] = fenced;
      this.#fence = { mark, quotes, diff: /^\s*(?:diff|patch)\b/.test(info) };
      this.#raw(paint.dim(this.#rest));
    } else if (whole && rule.test(rest)) this.#raw(paint.dim('─'.repeat(Math.min(this.#width(), 80))));
    else {
      const heading = /^[ \t]*#{1,6}(?:[ \t]+|$)/.exec(rest)?.[0] ?? '';
      const before = heading || (/^[ \t]{0,99}/.exec(rest)?.[0] ?? '');
      const box = item ? /^\[([ xX])\](?=[ \t])/.exec(rest)?.[1] : undefined;
      if (heading === '') this.#shown += this.#prose.mark(before);
      if (box !== undefined) this.#shown += this.#prose.mark(box === ' ' ? '☐' : '☑');
      this.#rest = this.#rest.slice(box === undefined ? before.length : 3);
      if (heading !== '') this.#begins(paint.heading);
      else if (quotes > 0) this.#begins(paint.quote);
    }
  }

  /** Quote marks and the marks of list items, as many as there are. */
  #showMarks(text: string, whole: boolean): { at: number; quotes: number; item: boolean } {
    let [at, quotes, item] = [0, 0, false];
    for (;;) {
      if (whole && rule.test(text.slice(at))) break;
      const kind = (['quote', 'bullet', 'number'] as const).find((one) => {
        marks[one].lastIndex = at;
        return marks[one].test(text);
      });
      if (!kind) break;
      const mark = text.slice(at, marks[kind].lastIndex);
      at += mark.length;
      if (kind === 'quote') {
        quotes++;
        this.#shown += this.#prose.mark(this.#paint.dim('│ '), true);
        continue;
      }
      this.#indent = (item ? this.#indent : 0) + columns(mark);
      item = true;
      // A box takes the place of the mark of its item.
      const boxed = /^\[[ xX]\][ \t]/.test(text.slice(at));
      const bullet = boxed ? mark.replace(/\S[ \t]?/, '') : mark.replace(/[-*+]/, '•');
      this.#shown += this.#prose.mark(kind === 'bullet' ? bullet : mark);
    }
    return { at, quotes, item };
  }

  /** A line of code is shown as soon as it cannot be the end of the fence. */
  #inFence({ mark, quotes, diff }: Fence, text: string, whole: boolean): boolean {
    const quoted = new RegExp(`^(?:[ \\t]*> ?){${quotes}}`).exec(text)?.[0];
    if (quoted === undefined) {
      // A line without the quote marks of its fence: the quote is over, and the fence with it.
      this.#fence = undefined;
      return this.#begin(whole);
    }
    this.#shown += this.#prose.mark(this.#paint.dim('│ ').repeat(quotes), true);
    this.#rest = this.#rest.slice(quoted.length);
    const line = text.slice(quoted.length);
    this.#in = 'raw';
    if (whole && /^[ \t]*(`+|~+)[ \t]*$/.exec(line)?.[1]?.startsWith(mark)) {
      this.#raw(this.#paint.dim(this.#rest));
      this.#fence = undefined;
    } else if (diff) {
      const style = { '+': this.#paint.added, '-': this.#paint.removed, '@': this.#paint.dim }[
        line.charAt(0)
      ];
      if (style) this.#begins(style);
    }
    return true;
  }

  #raw(shown: string): void {
    this.#in = 'raw';
    this.#shown += shown;
    this.#rest = '';
  }

  #takeRow(ended: boolean): void {
    const held = this.#rows.reduce((sum, row) => sum + row.length, this.#rest.length);
    if (held > mostHeld || (ended && this.#rows.length >= mostRows)) {
      this.#rawRows = true;
      const rows = [...this.#rows, this.#rest].join('\n');
      this.#rows = [];
      return this.#raw(rows);
    }
    if (!ended) return;
    if (this.#rows.length === 1 && !isDelimiter(this.#rest)) this.#showTable();
    this.#rows.push(this.#rest);
    this.#rest = '';
  }

  #showTable(): void {
    const isTable = this.#rows.length > 1;
    const table = isTable ? renderTable(this.#rows, this.#width(), this.#paint) : undefined;
    const shown = table ?? this.#rows.map((row) => inline(row, this.#paint));
    this.#shown += shown.map((line) => `${line}\n`).join('');
    this.#rows = [];
  }

  /** Begins a style that holds to the end of the line. */
  #begins(style: (text: string) => string): void {
    [this.#open = '', this.#close = ''] = style('\u0000').split('\u0000');
    this.#shown += this.#prose.add(this.#open);
  }
}

/** A tab is counted as four. */
const columns = (indent: string): number => indent.replaceAll('\t', '    ').length;
