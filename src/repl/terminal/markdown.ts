import { longest, nextPiece } from './markdown-inline.ts';
import type { Paint } from './paint.ts';
import { createPrintable } from './printable.ts';
import { Prose } from './prose.ts';
import { markdownRows } from './table.ts';

export interface MarkdownStream {
  push(text: string): void;
  /** Completes the last line, and is ready for another text. */
  end(): void;
}

interface Output {
  readonly screen: boolean;
  readonly width: number;
  readonly paint: Paint;
  write(text: string): void;
}

/**
 * Shows Markdown while it streams. Nothing is printed twice, the cursor never moves: plain words are written at once,
 * `**bold**`, a link or the marks that begin a line when they are clear, a table when it is whole. Where there is no
 * screen the text is passed on as it is.
 */
export function createMarkdownStream(terminal: Output): MarkdownStream {
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

/** As long as a line is nothing but these, or may open a fence, what comes next decides what it is. */
const undecided = /^[ \t>|#\-*_+=`~\d.)]*$|^[ \t]*(?:```|~~~)/;
const rule = /^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const fence = /^[ \t]*(`{3,}(?=[^`]*$)|~{3,})/;
const heading = /^[ \t]*#{1,6}(?:[ \t]+|$)/;
const marks = /^((?:[ \t]*> ?)*)([ \t]*)((?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))?/;

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
  #style = (text: string): string => text;
  #fence: string | undefined;
  #rows: string[] = [];

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
      if (!ended && this.#line.length < longest && undecided.test(this.#line)) return '';
      shown = this.#begin(ended);
    }
    if (this.#kind === 'row') {
      if (ended) this.#rows.push(this.#line);
    } else if (this.#kind === 'text') shown += this.#text(ended);
    else {
      shown += this.#line.slice(this.#at);
      this.#at = this.#line.length;
    }
    if (!ended) return shown;
    if (this.#kind !== 'row') shown += `${this.#prose.end()}\n`;
    this.#line = '';
    this.#at = 0;
    this.#kind = 'start';
    return shown;
  }

  #text(ended: boolean): string {
    let shown = '';
    for (;;) {
      const piece = nextPiece(this.#line, { at: this.#at, ended }, this.#paint);
      if (!piece) break;
      shown += this.#prose.add(this.#style(piece.text));
      this.#at = piece.end;
    }
    // Of a line without end, no more is looked back at.
    const over = Math.max(0, this.#at - longest - 1);
    if (over > longest) [this.#line, this.#at] = [this.#line.slice(over), this.#at - over];
    return shown;
  }

  /** Says what the line is, and shows the marks it begins with. */
  #begin(ended: boolean): string {
    const { dim, quote } = this.#paint;
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
    if (ended && rule.test(line)) return before + this.#raw(dim('─'.repeat(Math.min(this.#width(), 80))));
    this.#fence = ended ? fence.exec(line)?.[1] : undefined;
    if (this.#fence !== undefined) return before + this.#raw(dim(line));
    this.#kind = 'text';
    const head = heading.exec(line)?.[0];
    const [all = '', quotes = '', indent = '', item = ''] = head ? [head] : (marks.exec(line) ?? []);
    this.#at = all.length;
    const bars = quotes.replaceAll(/[^>]/g, '').replaceAll('>', dim('│ '));
    this.#style = head ? this.#paint.heading : quotes === '' ? (text) => text : quote;
    const mark = (indent + item.replace(/^[-*+]/, '•')).replaceAll('\t', '    ');
    return before + this.#prose.begin(bars + mark, bars + ' '.repeat(mark.length));
  }

  /** What the line so far is shown as; what comes of it is shown as it is. */
  #raw(shown: string): string {
    this.#kind = 'raw';
    this.#at = this.#line.length;
    return shown;
  }

  #endTable(): string {
    const rows = this.#rows;
    this.#rows = [];
    return markdownRows(rows, this.#width(), this.#paint)
      .map((line) => `${line}\n`)
      .join('');
  }
}
