import { inlineFrom, longest } from './markdown-inline.ts';
import { createPrintable } from './printable.ts';
import { Prose, markdownRows } from './rows.ts';
import type { Terminal } from './terminal.ts';

/**
 * The beginning of an undecided line: as long as it is nothing but these, or may open a fence, what comes
 * next decides what it is.
 */
const undecided = /^[ \t>|#\-*_+=`~\d.)]*$|^[ \t]*(?:```|~~~)/;
const rule = /^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const fence = /^[ \t]*(`{3,}(?=[^`]*$)|~{3,})/;
const heading = /^[ \t]*#{1,6}(?:[ \t]+|$)/;
const marks = /^((?:[ \t]*> ?)*)([ \t]*)((?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))?/;

/**
 * Shows Markdown while it streams. Nothing is printed twice, the cursor never moves: plain words are written
 * at once, `**bold**`, a link or the marks that begin a line when they are clear, a table when it is whole.
 * Without a screen the text is passed on as it is.
 */
export class MarkdownStream {
  readonly #terminal: Terminal;
  readonly #prose: Prose;
  #clean = createPrintable();
  #atLineStart = true;
  /** The current line, or its end, and how much of it is shown. */
  #line = '';
  #at = 0;
  /**
   * `start`: it is not known what the line is; `raw`: it is shown as it is; `row`: it is held for a table.
   */
  #kind: 'start' | 'text' | 'raw' | 'row' = 'start';
  #style = (text: string): string => text;
  #fence: string | undefined;
  #rows: string[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#prose = new Prose(() => terminal.width);
  }

  push(text: string): void {
    this.#take(this.#clean.push(text));
  }

  /** Completes the last line, and is ready for another text. */
  end(): void {
    this.#take(this.#clean.end());
    if (this.#line !== '') this.#take('\n');
    this.#put(this.#endTable());
    if (!this.#atLineStart) this.#put('\n');
    this.#fence = undefined;
  }

  #put(text: string): void {
    if (text === '') return;
    this.#atLineStart = text.endsWith('\n');
    this.#terminal.write(text);
  }

  #take(text: string): void {
    if (!this.#terminal.screen) return this.#put(text);
    const [first = '', ...others] = text.split('\n');
    let shown = this.#add(first, others.length > 0);
    for (const [at, part] of others.entries()) shown += this.#add(part, at < others.length - 1);
    this.#put(shown);
  }

  /** Adds to the line; returns what can be shown of it. */
  #add(part: string, ended: boolean): string {
    this.#line += part;
    let shown = '';
    if (this.#kind === 'start') {
      if (!ended && this.#line.length < longest && undecided.test(this.#line)) return '';
      shown = this.#begin(ended);
    }
    if (this.#kind === 'text') shown += this.#text(ended);
    if (this.#kind === 'raw') {
      shown += this.#line.slice(this.#at);
      this.#at = this.#line.length;
    }
    if (!ended) return shown;
    if (this.#kind === 'row') this.#rows.push(this.#line);
    else shown += `${this.#prose.end()}\n`;
    this.#line = '';
    this.#at = 0;
    this.#kind = 'start';
    return shown;
  }

  #text(ended: boolean): string {
    const { shown, end } = inlineFrom(this.#line, { from: this.#at, ended }, this.#terminal.paint);
    // Of a line without end, no more is looked back at.
    const over = Math.max(0, end - longest - 1);
    this.#line = this.#line.slice(over);
    this.#at = end - over;
    return this.#prose.add(this.#style(shown));
  }

  /** Says what the line is, and shows the marks it begins with. */
  #begin(ended: boolean): string {
    const { dim, quote, heading: title } = this.#terminal.paint;
    const line = this.#line;
    if (this.#fence !== undefined) {
      const isEnd = ended && /^[ \t]*(`+|~+)[ \t]*$/.exec(line)?.[1]?.startsWith(this.#fence);
      if (isEnd) this.#fence = undefined;
      return this.#raw(isEnd ? dim(line) : line);
    }
    if (/^[ \t]*\|/.test(line)) {
      this.#kind = 'row';
      return '';
    }
    const before = this.#endTable();
    if (ended && rule.test(line))
      return before + this.#raw(dim('─'.repeat(Math.min(this.#terminal.width, 80))));
    this.#fence = ended ? fence.exec(line)?.[1] : undefined;
    if (this.#fence !== undefined) return before + this.#raw(dim(line));
    this.#kind = 'text';
    const head = heading.exec(line)?.[0];
    const [all = '', quotes = '', indent = '', item = ''] = head ? [head] : (marks.exec(line) ?? []);
    this.#at = all.length;
    const bars = quotes.replaceAll(/[^>]/g, '').replaceAll('>', dim('│ '));
    this.#style = head ? title : quotes === '' ? (text) => text : quote;
    const mark = (indent + item.replace(/^[-*+]/, '•')).replaceAll('\t', '    ');
    return before + this.#prose.begin(bars + mark, bars + ' '.repeat(mark.length));
  }

  /** Shows the line so far in this way; what comes of it is shown as it is. */
  #raw(shown: string): string {
    this.#kind = 'raw';
    this.#at = this.#line.length;
    return shown;
  }

  #endTable(): string {
    const { width, paint } = this.#terminal;
    const lines = markdownRows(this.#rows, width, paint);
    this.#rows = [];
    return lines.map((line) => `${line}\n`).join('');
  }
}
