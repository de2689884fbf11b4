import type { ReadStream, WriteStream } from 'node:tty';

interface Watch {
  /** The program goes on after it was stopped. */
  resumed(): void;
  /** SIGINT from elsewhere: in raw mode Ctrl-C is a key. */
  interrupted(): void;
}

/** How long it takes to notice that the kernel does not stop a program that no shell could continue. */
const notStoppedMs = 500;

/**
 * Raw mode and bracketed paste, which outlive the program if nobody ends them: off again whenever the program ends or
 * is stopped, in whatever way it can notice.
 */
export class Modes {
  private readonly input: ReadStream;
  private readonly output: WriteStream;
  private readonly watch: Watch;
  private wake: NodeJS.Timeout | undefined;
  private wanted = true;
  private gone = false;
  private readonly listeners: readonly (readonly [string, (signal: NodeJS.Signals) => void])[];

  constructor(input: ReadStream, output: WriteStream, watch: Watch) {
    this.input = input;
    this.output = output;
    this.watch = watch;
    this.listeners = [
      ['exit', this.exit],
      // An editor that has the terminal gets the same signal, and it is meant for it.
      ['SIGINT', () => this.wanted && watch.interrupted()],
      ['SIGTERM', this.die],
      ['SIGHUP', this.die],
      // Windows has neither, and does not let one listen to them.
      ...(process.platform === 'win32'
        ? []
        : ([
            ['SIGTSTP', this.stop],
            ['SIGCONT', this.resume],
          ] as const)),
    ];
    for (const [event, listener] of this.listeners) process.on(event, listener);
    // Somebody closed the window: in raw mode Ctrl-D ends no input. Also after `release`, which finds it out first.
    input.on('error', this.lost).on('end', this.lost);
    this.apply(true);
  }

  on(): void {
    this.wanted = true;
    this.apply(true);
  }

  off(): void {
    this.wanted = false;
    this.apply(false);
  }

  /** Ctrl-Z: gives the terminal back to the shell, until it continues the program. */
  suspend(): void {
    if (process.platform !== 'win32') this.stop();
  }

  /** Off, and no longer watched over. */
  release(): void {
    clearTimeout(this.wake);
    for (const [event, listener] of this.listeners) process.removeListener(event, listener);
    this.off();
  }

  private apply(on: boolean): void {
    const { input, output } = this;
    // libuv remembers what it has set, the shell sets its own meanwhile.
    if (on) input.setRawMode(false);
    if (!this.gone) input.setRawMode(on);
    if (!output.destroyed) output.write(on ? '\x1b[?2004h' : '\x1b[?2004l');
  }

  private readonly lost = (): void => {
    if (!this.gone) process.kill(process.pid, 'SIGHUP');
    this.gone = true;
  };

  private readonly exit = (): void => {
    this.apply(false);
    // Node aborts, with a core dump, when it cannot reset a terminal at its end.
    if (this.gone) process.kill(process.pid, 'SIGKILL');
  };

  private readonly stop = (): void => {
    if (this.wanted) this.apply(false);
    process.removeListener('SIGTSTP', this.stop);
    // The whole group, as the kernel would do it: the shell waits for whatever started this program, too.
    process.kill(0, 'SIGTSTP');
    this.wake = setTimeout(this.resume, notStoppedMs);
  };

  private readonly resume = (): void => {
    clearTimeout(this.wake);
    process.removeListener('SIGTSTP', this.stop).on('SIGTSTP', this.stop);
    if (!this.wanted) return;
    this.apply(true);
    this.watch.resumed();
  };

  private readonly die = (signal: NodeJS.Signals): void => {
    this.apply(false);
    // Whoever else listens decides; with a listener of any kind, Node does not end by itself.
    if (process.listenerCount(signal) > 1) return;
    process.removeListener(signal, this.die);
    process.kill(process.pid, signal);
  };
}
