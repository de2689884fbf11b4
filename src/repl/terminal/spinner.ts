import type { WriteStream } from 'node:tty';
import { printable } from './printable.ts';
import type { Paint } from './paint.ts';
import { cutToCells } from './width.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
/** What takes less is not worth a line that comes and goes. */
const usualPatienceMs = 300;
/** From so many seconds on, a clock is shown, and then that nothing comes. */
const clockFrom = 3;
const silentFrom = 60;
const frameMs = 80;

export interface Spinner {
  /** `patienceMs`: how long nothing is shown of it. */
  start(what: string, patienceMs?: number): void;
  /** Takes it off the screen; it comes back with its next frame. */
  clear(): void;
  stop(): void;
}

/**
 * One line that says what is awaited. The cursor stays at its start: whatever a terminal does to it when its width
 * changes, everything from the cursor on is the spinner's.
 */
export function openSpinner(output: WriteStream, paint: Paint, column: () => number | undefined): Spinner {
  let timer: NodeJS.Timeout | undefined;
  let drawn = false;
  let awaited = '';
  let since = 0;
  const clear = () => {
    if (drawn) output.write(column() === 0 ? '\r\x1b[J' : '\x1b[K');
    drawn = false;
  };
  const clock = () => {
    const seconds = Math.floor((performance.now() - since) / 1000);
    if (seconds < clockFrom) return '';
    return seconds < silentFrom ? ` · ${seconds}s` : ` · nothing has come for ${seconds}s`;
  };
  const draw = (frame: number) => {
    const at = column();
    const text = `${frames[frame % frames.length]} ${awaited}${clock()} · Esc to stop`;
    // Within a row the cursor stays behind the text, and what does not fit there is left out.
    const line = cutToCells(text, output.columns - 2 - (at ?? 0));
    if (at === 0) output.write(`\r${paint.dim(line)}\x1b[K\r`);
    else if (at !== undefined) output.write(`\x1b7 ${paint.dim(line)}\x1b[K\x1b8`);
    if (at !== undefined) drawn = true;
    timer = setTimeout(() => draw(frame + 1), frameMs);
  };
  return {
    start(what, patienceMs = usualPatienceMs) {
      awaited = printable(what).replaceAll(/\s/g, ' ');
      // News of what is awaited already takes its next frame: patience anew for each would never show any.
      if (timer) return;
      since = performance.now();
      timer = setTimeout(() => draw(0), patienceMs);
    },
    clear,
    stop() {
      clearTimeout(timer);
      timer = undefined;
      clear();
    },
  };
}
