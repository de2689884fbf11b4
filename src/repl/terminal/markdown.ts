import { inline, nextPiece } from './markdown-inline.ts';
import { columnsOf, startOf, type Start } from './markdown-start.ts';
import { isDelimiter, renderTable } from './markdown-table.ts';
import { createPrintable } from './printable.ts';
import type { Paint } from './terminal.ts';

export interface MarkdownStream {
  push(text: string): void;
  /** Completes the last line, and is ready for another text. */
  end(): void;
}

export interface MarkdownOptions {
  readonly paint: Paint;
  /** Columns of the terminal, asked for when a table or a rule is drawn. */
  width(): number;
  write(text: string): void;
}

/** What is held of a table before it is printed as it came. */
const mostRows = 200;
const mostHeld = 64 * 1024;
/** Enough of a line to know the word, or the address, that its next character is in. */
const mostBefore = 300;

/**
 * Shows Markdown while it streams. Nothing is printed twice, the cursor never moves: text is written as soon as nothing that
 * follows can change its meaning; `**bold**`, a link or the beginning of a line are held until they are clear, a table until
 * it is whole. Without colours the text is passed on as it is. What comes out does not depend on how the text was cut.
 */
export function createMarkdownStream({ paint, width, write }: MarkdownOptions): MarkdownStream {
  const cleaner = createPrintable();
  let lines = paint.colors ? new Lines(paint, width) : undefined;
  let last = '\n';
  const put = (text: string) => {
    if (text === '') return;
    last = text;
    write(text);
  };
  return {
    push(text) {
      const clean = cleaner.push(text);
      put(lines ? lines.add(clean) : clean);
    },
    end() {
      const clean = cleaner.end();
      put(lines ? lines.add(clean) + lines.end() : clean);
      if (!last.endsWith('\n')) write('\n');
      last = '\n';
      lines = lines && new Lines(paint, width);
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
    if (this.#rest !== '' || this.#in !== 'start') {
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
      this.#shown += piece.shown + (this.#open !== '' && piece.shown.includes('\u001b') ? this.#open : '');
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
    if (this.#in !== 'row') this.#shown += `${this.#close}\n`;
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
    if (start.kind === 'quote') {
      this.#quotes++;
      this.#shown += paint.dim('│ ');
    } else if (start.kind === 'bullet' || start.kind === 'number') {
      this.#item = true;
      this.#shown += start.kind === 'bullet' ? used.replace(start.marker, '•') : used;
    } else if (start.kind === 'row') {
      this.#in = this.#rawRows ? 'verbatim' : 'row';
    } else if (start.kind === 'text' || start.kind === 'heading' || start.kind === 'task') {
      this.#in = 'text';
      if (start.kind === 'task') this.#shown += used.replace(/\[.\]/, start.marker);
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

  /** Begins a style that holds to the end of the line. */
  #begins(style: (text: string) => string): void {
    [this.#open = '', this.#close = ''] = style('\u0000').split('\u0000');
    this.#shown += this.#open;
  }
}
