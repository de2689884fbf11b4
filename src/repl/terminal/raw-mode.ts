/** Raw mode and bracketed paste, which outlive the program if nobody ends them. */
export class RawMode {
  #on = false;
  #isLost = false;

  constructor() {
    // Somebody closed the window: in raw mode Ctrl-D ends no input.
    process.stdin.on('error', this.#lost).on('end', this.#lost);
    process.on('exit', () => {
      if (this.#on) this.set(false);
      // Node aborts, with a core dump, when it cannot reset a terminal at its end.
      if (this.#isLost) process.kill(process.pid, 'SIGKILL');
    });
    this.set(true);
  }

  set(on: boolean): void {
    this.#on = on;
    if (!this.#isLost) process.stdin.setRawMode(on);
    if (!process.stdout.destroyed) process.stdout.write(on ? '\x1b[?2004h' : '\x1b[?2004l');
  }

  /** Ctrl-Z: gives the terminal back to the shell, until that continues the program. */
  suspend(resumed: () => void): void {
    if (process.platform === 'win32') return resumed();
    this.set(false);
    // The whole group, as the kernel would do it: the shell waits for whatever started this program, too.
    process.kill(0, 'SIGTSTP');
    // Comes when the program goes on, or when no shell is there that could have stopped it.
    setTimeout(() => {
      this.set(true);
      resumed();
    }, 200);
  }

  readonly #lost = (): void => {
    if (!this.#isLost) process.kill(process.pid, 'SIGHUP');
    this.#isLost = true;
  };
}
