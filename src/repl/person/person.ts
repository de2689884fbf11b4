import type { Terminal } from '../terminal/terminal.ts';

type Read<T> = { readonly value: T } | { readonly problem: string };

/** One question, whoever asks it. */
export interface Question<T> {
  /** Printed above; not said again when the answer is none. */
  readonly above?: readonly string[];
  /** The line in which the answer is typed. */
  readonly line: string;
  /** What can be typed, and what it means. */
  readonly keys?: Readonly<Record<string, T>>;
  /** Reads other words. */
  words(said: string): Read<T> | Promise<Read<T>>;
  /** What `/show` prints. */
  whole?(): readonly string[];
  /** Takes the question back. */
  readonly signal?: AbortSignal;
}

/** Whoever sits before the terminal: asked one question at a time, also by what runs side by side. */
export class Person {
  readonly terminal: Terminal;
  #before: Promise<unknown> = Promise.resolve();

  constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  /** Does one thing after the other. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#before.then(work);
    this.#before = done.catch(() => undefined);
    return done;
  }

  ask = <T>(question: Question<T>): Promise<T | undefined> =>
    this.inTurn(() => askNow(this.terminal, question));

  /** Undefined when it was interrupted. */
  confirm = (line: string, signal?: AbortSignal): Promise<boolean | undefined> =>
    this.inTurn(() => confirmNow(this.terminal, `${line} `, signal));
}

/** Asks for yes or no: what was typed for something else is neither. */
export const confirmNow = (
  terminal: Terminal,
  line: string,
  signal?: AbortSignal,
): Promise<boolean | undefined> =>
  askNow<boolean>(terminal, {
    line: `${line}[y]es [n]o`,
    keys: { y: true, yes: true, n: false, no: false },
    words: () => ({ problem: 'y or n' }),
    ...(signal && { signal }),
  });

/** Asks until there is an answer; undefined when the person gives none. */
export async function askNow<T>(terminal: Terminal, question: Question<T>): Promise<T | undefined> {
  const { above = [], keys = {}, signal } = question;
  if (signal?.aborted) return undefined;
  if (above.length > 0) terminal.print(above.join('\n'));
  for (;;) {
    const said = await terminal.ask(question.line, signal);
    if (said === undefined || signal?.aborted) return undefined;
    const words = said.trim();
    const key = words.toLowerCase();
    if (Object.hasOwn(keys, key)) return keys[key];
    if (question.whole && words.startsWith('/')) {
      terminal.print(words === '/show' ? question.whole().join('\n') : 'Only /show is a command here.');
      continue;
    }
    const read = await question.words(words);
    if ('value' in read) return read.value;
    terminal.print(terminal.paint.bad(read.problem));
  }
}
