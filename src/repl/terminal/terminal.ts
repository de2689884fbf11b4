import { setImmediate as turn } from 'node:timers/promises';
import type { CompleterResult } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { live } from '../text/inert.ts';
import type { History } from './history.ts';
import { LineEditor, type Entered, type PressedKey } from './line-editor.ts';
import type { Paint } from './paint.ts';
import { painted } from './printable.ts';
import { wrapped } from './prose.ts';
import { Screen } from './screen.ts';

export interface TerminalOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly env: NodeJS.ProcessEnv;
  readonly paint: Paint;
  readonly history: History;
  complete(line: string): Promise<CompleterResult>;
  /** While something is under way: each Ctrl-C, and an Escape by itself. */
  onInterrupt(kind: 'ctrl_c' | 'escape'): void;
  /** Shift+Tab, at the prompt or while something is under way. */
  onModeKey(): void;
  /** A line entered while something is under way: whether it was dealt with at once, instead of being queued. */
  whileBusy(line: string): boolean;
}

/** What a text of the person stands for. */
export type Read<T> = { readonly value: T } | { readonly problem: string };

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

/** Within this time a second Ctrl-C at an empty prompt leaves. */
const againMs = 2000;

/**
 * The person's side. While nobody waits for a line, what is typed is kept and not shown, and output never moves the
 * cursor. Where there is no terminal on both sides, or one that obeys nothing, lines are plain.
 */
export class Terminal {
  /** Standard input and output are both terminals that obey escape sequences: questions can be asked. */
  readonly interactive: boolean;
  /** What is written is seen on a screen; else it is a pipe or a file. */
  readonly screen: boolean;
  readonly paint: Paint;
  readonly #options: TerminalOptions;
  readonly #screen: Screen;
  readonly #editor: LineEditor;
  readonly #queue: Entered[] = [];
  #notices: string[] = [];
  #ended = false;
  #waiting: { prompt: string; resolve(line: string | undefined): void } | undefined;
  #question: { readonly prompt: string; answer(text: string | undefined): void } | undefined;
  /** The question before: one is asked after the other. */
  #asked: Promise<unknown> = Promise.resolve();
  #interruptedAt = -Infinity;
  #handedOver = false;

