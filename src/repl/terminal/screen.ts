import type { Paint } from './paint.ts';
import { painted, printable, cells, cutToCells } from './printable.ts';

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const frameMs = 80;
/**
 * The clock of the spinner: from so many seconds on, the spinner has a clock, and then says that nothing
 * comes.
 */
const clockFrom = 3;
const silentFrom = 60;

/** The rows that have been written, where the last one ends, and a spinner behind it that moves no cursor. */
export abstract class Screen {
  readonly paint: Paint;
  /** Lines that are printed once the current row has ended. */
  protected notices = '';
  protected atLineStart = true;
  #column = 0;
  #timer: NodeJS.Timeout | undefined;
  #drawn = false;
  #awaited = '';

  constructor(paint: Paint) {
    this.paint = paint;
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      // Whoever read it is gone: nothing is left to do, and nobody to tell.
      if (error.code === 'EPIPE') process.exit(0);
      if (error.code !== 'EIO') throw error;
      process.kill(process.pid, 'SIGHUP');
    });
  }

  get width(): number {
    return process.stdout.columns ?? 80;
  }

  get height(): number {
    return process.stdout.rows ?? 24;
  }

  /** Shows that something is under way, until something is printed, or `idle`; nothing for `patienceMs`. */
  working(what: string, patienceMs = 300): void {
    if (!this.mayDraw()) return;
    this.#awaited = printable(what).replaceAll(/\s/g, ' ');
    // News of what is awaited already takes its next frame: patience anew for each would never show any.
    if (this.#timer) return;
    const since = performance.now();
    this.#timer = setTimeout(() => this.#draw(0, since), patienceMs);
  }

  idle(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.clear();
  }

  protected abstract mayDraw(): boolean;

  protected put(given: string): void {
    let text = painted(given);
    if (text.includes('\n')) {
      text = text.replace('\n', () => `\n${this.notices}`);
      this.notices = '';
    }
    if (text === '') return;
    process.stdout.write(text);
    const rest = text.slice(text.lastIndexOf('\n') + 1);
    const isNew = text.includes('\n');
    const size = cells(rest);
    this.atLineStart = size === 0 && (this.atLineStart || isNew);
    this.#column = (size + (isNew ? 0 : this.#column)) % this.width;
  }

  /** Whole lines, from the beginning of a row on. */
  protected putLines(text: string): void {
    this.newRow();
    this.put(text.endsWith('\n') ? text : `${text}\n`);
  }

  protected newRow(): void {
    if (!this.atLineStart) this.put('\n');
  }

  /** Takes the spinner off the screen; it comes back with its next frame. */
  protected clear(): void {
    if (this.#drawn) process.stdout.write(this.atLineStart ? '\r\x1b[J' : '\x1b[K');
    this.#drawn = false;
  }

  #draw(frame: number, since: number): void {
    this.#timer = setTimeout(() => this.#draw(frame + 1, since), frameMs);
    if (!this.mayDraw()) return;
    const seconds = Math.floor((performance.now() - since) / 1000);
    const long = seconds < silentFrom ? ` · ${seconds}s` : ` · nothing has come for ${seconds}s`;
    const text =
      `${frames[frame % frames.length]} ` +
      `${this.#awaited}${seconds < clockFrom ? '' : long} · Esc to stop`;
    const column = this.atLineStart ? 0 : this.#column;
    // The cursor stays where the text ends, and what does not fit behind that is left out.
    const line = this.paint.dim(cutToCells(text, this.width - 2 - column));
    process.stdout.write(column === 0 ? `\r${line}\x1b[K\r` : `\x1b7 ${line}\x1b[K\x1b8`);
    this.#drawn = true;
  }
}
