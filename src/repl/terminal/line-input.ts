import type { ReadStream, WriteStream } from 'node:tty';

/** A line as it was meant, and as it stood there: with pastes collapsed. Of both, what was pasted is `inert`. */
export interface Entered {
  readonly text: string;
  readonly shown: string;
}

/** What is being edited: a message, or the answer to a question, which is one line and has no history. */
export interface Draft {
  readonly line: string;
  readonly cursor: number;
  readonly kind: 'message' | 'answer';
}

/** Ctrl-C with nothing to clear, Escape, Shift+Tab, Ctrl-Z, Ctrl-D in an empty line. */
export type PressedKey = 'ctrl_c' | 'escape' | 'mode' | 'suspend' | 'end';

/**
 * Candidates for the text between `from` and the cursor. They may contain spaces; quoting them is up to who offers
 * them.
 */
export interface Completion {
  readonly from: number;
  readonly candidates: readonly string[];
}

export interface InputOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** Both are terminals: somebody can be asked. */
  readonly interactive: boolean;
  /** Oldest first; looked at whenever a key asks for it. */
  readonly history: readonly string[];
  complete(line: string, cursor: number): Promise<Completion>;
  entered(line: Entered): void;
  pressed(key: PressedKey): void;
  /** The program goes on after it was stopped. */
  resumed(): void;
  /** No more input will come. */
  closed(): void;
}

/** Where lines come from. One can be edited also while it is not shown. */
export interface LineInput {
  readonly shown: boolean;
  show(prompt: string): void;
  /** Takes prompt and line off the screen. What is typed is still kept. */
  hide(): void;
  /** Leaves prompt and line where they are, begins a new row below, and an empty line. */
  leave(): void;
  /** Edits something else, and returns what was edited. */
  swap(draft: Draft): Draft;
  /** Puts text before what is being edited; false where no line can be edited. */
  insert(text: string): boolean;
  /** Lets another program have the terminal. */
  pause(): void;
  resume(): void;
  close(): void;
}
