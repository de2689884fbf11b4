import type { WriteStream } from 'node:tty';
import { printable } from './printable.ts';
import type { Paint } from './terminal.ts';
import { cutToCells } from './width.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
/** What takes less is not worth a line that comes and goes. */
const patienceMs = 300;
const frameMs = 80;

export interface Spinner {
  start(what: string): void;
  /** Takes it off the screen; it comes back with its next frame. */
  clear(): void;
  stop(): void;
}

/**
 * One line that says what is awaited. The cursor stays at its start: whatever a terminal does to it when its width
 * changes, everything from the cursor on is the spinner's.
 */
export function openSpinner(output: WriteStream, paint: Paint, atLineStart: () => boolean): Spinner {
  let timer: NodeJS.Timeout | undefined;
  let drawn = false;
  const clear = () => {
    if (drawn) output.write('\r\x1b[J');
    drawn = false;
  };
  const draw = (what: string, frame: number) => {
    if (atLineStart()) {
      output.write(
        `\r${paint.dim(cutToCells(`${frames[frame % frames.length]} ${what}`, output.columns - 1))}\r`,
      );
      drawn = true;
    }
    timer = setTimeout(() => draw(what, frame + 1), frameMs);
  };
  return {
    start(what) {
      clearTimeout(timer);
      clear();
      timer = setTimeout(
        () => draw(`${printable(what).replaceAll(/\s/g, ' ')} · Esc to stop`, 0),
        patienceMs,
      );
    },
    clear,
    stop() {
      clearTimeout(timer);
      clear();
    },
  };
}
