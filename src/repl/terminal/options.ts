import type { ReadStream, WriteStream } from 'node:tty';
import type { History } from './history.ts';
import type { Completion } from './line-input.ts';
import type { Paint } from './paint.ts';

export interface TerminalOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly env: NodeJS.ProcessEnv;
  readonly paint: Paint;
  readonly history: History;
  complete(line: string, cursor: number): Promise<Completion>;
  /** While something is under way: each Ctrl-C, and an Escape by itself. */
  onInterrupt(kind: 'ctrl_c' | 'escape'): void;
  /** Shift+Tab, at the prompt or while something is under way. */
  onModeKey(): void;
  /** A line entered while something is under way: whether it was dealt with at once, instead of being queued. */
  whileBusy(line: string): boolean;
}
