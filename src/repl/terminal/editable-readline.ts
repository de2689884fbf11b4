import type { CompleterResult, Key, ReadLineOptions } from 'node:readline';
import { Writable } from 'node:stream';

/** Standard output as readline sees it: what it draws is dropped while nothing is to be shown. */
export class MutableOutput extends Writable {
  open = false;

  constructor() {
    super({ decodeStrings: false });
  }

  get columns(): number {
    return process.stdout.columns;
  }

  override _write(chunk: string, _encoding: BufferEncoding, done: () => void): void {
    if (this.open) process.stdout.write(chunk);
    done();
  }
}

export interface EditableReadlineOptions {
  readonly output: MutableOutput;
  complete(line: string): Promise<CompleterResult>;
  /** Is given each key first; returns false for those that are left to readline. */
  takeKey(typed: string | undefined, key: Key): boolean;
}

/** A readline whose line can be set, and whose keys can be taken before it sees them. */
export interface EditableReadline {
  readonly line: string;
  readonly cursor: number;
  /** False: each line end of what is set or inserted becomes a blank. */
  readonly holdsLineEnds: boolean;
  /** Rows between the first one of the prompt and that of the cursor. */
  cursorRow(): number;
  /** Sets the line, and draws it over what was drawn before. */
  replace(line: string, cursor: number): void;
  /** Puts text where the cursor is, and draws it. */
  insert(text: string): void;
  /** Shows a prompt, and the line behind it, from the row of the cursor on. */
  draw(prompt: string): void;
  /** Draws anew since the window has another width, and no rows that are gone: that would erase output. */
  resized(): void;
  on(event: 'line', listener: (line: string) => void): void;
  on(event: 'close', listener: () => void): void;
  close(): void;
}

/** The options with which readline is opened in a terminal, whatever is known of it. */
export const readlineOptions = ({ output, complete }: EditableReadlineOptions) =>
  ({
    output,
    terminal: true,
    historySize: 0,
    escapeCodeTimeout: 50,
    // It returns no promise: Node would warn of one, in the middle of the screen.
    completer(line: string, done: (error: null, found: CompleterResult) => void) {
      // oxlint-disable-next-line promise/no-callback-in-promise -- readline waits for a callback
      void complete(line).then((found) => done(null, found));
    },
  }) satisfies Omit<ReadLineOptions, 'input'>;
