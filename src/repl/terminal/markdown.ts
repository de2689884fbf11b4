import { inline, nextPiece } from './markdown-inline.ts';
import { columnsOf, startOf, type Start } from './markdown-start.ts';
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
/** Enough of a line to know the word, or the address, that its next character is in. */
const mostBefore = 300;

/**
 * Shows Markdown while it streams. Nothing is printed twice, the cursor never moves: text is written as soon as
 * nothing that follows can change its meaning; `**bold**`, a link or the beginning of a line are held until they
 * are clear, a table until it is whole. Where there is no screen the text is passed on as it is. What comes out
 * does not depend on how it was cut.
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

interface Fence {
  readonly marker: string;
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
  /** `start`: it is not known what the line is. `verbatim`: it is shown as it is. `row`: it is held for a table. */
  #in: 'start' | 'text' | 'verbatim' | 'row' = 'start';
  /** The text of this line that is shown, for what depends on the character before. */
  #before = '';
  #open = '';
  #close = '';
  #quotes = 0;
  #item = false;
  /** The mark of a list item: a box takes its place. */
  #bullet = '';
  #fence: Fence | undefined;
  #rows: string[] = [];
  #heldRows = 0;
  /** The table became too long. */
  #rawRows = false;
  #blankBefore = true;
  /** Columns before the text of the list item that we are in. */
  #listIndent = 0;

  constructor(paint: Paint, width: () => number) {
    this.#paint = paint;
    this.#width = width;
    this.#prose = new Prose(width);
  }

  add(text: string): string {
    const parts = text.split('\n');
    const last = parts.pop() ?? '';
    for (const part of parts) {
      this.#take(part, true);
      this.#endLine();
    }
    if (last !== '') this.#take(last, false);
    return this.#flush();
  }

  end(): string {
    if (this.#rest !== '' || this.#item || this.#in !== 'start') {
      this.#take('', true);
      this.#endLine();
    }
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
    while (this.#in === 'start') if (!this.#begin(ended)) return;
    if (this.#in === 'verbatim') {
      this.#shown += this.#rest;
      this.#rest = '';
    } else if (this.#in === 'row') this.#takeRow(ended);
    else this.#takeText(ended);
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
      this.#before = (this.#before + text.slice(0, piece.length)).slice(-mostBefore);
      at += piece.length;
    }
    this.#rest = this.#rest.slice(at);
  }

  #takeRow(ended: boolean): void {
    const tooMany = ended && this.#rows.length >= mostRows;
    if (tooMany || this.#heldRows + this.#rest.length > mostHeld) return this.#giveUpTable();
    if (!ended) return;
    if (this.#rows.length === 1 && !isDelimiter(this.#rest)) this.#showTable();
    this.#rows.push(this.#rest);
    this.#heldRows += this.#rest.length;
    this.#rest = '';
  }

  /** The table is too long: its rows so far, and those that follow, are shown as they are. */
  #giveUpTable(): void {
    this.#shown += [...this.#rows, this.#rest].join('\n');
    this.#rows = [];
    this.#heldRows = 0;
    this.#rest = '';
    this.#rawRows = true;
    this.#in = 'verbatim';
  }

  #showTable(): void {
    if (this.#rows.length === 0) return;
    const table = this.#rows.length > 1 ? renderTable(this.#rows, this.#width(), this.#paint) : undefined;
    const shown = table ?? this.#rows.map((row) => inline(row, this.#paint));
    this.#shown += shown.map((line) => `${line}\n`).join('');
    this.#rows = [];
    this.#heldRows = 0;
  }

  #endLine(): void {
    if (this.#in !== 'row') this.#shown += `${this.#prose.add(this.#close)}${this.#prose.end()}\n`;
    this.#in = 'start';
    this.#before = this.#open = this.#close = '';
    this.#quotes = 0;
    this.#item = false;
  }

  /** Takes one step from the beginning of a line towards its text; false when what comes next decides. */
  #begin(ended: boolean): boolean {
    const fence = this.#fence;
    if (fence && this.#quotes === fence.quotes) return this.#inFence(fence, ended);
    const start = startOf(this.#rest, ended, {
      codeFrom: this.#blankBefore && !this.#item ? this.#listIndent + 4 : undefined,
      item: this.#item,
      table: this.#quotes === 0 && !this.#item,
    });
    if (!start) return false;
    // A line without the quote marks of its fence: the quote is over, and the fence with it.
    if (start.kind !== 'quote') this.#fence = undefined;
    if (start.kind !== 'row') {
      this.#showTable();
      this.#rawRows = false;
    }
    const used = this.#rest.slice(0, start.length);
    this.#followList(start, used);
    this.#blankBefore = start.kind === 'blank' || start.kind === 'code';
    this.#rest = this.#rest.slice(start.length);
    this.#show(start, used);
    return true;
  }

  #followList(start: Start, used: string): void {
    if (start.kind === 'bullet' || start.kind === 'number') {
      this.#listIndent = (this.#item ? this.#listIndent : 0) + columnsOf(used);
    } else if (this.#blankBefore && !this.#item && start.kind !== 'blank') {
      // Text that begins before the text of the item, after a blank line, is no part of the list.
      const indent = columnsOf(/^[ \t]*/.exec(this.#rest)?.[0] ?? '');
      if (indent < this.#listIndent) this.#listIndent = 0;
    }
  }

  #show(start: Start, used: string): void {
    const paint = this.#paint;
    const bullet = this.#bullet;
    this.#bullet = '';
    this.#mark(start.kind === 'task' ? bullet.replace(/• ?$/, '') : bullet);
    if (start.kind === 'quote') {
      this.#quotes++;
      this.#shown += this.#prose.mark(paint.dim('│ '), true);
    } else if (start.kind === 'bullet' || start.kind === 'number') {
      this.#item = true;
      if (start.kind === 'bullet') this.#bullet = used.replace(start.marker, '•');
      else this.#mark(used);
    } else if (start.kind === 'row') {
      this.#in = this.#rawRows ? 'verbatim' : 'row';
    } else if (start.kind === 'text' || start.kind === 'heading' || start.kind === 'task') {
      this.#in = 'text';
      if (start.kind === 'task') this.#mark(used.replace(/\[.\]/, start.marker));
      // What is indented further than any window is wide need not keep its place.
      const indent = /^[ \t]{0,99}/.exec(this.#rest)?.[0] ?? '';
      this.#mark(indent);
      this.#rest = this.#rest.slice(indent.length);
      if (start.kind === 'heading') this.#begins(paint.heading);
      else if (this.#quotes > 0) this.#begins(paint.quote);
    } else {
      this.#in = 'verbatim';
      if (start.kind === 'rule') this.#shown += paint.dim('─'.repeat(Math.min(this.#width(), 80)));
      if (start.kind === 'fence') {
        this.#shown += paint.dim(used);
        this.#fence = {
          marker: start.marker,
          quotes: this.#quotes,
          diff: /^(?:diff|patch)\b/.test(start.info),
        };
      }
    }
  }

  /** A line of code is shown as soon as it cannot be the end of the fence. */
  #inFence(fence: Fence, ended: boolean): boolean {
    const text = this.#rest.slice(0, mostBefore + 1);
    const short = text.length <= mostBefore;
    const marks = /^[ \t]*(`*|~*)[ \t]*$/.exec(text)?.[1];
    if (marks !== undefined && short && !ended) return false;
    this.#in = 'verbatim';
    if (marks?.startsWith(fence.marker) && short) {
      this.#shown += this.#paint.dim(this.#rest);
      this.#rest = '';
      this.#fence = undefined;
    } else if (fence.diff) {
      const style = { '+': this.#paint.added, '-': this.#paint.removed, '@': this.#paint.dim }[text[0] ?? ''];
      if (style) this.#begins(style);
    }
    return true;
  }

  /** Shows what the text of a line stands after. */
  #mark(text: string): void {
    this.#shown += this.#prose.mark(text);
  }

  /** Begins a style that holds to the end of the line. */
  #begins(style: (text: string) => string): void {
    [this.#open = '', this.#close = ''] = style('\u0000').split('\u0000');
    this.#shown += this.#prose.add(this.#open);
  }
}
