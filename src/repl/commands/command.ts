import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Chat } from '../chat.ts';
import { ChatError } from '../errors.ts';
import { runInTerminal } from '../files/program.ts';
import type { Model } from '../models/model.ts';
import { wrapped } from '../terminal/rows.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { TurnEvent } from '../turn/turn-event.ts';

/** Starts a turn, whose events are shown until it ends. */
export type StartTurn = (signal: AbortSignal) => AsyncGenerator<TurnEvent, unknown>;

/** The chat and the screen that a command works with. */
export interface CommandContext {
  readonly chat: Chat;
  readonly terminal: Terminal;
  /** Thoughts are shown as they come. */
  thoughts: boolean;
  /** Runs a turn and shows it; `model`: for this only. */
  showTurn(start: StartTurn, model?: Model): Promise<void>;
  /** Makes the calls that a program which was killed has left open. */
  finish(): Promise<void>;
}

/** Returned by a command for arguments that are none of its usage. */
export const misused = Symbol('misused');
export const leaving = Symbol('leaving');

/** Text is printed. */
export type CommandResult = string | typeof misused | typeof leaving | void;

export interface SlashCommand {
  /**
   * The words that follow the name: `[add DIR | remove DIR]`. Its words are completed, and told to who uses
   * others.
   */
  readonly usage?: string;
  /** One line. */
  readonly help: string;
  /** True when it makes a message of its arguments: of them, what was pasted is still `inert`. */
  readonly sends?: true;
  /** Words that may come next besides those of `usage`, given all before the one being typed. */
  complete?(
    context: CommandContext,
    words: readonly string[],
  ): readonly string[] | Promise<readonly string[]>;
  /** Throws ChatError USAGE for what it does not understand. */
  run(context: CommandContext, args: string): CommandResult | Promise<CommandResult>;
}

/** Commands by name, without the slash. */
export type SlashCommands = Readonly<Record<string, SlashCommand>>;

/** Splits a usage into the alternatives that may follow the name of a command. */
export const waysOf = ({ usage = '' }: SlashCommand): string[] =>
  usage.replaceAll(/^\[|\]$/g, '').split(' | ');

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

/**
 * Lets the person edit a text in their editor: `$VISUAL`, `$EDITOR`, or the one that every system has.
 * Undefined when it ended with an error, which is how one says "no", or left no text. Throws PROGRAM_FAILED.
 */
export async function editedBy(
  { chat, terminal }: CommandContext,
  text: string,
): Promise<string | undefined> {
  const { env } = chat.environment.options;
  const editor = env['VISUAL'] || env['EDITOR'] || (process.platform === 'win32' ? 'notepad' : 'vi');
  // A command line in words, of which quotes keep spaces; no shell looks at it.
  const words = (editor.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );
  // Nobody else may look into this folder.
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-'));
  const file = join(folder, 'message.md');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    if (!(await terminal.handOver(() => runInTerminal([...words, file])))) return undefined;
    return readFileSync(file, 'utf8')
      .replace(/^\ufeff/, '')
      .replaceAll('\r\n', '\n')
      .replace(/\n+$/, '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).path === file) return undefined;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
