import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** What a terminal sends for a key. */
const keys = {
  enter: '\r',
  'alt-enter': '\x1b\r',
  'shift-enter': '\x1b[13;2u', // as terminals with the kitty protocol send it
  tab: '\t',
  'shift-tab': '\x1b[Z',
  esc: '\x1b',
  backspace: '\x7f',
  delete: '\x1b[3~',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  home: '\x1b[H',
  end: '\x1b[F',
  'ctrl-a': '\x01',
  'ctrl-c': '\x03',
  'ctrl-d': '\x04',
  'ctrl-e': '\x05',
  'ctrl-k': '\x0b',
  'ctrl-l': '\x0c',
  'ctrl-u': '\x15',
  'ctrl-w': '\x17',
  'ctrl-z': '\x1a',
} as const;

export type Key = keyof typeof keys;

export interface PtyOptions {
  /** Added to the environment of the tests; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly cols?: number;
  readonly rows?: number;
}

export interface Pty {
  readonly pid: number;
  type(text: string): void;
  press(...pressed: Key[]): void;
  /** As a terminal does it: bracketed when the program has asked for that, with CR at line ends. */
  paste(text: string): void;
  /** The visible rows, without blanks at their ends and without empty rows at the end. */
  screen(): string;
  /** All rows there ever were, also those that have scrolled away; a line that was wrapped is one line here. */
  scrollback(): string;
  /** Everything that was written, escape sequences included. */
  raw(): string;
  cursor(): { readonly column: number; readonly row: number };
  /** Waits until the screen, or the scrollback with unwrapped lines, shows it; fails with the screen in the message. */
  sees(what: string | RegExp, ms?: number): Promise<void>;
  /** Waits until something is so; fails with the screen in the message. */
  until(isSo: () => boolean, ms?: number): Promise<void>;
  resize(cols: number, rows: number): void;
  signal(name: NodeJS.Signals): void;
  /** Closes the terminal, as when a window is closed. */
  hangUp(): void;
  /** The exit code, or 128 and the signal. Everything that was written is on the screen by then. */
  readonly exit: Promise<number>;
}

/** Starts a program in a pseudo-terminal. One that was started in a test is killed at the end of it. */
export function startInTerminal(argv: readonly string[], options: PtyOptions = {}): Pty {
  const { cols = 100, rows = 30, cwd = process.cwd() } = options;
  const env: Record<string, string | undefined> = {
    ...process.env,
    TERM: 'xterm-256color',
    CI: undefined,
    NO_COLOR: undefined,
    FORCE_COLOR: undefined,
    ...options.env,
  };
  for (const name of Object.keys(env)) if (env[name] === undefined) delete env[name];
  const child = spawn(argv[0] ?? '', argv.slice(1), { cols, rows, cwd, env });
  const screen = new xterm.Terminal({ cols, rows, scrollback: 100_000, allowProposedApi: true });
  let raw = '';
  child.onData((data) => {
    raw += data;
    screen.write(data);
  });
  // A terminal answers questions of the program.
  screen.onData((answer) => child.write(answer));
  let ended = false;
  const exit = new Promise<number>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      ended = true;
      screen.write('', () => resolve(signal ? 128 + signal : exitCode));
    });
  });
  const kill = () => {
    if (!ended) child.kill('SIGKILL');
  };
  try {
    onTestFinished(kill);
  } catch {
    // Started outside of a test: whoever did so ends it.
  }

  const lines = (from: number, unwrapped: boolean): string => {
    const { active } = screen.buffer;
    const found: string[] = [];
    for (let row = from; row < active.length; row++) {
      const line = active.getLine(row);
      const text = line?.translateToString(!unwrapped || !active.getLine(row + 1)?.isWrapped) ?? '';
      if (unwrapped && line?.isWrapped) found.push((found.pop() ?? '') + text);
      else found.push(text);
    }
    return found
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd();
  };
  const pty: Pty = {
    pid: child.pid,
    exit,
    type: (text) => child.write(text),
    press: (...pressed) => pressed.forEach((key) => child.write(keys[key])),
    paste(text) {
      const sent = text.replaceAll(/\r?\n/g, '\r');
      child.write(screen.modes.bracketedPasteMode ? `\x1b[200~${sent}\x1b[201~` : sent);
    },
    screen: () => lines(screen.buffer.active.baseY, false),
    scrollback: () => lines(0, true),
    raw: () => raw,
    cursor: () => ({ column: screen.buffer.active.cursorX, row: screen.buffer.active.cursorY }),
    async sees(what, ms) {
      const shows = (text: string) => (typeof what === 'string' ? text.includes(what) : what.test(text));
      await pty
        .until(() => shows(pty.screen()) || shows(pty.scrollback()), ms)
        .catch((error: Error) => {
          throw new Error(`${String(what)} is not there ${error.message}`, { cause: error });
        });
    },
    async until(isSo, ms = 60_000) {
      const end = performance.now() + ms;
      while (!isSo()) {
        if (performance.now() > end) {
          const state = ended ? 'the program has ended' : 'the program is running';
          throw new Error(`after ${ms} ms (${state}). The screen:\n${pty.screen()}`);
        }
        await sleep(10);
      }
    },
    resize(columns, height) {
      screen.resize(columns, height);
      child.resize(columns, height);
    },
    signal: (name) => child.kill(name),
    // Not among its types.
    hangUp: () => (child as unknown as { destroy(): void }).destroy(),
  };
  return pty;
}
