import type { Chat } from '../chat.ts';
import { ChatError } from '../errors.ts';
import type { Model } from '../models/model.ts';
import { runInTerminal } from '../files/program.ts';
import { editText } from '../terminal/editor.ts';
import { wrapped } from '../terminal/prose.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { TurnView } from '../terminal/turn-view.ts';
import { send, type Said } from '../turn/send.ts';
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
  /** `model`: for this only. */
  | {
      readonly next: 'show';
      readonly model?: Model;
      events(signal: AbortSignal): AsyncGenerator<TurnEvent, unknown>;
    }
  /** Calls that the session was left in come first. */
  | { readonly next: 'resume' }
  | { readonly next: 'leave' };

/** Says something to the model. */
export const sending = (chat: Chat, said: Said, model?: Model): After => ({
  next: 'show',
  ...(model && { model }),
  events: (signal) => send(chat, said, signal),
});

/** What a command returns for arguments that are none of its usage. */
export const misused = Symbol('misused');

/** Text is printed. */
export type Result = After | string | typeof misused;

export interface Command {
  /** What follows the name: `[add DIR | remove DIR]`. Its words are completed, and told to who uses others. */
  readonly usage?: string;
  /** One line. */
  readonly help: string;
  /** It makes a message of its arguments: of them, what was pasted is still `inert`. */
  readonly sends?: true;
  /** Words that may come next besides those of `usage`, given all before the one being typed. */
  complete?(console: Console, words: readonly string[]): readonly string[] | Promise<readonly string[]>;
  /** Throws ChatError USAGE for what it does not understand. */
  run(console: Console, args: string): Result | Promise<Result>;
}

/** By name, without the slash. */
export type Commands = Readonly<Record<string, Command>>;

/** What may follow the name of a command. */
export const waysOf = ({ usage = '' }: Command): string[] => usage.replaceAll(/^\[|\]$/g, '').split(' | ');

/** A command that was not understood: what was wrong and how it is written. */
export const wrongUse = (text: string): ChatError => new ChatError('USAGE', text);

/** The first word, and what follows it. */
export function headAndRest(args: string): [head: string, rest: string] {
  const [, head = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(args) ?? [];
  return [head, rest];
}

/** Prose in rows that end between words; to a pipe as it is. */
export const prose = ({ screen, width }: Terminal, text: string): string =>
  screen ? wrapped(text, width) : text;

/** What the person makes of a text in their editor; undefined when they leave it with an error. */
export const editedBy = ({ chat, terminal }: Console, text: string): Promise<string | undefined> =>
  terminal.handOver(() => editText(text, chat.world.options.env, runInTerminal));
