import type { ReadStream, WriteStream } from 'node:tty';
import type { Complete } from './completion.ts';
import type { History } from './history.ts';
import type { Paint, Terminal } from './terminal.ts';

export interface TerminalOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly env: NodeJS.ProcessEnv;
  readonly paint: Paint;
  readonly history?: History;
  readonly complete?: Complete;
  /** While something is under way: each Ctrl-C, and an Escape by itself. */
  onInterrupt(kind: 'ctrl_c' | 'escape'): void;
  /** Shift+Tab, at the prompt or while something is under way. */
  onModeKey(): void;
  /** A line entered while something is under way: whether it was dealt with at once, instead of being queued. */
  whileBusy?(line: string): boolean;
}

export interface OpenTerminal extends Terminal {
  /** Changes the prompt that is shown, or that is shown again after a question. */
  reprompt(prompt: string): void;
  /** Lets another program use the terminal while `work` is under way. */
  handOver<T>(work: () => Promise<T>): Promise<T>;
}

/** Within this time a second Ctrl-C at an empty prompt leaves. */
export const againMs = 2000;
export const againText = 'Press Ctrl-C again to leave.';
