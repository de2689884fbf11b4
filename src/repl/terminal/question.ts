import type { Paint } from './paint.ts';

type ParsedAnswer<T> = { readonly value: T } | { readonly problem: string };

/** One question, whoever asks it. */
export interface UserQuestion<T> {
  /** Printed above; not said again when the answer is none. */
  readonly above?: readonly string[];
  /** The line in which the answer is typed. */
  readonly line: string;
  /** The words that can be typed, and what they mean. */
  readonly keys?: Readonly<Record<string, T>>;
  /** Reads other words. */
  words(said: string): ParsedAnswer<T> | Promise<ParsedAnswer<T>>;
  /** Returns the lines that `/show` prints. */
  whole?(): readonly string[];
  /** Takes the question back. */
  readonly signal?: AbortSignal;
}

/** Asks until there is an answer; `typed` returns a line of the person's. Undefined when they give none. */
export async function answerOf<T>(
  { above = [], line, keys = {}, words, whole, signal }: UserQuestion<T>,
  terminal: { readonly paint: Paint; print(text: string): void },
  typed: (line: string) => Promise<string | undefined>,
): Promise<T | undefined> {
  if (signal?.aborted) return undefined;
  if (above.length > 0) terminal.print(above.join('\n'));
  for (;;) {
    const said = (await typed(line))?.trim();
    if (said === undefined || signal?.aborted) return undefined;
    const key = said.toLowerCase();
    if (Object.hasOwn(keys, key)) return keys[key];
    const commands = whole !== undefined && said.startsWith('/');
    if (commands) terminal.print(said === '/show' ? whole().join('\n') : 'Only /show is a command here.');
    else {
      const read = await words(said);
      if ('value' in read) return read.value;
      terminal.print(terminal.paint.bad(read.problem));
    }
  }
}