  constructor(options: TerminalOptions) {
    const { input, output, paint, env, history } = options;
    this.#options = options;
    this.paint = paint;
    // Streams that are no terminals do not have the property.
    this.interactive = Boolean(input.isTTY && output.isTTY) && env['TERM'] !== 'dumb';
    this.screen = Boolean(output.isTTY);
    this.#screen = new Screen(
      output,
      paint,
      () => this.interactive && !this.#editor.shown && !this.#handedOver,
    );
    this.#editor = new LineEditor({
      input,
      output,
      edits: this.interactive,
      history: history.entries,
      complete: (line) => options.complete(line),
      entered: (line) => this.#entered(line),
      pressed: (key) => this.#pressed(key),
      resumed: () => this.#showPrompt(),
      closed: () => {
        this.#ended = true;
        this.#question?.answer(undefined);
        this.#settle(undefined);
      },
    });
  }

  get width(): number {
    return this.#screen.width;
  }

  get height(): number {
    return this.#screen.height;
  }

  /** Takes away the lines that were entered while nobody waited for one, as they stood there. */
  takeQueued(): string[] {
    this.#notices = [];
    return this.interactive ? this.#queue.splice(0).map((line) => line.shown) : [];
  }

  /** Prints whole lines; above the prompt when one is shown, with what is being typed left as it is. */
  print(text: string): void {
    this.#screen.still();
    const { shown } = this.#editor;
    this.#editor.hide();
    this.#screen.putLines(text);
    this.#putNotices();
    if (shown) this.#showPrompt();
  }

  /** Prints what is neither an answer nor asked for: where there is no screen, on the standard error. */
  note(text: string): void {
    if (this.screen) this.print(wrapped(text, this.width));
    else process.stderr.write(painted(`${text}\n`));
  }

  /** Prints streamed text as it is, without a line end. */
  write(text: string): void {
    if (this.#editor.shown) return this.print(text);
    this.#screen.still();
    const lineEnd = this.#notices.length > 0 ? text.indexOf('\n') + 1 : 0;
    this.#screen.put(text.slice(0, lineEnd));
    if (lineEnd > 0) this.#putNotices();
    this.#screen.put(text.slice(lineEnd));
  }

  /**
   * Shows the prompt and waits for a line (of several lines, when they were entered so). Undefined at the end of
   * input. What was pasted is `inert`.
   */
  async readLine(prompt: string): Promise<string | undefined> {
    this.#screen.still();
    const next = this.#queue.shift();
    if (next) {
      this.#notices = [];
      if (this.interactive) this.#screen.putLines(`${prompt}${next.shown}`);
      return next.text;
    }
    if (this.#ended) return undefined;
    return new Promise((resolve) => {
      this.#waiting = { prompt, resolve };
      this.#showPrompt();
    });
  }

  /** Asks until there is an answer, once no other question is asked. Undefined when the person gives none. */
  ask<T>(question: Question<T>): Promise<T | undefined> {
    const answer = this.#asked.then(() => this.#ask(question));
    this.#asked = answer.catch(() => undefined);
    return answer;
  }

  /** Asks for yes or no; undefined when it was interrupted. */
  confirm = (line: string, more: Partial<Question<boolean>> = {}): Promise<boolean | undefined> =>
    this.ask<boolean>({
      line: `${line} [y]es [n]o`,
      keys: { y: true, yes: true, n: false, no: false },
      words: () => ({ problem: 'y or n' }),
      ...more,
    });

  /** Shows that something is under way, until `write`, `print` or `idle`. Nothing is shown for `patienceMs`. */
  working(what: string, patienceMs?: number): void {
    if (!this.#editor.shown) this.#screen.spin(what, patienceMs);
  }

  idle(): void {
    this.#screen.still();
  }

  /** Puts text into the line that is edited next. */
  prefill(text: string): void {
    if (text !== '' && this.interactive) this.#editor.insert(text);
  }

  /** Changes the prompt that is shown, or that is shown again after a question. */
  reprompt(prompt: string): void {
    if (this.#waiting) this.#waiting.prompt = prompt;
    if (!this.#editor.shown) return;
    this.#editor.hide();
    this.#showPrompt();
  }

  /** Lets another program use the terminal while `work` is under way. */
  async handOver<T>(work: () => Promise<T>): Promise<T> {
    this.#screen.still();
    this.#editor.hide();
    this.#handedOver = true;
    this.#editor.pause();
    // Ctrl-C is meant for that program, and comes to all that share the terminal.
    const ignore = () => undefined;
    process.on('SIGINT', ignore);
    try {
      return await work();
    } finally {
      process.removeListener('SIGINT', ignore);
      this.#editor.resume();
      this.#handedOver = false;
      this.#screen.atLineStart = true;
      this.#showPrompt();
    }
  }

  /** Ends raw mode and bracketed paste; what is printed afterwards is plain. */
  close(): void {
    if (this.#editor.shown) this.#editor.leave();
    this.#screen.still();
    this.#editor.close();
  }

  async #ask<T>({ above = [], line, keys = {}, words, whole, signal }: Question<T>): Promise<T | undefined> {
    if (signal?.aborted) return undefined;
    if (above.length > 0) this.print(above.join('\n'));
    for (;;) {
      const said = (await this.#answerTo(line, signal))?.trim();
      if (said === undefined || signal?.aborted) return undefined;
      const key = said.toLowerCase();
      if (Object.hasOwn(keys, key)) return keys[key];
      if (whole && said.startsWith('/')) {
        this.print(said === '/show' ? whole().join('\n') : 'Only /show is a command here.');
        continue;
      }
      const read = await words(said);
      if ('value' in read) return read.value;
      this.print(this.paint.bad(read.problem));
    }
  }

  /** The line that is typed; what was typed before it was shown is no answer. Undefined when it was interrupted. */
  async #answerTo(line: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    this.#screen.still();
    // Two turns of the event loop: what has been typed by now has been read then, and belongs to the line put aside.
    await turn();
    await turn();
    if (!this.interactive || this.#ended || signal?.aborted) return undefined;
    this.#editor.hide();
    const draft = this.#editor.swap({ line: '', cursor: 0, kind: 'answer' });
    // readline would break the last row anywhere.
    const lines = wrapped(line, this.width - 1).split('\n');
    // What is typed stands apart from what was asked.
    const prompt = lines.pop()?.replace(/\S$/, '$& ') ?? '';
    if (lines.length > 0) this.#screen.putLines(lines.join('\n'));
    return new Promise((resolve) => {
      const withdraw = () => this.#question?.answer(undefined);
      signal?.addEventListener('abort', withdraw);
      this.#question = {
        prompt,
        answer: (answer) => {
          signal?.removeEventListener('abort', withdraw);
          if (this.#editor.shown) this.#editor.leave();
          this.#question = undefined;
          this.#editor.swap(draft);
          this.#showPrompt();
          resolve(answer);
        },
      };
      this.#showPrompt();
    });
  }

  #putNotices(): void {
    for (const notice of this.#notices) this.#screen.put(`${this.paint.dim(`queued: ${notice}`)}\n`);
    this.#notices = [];
  }

  #showPrompt(): void {
    const prompt = this.#question?.prompt ?? this.#waiting?.prompt;
    if (prompt === undefined || this.#handedOver || this.#ended) return;
    this.#screen.newRow();
    this.#editor.show(painted(prompt));
  }

  /** Ends waiting for a line; what is typed from now on is for the next one. */
  #settle(line: string | undefined): void {
    const { resolve } = this.#waiting ?? {};
    this.#waiting = undefined;
    resolve?.(line);
  }

  #leave(): void {
    this.#editor.leave();
    this.#settle(undefined);
  }

  #entered(line: Entered): void {
    if (this.#question) return this.#question.answer(live(line.text));
    if (!this.interactive && !this.#waiting) return void this.#queue.push(line);
    if (line.text.trim() === '' && !this.#waiting) return;
    if (this.interactive) this.#options.history.add(line.text);
    if (this.#waiting) return this.#settle(line.text);
    if (this.#options.whileBusy(line.text)) return;
    this.#queue.push(line);
    this.#notices.push(line.shown.replaceAll('\n', ' '));
    if (!this.#screen.atLineStart) return;
    this.#screen.clear();
    this.#putNotices();
  }

  #pressed(key: PressedKey): void {
    if (key === 'ctrl_c') this.#interrupted();
    else if (key === 'suspend') {
      this.#screen.clear();
      this.#editor.hide();
    } else if (this.#question) {
      if (key !== 'mode') this.#question.answer(undefined);
    } else if (key === 'mode') this.#options.onModeKey();
    else if (key === 'end') this.#leave();
    else if (!this.#waiting) this.#options.onInterrupt('escape');
  }

  #interrupted(): void {
    const asked = this.#question;
    asked?.answer(undefined);
    if (!this.#waiting) return this.#options.onInterrupt('ctrl_c');
    // Also when what asked is no turn, and asks again each time.
    const now = performance.now();
    const again = now - this.#interruptedAt < againMs;
    this.#interruptedAt = now;
    if (again) this.#leave();
    else if (!asked) this.print(this.paint.dim('Press Ctrl-C again to leave.'));
  }
}
