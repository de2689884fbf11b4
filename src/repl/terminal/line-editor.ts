import type { CompleterResult, Key } from 'node:readline';

/**
 * A line as it was meant, and as it stood there: with pastes collapsed. Of both, what was pasted is `inert`.
 */
export interface EnteredLine {
  readonly text: string;
  readonly shown: string;
}

/** The keys that edit nothing: Ctrl-C with nothing to clear, Ctrl-D in an empty line, and others. */
export type PressedKey = (typeof pressedKeys)[number];
export const pressedKeys = ['ctrl+c', 'ctrl+d', 'ctrl+z', 'escape', 'shift+tab'] as const;

export interface LineEditorOptions {
  /** Oldest first. */
  readonly history: readonly string[];
  /** The candidates, and what of the line they stand for. */
  complete(line: string): Promise<CompleterResult>;
  entered(line: EnteredLine): void;
  pressed(key: PressedKey): void;
  /** The prompt is to be drawn again. */
  resumed(): void;
  /** No more input will come. */
  closed(): void;
}

/** The line that a person types, which is kept also while it is not shown. */
export interface LineEditor {
  readonly shown: boolean;
  /** True when a line that is typed may have line ends, with which it is a message of several lines. */
  readonly holdsLineEnds: boolean;
  show(prompt: string): void;
  /** Takes prompt and line off the screen. What is typed is still kept. */
  hide(): void;
  /** Leaves prompt and line where they are, begins a new row below, and an empty line. */
  leave(): void;
  /** Edits the answer to a question; returns what goes back to the message. */
  answer(): () => void;
  /** Puts text before what is being edited. */
  insert(text: string): void;
  /** Lets another program have the terminal. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Names a key with its modifiers, as `ctrl+c`; every way to ask for another line is `newline`. */
export function keyName({ name = '', ctrl, meta, shift, sequence }: Key): string {
  const isEnter = name === 'return' || name === 'enter';
  // Shift+Enter of terminals that speak the kitty protocol.
  if ((isEnter && meta) || sequence === '\x1b[13;2u') return 'newline';
  if (isEnter || name === 'escape') return isEnter ? 'enter' : name;
  return `${ctrl ? 'ctrl+' : ''}${meta ? 'meta+' : ''}${shift && name === 'tab' ? 'shift+' : ''}${name}`;
}
