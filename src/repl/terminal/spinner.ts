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
  let awaited = '';
  const clear = () => {
    if (drawn) output.write('\r\x1b[J');
    drawn = false;
  };
  const draw = (frame: number) => {
    if (atLineStart()) {
      const line = cutToCells(`${frames[frame % frames.length]} ${awaited}`, output.columns - 1);
      output.write(`\r${paint.dim(line)}\x1b[K\r`);
      drawn = true;
    }
    timer = setTimeout(() => draw(frame + 1), frameMs);
  };
  return {
    start(what) {
      awaited = `${printable(what).replaceAll(/\s/g, ' ')} · Esc to stop`;
      // News of what is awaited already takes its next frame: patience anew for each would never show any.
      timer ??= setTimeout(() => draw(0), patienceMs);
    },
    clear,
    stop() {
      clearTimeout(timer);
      timer = undefined;
      clear();
    },
  };
}
