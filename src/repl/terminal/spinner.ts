import type { WriteStream } from 'node:tty';
import type { Paint } from './paint.ts';
import { printable } from './printable.ts';
import { cutToCells } from './width.ts';

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const frameMs = 80;
/** What takes less is not worth a line that comes and goes. */
const usualPatienceMs = 300;
/** From so many seconds on, a clock is shown, and then that nothing comes. */
const clockFrom = 3;
const silentFrom = 60;

/**
 * What is awaited, in one line that does not move the cursor: whatever a terminal does to it when its width changes,
 * everything from the cursor on is the spinner's. `column`: where the row ends that it follows; undefined while
 * nothing may be drawn.
 */
export class Spinner {
  readonly #output: WriteStream;
  readonly #paint: Paint;
  readonly #column: () => number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #drawn = false;
  #awaited = '';
  #since = 0;

  constructor(output: WriteStream, paint: Paint, column: () => number | undefined) {
    this.#output = output;
    this.#paint = paint;
    this.#column = column;
  }

  /** `patienceMs`: how long nothing is shown of it. */
  start(what: string, patienceMs = usualPatienceMs): void {
    this.#awaited = printable(what).replaceAll(/\s/g, ' ');
    // News of what is awaited already takes its next frame: patience anew for each would never show any.
    if (this.#timer) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#draw(0), patienceMs);
  }

  /** Takes it off the screen; it comes back with its next frame. */
  clear(): void {
    if (this.#drawn) this.#output.write(this.#column() === 0 ? '\r\x1b[J' : '\x1b[K');
    this.#drawn = false;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.clear();
  }

  #draw(frame: number): void {
    this.#timer = setTimeout(() => this.#draw(frame + 1), frameMs);
    const at = this.#column();
    if (at === undefined) return;
    const seconds = Math.floor((performance.now() - this.#since) / 1000);
    const long = seconds < silentFrom ? ` · ${seconds}s` : ` · nothing has come for ${seconds}s`;
    const clock = seconds < clockFrom ? '' : long;
    const text = `${frames[frame % frames.length]} ${this.#awaited}${clock} · Esc to stop`;
    // Within a row the cursor stays behind the text, and what does not fit there is left out.
    const line = this.#paint.dim(cutToCells(text, this.#output.columns - 2 - at));
    this.#output.write(at === 0 ? `\r${line}\x1b[K\r` : `\x1b7 ${line}\x1b[K\x1b8`);
    this.#drawn = true;
  }
}
