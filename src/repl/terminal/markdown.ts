import { longest, nextPiece, inline } from './markdown-inline.ts';
import type { Paint } from './paint.ts';
import { createPrintable } from './printable.ts';
import { plain, Prose, type Style } from './prose.ts';
import { isDelimiter, markdownTable } from './table.ts';

export interface MarkdownStream {
  push(text: string): void;
  /** Completes the last line, and is ready for another text. */
  end(): void;
}

interface Screen {
  readonly screen: boolean;
  readonly width: number;
  readonly paint: Paint;
  write(text: string): void;
}

/**
 * Shows Markdown while it streams. Nothing is printed twice, the cursor never moves: plain words are written at once,
 * `**bold**`, a link or the marks that begin a line when they are clear, a table when it is whole. Where there is no
 * screen the text is passed on as it is. What comes out does not depend on how it was cut.
 */
export function createMarkdownStream(terminal: Screen): MarkdownStream {
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

/** A longer table is printed as it came. */
const mostRows = 200;
/** As long as a line is nothing but these, what comes next decides what it is. */
const undecided = /^[ \t>|#\-*_+=`~[\]xX\d.)]*$/;
const fenceToCome = /^[ \t\-*+\d.)]*(?:```|~~~)/;
const quoteMark = /^[ \t]*> ?/;
const itemMark = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;
const rule = /^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const fence = /^[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

/** The state between lines and inside of one: returns what can be shown. */
class Lines {
  readonly #paint: Paint;
  readonly #width: () => number;
  readonly #prose: Prose;
  /** The current line, or its end, and how much of it is shown. */
  #line = '';
  #at = 0;
  /** `start`: it is not known what the line is; `raw`: it is shown as it is; `row`: it is held for a table. */
  #kind: 'start' | 'text' | 'raw' | 'row' = 'start';
  #style: Style = plain;
  #fence: { readonly mark: string; readonly diff: boolean } | undefined;
  #rows: string[] = [];
  /** The table became too long: its rows are shown as they are. */
  #rawTable = false;

  constructor(paint: Paint, width: () => number) {
    this.#paint = paint;
    this.#width = width;
    this.#prose = new Prose(width);
  }

  add(text: string): string {
    const parts = text.split('\n');
    const last = parts.pop() ?? '';
    const shown = parts.map((part) => this.#take(part, true)).join('');
    return last === '' ? shown : shown + this.#take(last, false);
  }

  end(): string {
    const rest = this.#line === '' ? '' : this.#take('', true);
    return rest + this.#endTable();
  }

  #take(part: string, ended: boolean): string {
    this.#line += part;
    let shown = '';
    if (this.#kind === 'start') {
      const isOpen = !ended && this.#line.length < longest;
      if (isOpen && undecided.test(this.#line)) return '';
      if (isOpen && !this.#fence && fenceToCome.test(this.#line)) return '';
      shown = this.#begin(ended);
    }
    if (this.#kind === 'row') return ended ? shown + this.#endRow() : shown;
    shown += this.#kind === 'raw' ? this.#style(this.#line.slice(this.#at)) : this.#text(ended);
    if (this.#kind === 'raw') this.#at = this.#line.length;
    if (!ended) return shown;
    shown += `${this.#prose.end()}\n`;
    this.#next();
    return shown;
  }

  #next(): void {
    this.#line = '';
    this.#at = 0;
    this.#kind = 'start';
    this.#style = plain;
  }

  #text(ended: boolean): string {
    let shown = '';
    for (;;) {
      const piece = nextPiece(this.#line, { at: this.#at, ended }, this.#paint);
      if (!piece) break;
      for (const { text, style } of piece.spans)
        shown += this.#prose.add(text, (word) => this.#style(style(word)));
      this.#at = piece.end;
    }
    // Of a line without end, no more is looked back at.
    const over = Math.max(0, this.#at - longest - 1);
    if (over > longest) [this.#line, this.#at] = [this.#line.slice(over), this.#at - over];
    return shown;
  }

  /** Shows the marks a line begins with, and says what it is. */
  #begin(ended: boolean): string {
    if (this.#fence) return this.#code(this.#fence, ended);
    if (/^[ \t]*\|/.test(this.#line)) {
      this.#kind = this.#rawTable ? 'raw' : 'row';
      return '';
    }
    const shown = this.#endTable() + this.#marks(ended);
    if (this.#kind === 'raw') return shown;
    this.#kind = 'text';
    const rest = this.#line.slice(this.#at);
    const heading = /^[ \t]*#{1,6}(?:[ \t]+|$)/.exec(rest)?.[0];
    const indent = /^[ \t]{0,99}/.exec(rest)?.[0] ?? '';
    this.#at += (heading ?? indent).length;
    if (heading === undefined) return shown + this.#prose.mark(indent.replaceAll('\t', '    '));
    this.#style = this.#paint.heading;
    return shown;
  }

  /** Quote marks and the marks of list items, as many as there are; or a rule, or the begin of a fence. */
  #marks(ended: boolean): string {
    const { dim, quote } = this.#paint;
    let shown = '';
    for (;;) {
      const rest = this.#line.slice(this.#at);
      if (ended && rule.test(rest)) return shown + this.#raw(dim('─'.repeat(Math.min(this.#width(), 80))));
      const [, mark = '', info = ''] = (ended && this.#style === plain && fence.exec(rest)) || [];
      if (mark !== '') {
        this.#fence = { mark, diff: /^\s*(?:diff|patch)\b/.test(info) };
        return shown + this.#raw(dim(rest));
      }
      const quoted = quoteMark.exec(rest)?.[0];
      const item = quoted ?? itemMark.exec(rest)?.[0];
      if (item === undefined) return shown;
      this.#at += item.length;
      const box = /^\[([ xX])\][ \t]/.exec(this.#line.slice(this.#at));
      if (quoted !== undefined) {
        this.#style = quote;
        shown += this.#prose.mark(dim('│ '), true);
      } else if (box) {
        // A box takes the place of the mark of its item.
        this.#at += box[0].length;
        const indent = /^[ \t]*/.exec(item)?.[0] ?? '';
        shown += this.#prose.mark(`${indent.replaceAll('\t', '    ')}${box[1] === ' ' ? '☐' : '☑'} `);
      } else shown += this.#prose.mark(item.replace(/[-*+]/, '•').replaceAll('\t', '    '));
    }
  }

  /** A line of code is shown as soon as it cannot be the end of the fence. */
  #code({ mark, diff }: { readonly mark: string; readonly diff: boolean }, ended: boolean): string {
    const { added, removed, dim } = this.#paint;
    if (ended && /^[ \t]*(`+|~+)[ \t]*$/.exec(this.#line)?.[1]?.startsWith(mark)) {
      this.#fence = undefined;
      return this.#raw(dim(this.#line));
    }
    this.#kind = 'raw';
    if (diff) this.#style = { '+': added, '-': removed, '@': dim }[this.#line.charAt(0)] ?? plain;
    return '';
  }

  /** What the whole line is shown as. */
  #raw(shown: string): string {
    this.#kind = 'raw';
    this.#at = this.#line.length;
    return shown;
  }

  #endRow(): string {
    // Without the row below its head, it is no table.
    const shown = this.#rows.length === 1 && !isDelimiter(this.#line) ? this.#endTable() : '';
    this.#rows.push(this.#line);
    this.#next();
    if (this.#rows.length <= mostRows) return shown;
    const rows = this.#rows.map((row) => `${row}\n`).join('');
    this.#rows = [];
    this.#rawTable = true;
    return shown + rows;
  }

  #endTable(): string {
    const rows = this.#rows;
    this.#rows = [];
    this.#rawTable = false;
    const table = rows.length > 1 ? markdownTable(rows, this.#width(), this.#paint) : undefined;
    return (table ?? rows.map((row) => inline(row, this.#paint))).map((line) => `${line}\n`).join('');
  }
}
