import type { ReadStream, WriteStream } from 'node:tty';

/** Raw mode and bracketed paste, which outlive the program if nobody ends them. */
export interface Modes {
  on(): void;
  off(): void;
  /** Ctrl-Z: gives the terminal back to the shell, until it continues the program. */
  suspend(): void;
  /** Off, and no longer watched over. */
  release(): void;
}

interface Watch {
  /** The program goes on after it was stopped. */
  resumed(): void;
  /** SIGINT from elsewhere: in raw mode Ctrl-C is a key. */
  interrupted(): void;
}

/** How long it takes to notice that the kernel does not stop a program that no shell could continue. */
const notStoppedMs = 500;

/** Switches the modes on, and off again whenever the program ends or is stopped, in whatever way it can notice. */
export function openModes(input: ReadStream, output: WriteStream, watch: Watch): Modes {
  let wake: NodeJS.Timeout | undefined;
  let wanted = true;
  let gone = false;

  const apply = (on: boolean) => {
    // libuv remembers what it has set, the shell sets its own meanwhile.
    if (on) input.setRawMode(false);
    if (!gone) input.setRawMode(on);
    if (!output.destroyed) output.write(on ? '\x1b[?2004h' : '\x1b[?2004l');
  };
  const off = () => apply(false);
  const lost = () => {
    if (!gone) process.kill(process.pid, 'SIGHUP');
    gone = true;
  };
  const exit = () => {
    off();
    // Node aborts, with a core dump, when it cannot reset a terminal at its end.
    if (gone) process.kill(process.pid, 'SIGKILL');
  };
  const suspend = () => {
    if (wanted) off();
    process.removeListener('SIGTSTP', suspend);
    // The whole group, as the kernel would do it: the shell waits for whatever started this program, too.
    process.kill(0, 'SIGTSTP');
    wake = setTimeout(resume, notStoppedMs);
  };
  const resume = () => {
    clearTimeout(wake);
    process.removeListener('SIGTSTP', suspend).on('SIGTSTP', suspend);
    if (!wanted) return;
    apply(true);
    watch.resumed();
  };
  const die = (signal: NodeJS.Signals) => {
    off();
    // Whoever else listens decides; with a listener of any kind, Node does not end by itself.
    if (process.listenerCount(signal) > 1) return;
    process.removeListener(signal, die);
    process.kill(process.pid, signal);
  };
  const interrupted = () => {
    // An editor that has the terminal gets the same signal, and it is meant for it.
    if (wanted) watch.interrupted();
  };

  const listeners: readonly (readonly [string, (signal: NodeJS.Signals) => void])[] = [
    ['exit', exit],
    ['SIGINT', interrupted],
    ['SIGTERM', die],
    ['SIGHUP', die],
    // Windows has neither, and does not let one listen to them.
    ...(process.platform === 'win32'
      ? []
      : ([
          ['SIGTSTP', suspend],
          ['SIGCONT', resume],
        ] as const)),
  ];
  for (const [event, listener] of listeners) process.on(event, listener);
  // Somebody closed the window: in raw mode Ctrl-D ends no input. Also after `release`, which then finds it out first.
  input.on('error', lost).on('end', lost);
  apply(true);

  return {
    on() {
      wanted = true;
      apply(true);
    },
    off() {
      wanted = false;
      off();
    },
    suspend() {
      if (process.platform !== 'win32') suspend();
    },
    release() {
      wanted = false;
      clearTimeout(wake);
      for (const [event, listener] of listeners) process.removeListener(event, listener);
      off();
    },
  };
}
