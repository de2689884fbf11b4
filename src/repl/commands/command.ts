import type { Chat } from '../chat.ts';
import { ChatError } from '../errors.ts';
import type { Part } from '../message.ts';
import type { Model } from '../models/model.ts';
import { askNow, confirmNow } from '../person/person.ts';
import { wrapped } from '../terminal/prose.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { TurnView } from '../terminal/turn-view.ts';
import type { TurnEvent } from '../turn/turn-event.ts';

/** What a command works with. */
export interface Console {
  readonly chat: Chat;
  readonly terminal: Terminal;
  /** The last turn as it was shown. */
  readonly view: () => TurnView | undefined;
  thoughts: boolean;
}

/** What is to be done after a command; nothing, when it has done all. */
export type After =
  | undefined
  | {
      readonly next: 'send';
      readonly text: string;
      readonly more?: readonly Part[];
      /** For this message only. */
      readonly model?: Model;
    }
  /** Runs the turn on what the session holds. */
  | { readonly next: 'run'; readonly model?: Model }
  /** Calls that the session was left in come first. */
  | { readonly next: 'resume' }
  | { readonly next: 'show'; events(signal: AbortSignal): AsyncGenerator<TurnEvent, unknown> }
  | { readonly next: 'leave' };

/** Text is printed. */
type Result = After | string;

export interface Command {
  /** Without the slash. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** What follows the name: `[name]`, `list | add DIR`. */
  readonly usage?: string;
  /** One line. */
  readonly help: string;
  /** It makes a message of its arguments: of them, what was pasted is still `inert`. */
  readonly sends?: true;
  /** Words that may come next, given all before the one being typed. */
  complete?(console: Console, words: readonly string[]): readonly string[] | Promise<readonly string[]>;
  /** Throws ChatError USAGE for what it does not understand. */
  run(console: Console, args: string): Result | Promise<Result>;
}

/** A command that was not understood: what was wrong and how it is written. */
export const wrongUse = (text: string): ChatError => new ChatError('USAGE', text);

/** The words of what follows a command. */
export const wordsOf = (args: string): string[] => args.split(/\s+/).filter((word) => word !== '');

/** Prose in rows that end between words; to a pipe as it is. */
export const prose = ({ screen, width }: Terminal, text: string): string =>
  screen ? wrapped(text, width) : text;

/** Whether the person says yes. */
export const confirmed = async ({ terminal }: Console, line: string): Promise<boolean> =>
  (await confirmNow(terminal, `${line} `)) === true;

export const asked = ({ terminal }: Console, line: string): Promise<string | undefined> =>
  askNow(terminal, { line, words: (value) => ({ value }) });
