import type { ReadStream, WriteStream } from 'node:tty';

/** How long it takes to notice that the kernel does not stop a program that no shell could continue. */
const notStoppedMs = 500;

/**
 * Raw mode and bracketed paste, which outlive the program if nobody ends them: off again whenever the program ends or
 * is stopped.
 */
export class Modes {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #resumed: () => void;
  #wake: NodeJS.Timeout | undefined;
  #wanted = true;
  #gone = false;

  constructor(input: ReadStream, output: WriteStream, resumed: () => void) {
    this.#input = input;
    this.#output = output;
    this.#resumed = resumed;
    process.on('exit', this.#exit);
    // Windows has no such signal, and does not let one listen to it.
    if (process.platform !== 'win32') process.on('SIGCONT', this.#continue);
    // Somebody closed the window: in raw mode Ctrl-D ends no input. `release` may find it out first.
    input.on('error', this.#lost).on('end', this.#lost);
    this.#apply(true);
  }

  on(): void {
    this.#wanted = true;
    this.#apply(true);
  }

  off(): void {
    this.#wanted = false;
    this.#apply(false);
  }

  /** Ctrl-Z: gives the terminal back to the shell, until it continues the program. */
  suspend(): void {
    // Windows has nothing like it: all goes on.
    if (process.platform === 'win32') return this.#resumed();
    this.#apply(false);
    // The whole group, as the kernel would do it: the shell waits for whatever started this program, too.
    process.kill(0, 'SIGTSTP');
    this.#wake = setTimeout(this.#continue, notStoppedMs);
  }

  /** Off, and no longer watched over. */
  release(): void {
    clearTimeout(this.#wake);
    process.removeListener('SIGCONT', this.#continue);
    this.off();
  }

  #apply(on: boolean): void {
    // libuv remembers what it has set, the shell sets its own meanwhile.
    if (on) this.#input.setRawMode(false);
    if (!this.#gone) this.#input.setRawMode(on);
    if (!this.#output.destroyed) this.#output.write(on ? '\x1b[?2004h' : '\x1b[?2004l');
  }

  readonly #lost = (): void => {
    if (!this.#gone) process.kill(process.pid, 'SIGHUP');
    this.#gone = true;
  };

  /** Also after `release`. */
  readonly #exit = (): void => {
    if (this.#wanted) this.#apply(false);
    // Node aborts, with a core dump, when it cannot reset a terminal at its end.
    if (this.#gone) process.kill(process.pid, 'SIGKILL');
  };

  readonly #continue = (): void => {
    clearTimeout(this.#wake);
    if (!this.#wanted) return;
    this.#apply(true);
    this.#resumed();
  };
}
