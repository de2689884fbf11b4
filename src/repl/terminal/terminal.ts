import { setImmediate as turn } from 'node:timers/promises';
import type { CompleterResult } from 'node:readline';
import { live } from './paste.ts';
import type { InputHistory } from './history.ts';
import { FullLineEditor } from './full-line-editor.ts';
import type { EnteredLine, LineEditor, LineEditorOptions, PressedKey } from './line-editor.ts';
import { PlainLineEditor } from './plain-line-editor.ts';
import type { Paint } from './paint.ts';
import { painted } from './printable.ts';
import { wrapped } from './rows.ts';
import { answerOf, type UserQuestion } from './question.ts';
import { Screen } from './screen.ts';

/** The user of a terminal: it hears of keys, and completes lines. */
export interface InputHandler {
  complete(line: string): Promise<CompleterResult>;
  /**
   * While something is under way: each Ctrl-C, and an Escape by itself; `leaves`: the second Ctrl-C of two.
   */
  interrupt(leaves: boolean): void;
  /** Shift+Tab, at the prompt or while something is under way. */
  nextMode(): void;
  /** Takes a line that was entered while something is under way; false when it is to be queued. */
  whileBusy(line: string): boolean;
}

interface PendingLine {
  prompt: string;
  resolve(line: string | undefined): void;
}

/** Within this time a second Ctrl-C leaves. */
const againMs = 2000;

/**
 * The person's side. While nobody waits for a line, what is typed is kept and not shown, and output never
 * moves the cursor. Where there is no terminal on both sides, or one that obeys nothing, lines are plain.
 */
export class Terminal extends Screen {
  /** Standard input and output are both terminals that obey escape sequences: questions can be asked. */
  readonly interactive: boolean;
  /** True when what is written is seen on a screen; else it is a pipe or a file. */
  readonly screen: boolean;
  /** True when a message of several lines can be typed; else one can be pasted. */
  readonly editsSeveralLines: boolean;
  inputHandler: InputHandler | undefined;
  readonly #history: InputHistory;
  readonly #editor: LineEditor;
  readonly #queue: EnteredLine[] = [];
  #ended = false;
  /** The wait for a line, and for the answer to a question, which comes before it. */
  #waiting: PendingLine | undefined;
  #question: PendingLine | undefined;
  /** The question before: one is asked after the other. */
  #asked: Promise<unknown> = Promise.resolve();
  #interruptedAt = -Infinity;
  #handedOver = false;

  /** `isDumb`: it obeys no escape sequences. */
  constructor(paint: Paint, history: InputHistory, isDumb: boolean) {
    super(paint);
    this.#history = history;
    // Streams that are no terminals do not have the property.
    this.screen = Boolean(process.stdout.isTTY);
    this.interactive = Boolean(process.stdin.isTTY) && this.screen && !isDumb;
    const options: LineEditorOptions = {
      history: history.entries,
      complete: async (line) => this.inputHandler?.complete(line) ?? [[], line],
      entered: (line) => this.#entered(line),
      pressed: (key) => this.#pressed(key),
      resumed: () => this.#showPrompt(),
      closed: () => {
        this.#ended = true;
        this.#answer(undefined);
        this.#settle(undefined);
      },
    };
    this.#editor = this.interactive ? new FullLineEditor(options) : new PlainLineEditor(options);
    this.editsSeveralLines = this.#editor.holdsLineEnds;
  }

  /** Takes away the lines that were entered while nobody waited for one, as they stood there. */
  takeQueued(): string[] {
    this.notices = '';
    return this.interactive ? this.#queue.splice(0).map((line) => line.shown) : [];
  }

  /** Prints whole lines; above the prompt when one is shown, with what is being typed left as it is. */
  print(text: string): void {
    this.idle();
    const { shown } = this.#editor;
    this.#editor.hide();
    this.putLines(text);
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
    this.idle();
    this.put(text);
  }

  /**
   * Shows the prompt and waits for a line (of several lines, when they were entered so). Undefined at the end
   * of input. What was pasted is `inert`.
   */
  async readLine(prompt: string): Promise<string | undefined> {
    this.idle();
    const next = this.#queue.shift();
    if (next) {
      this.notices = '';
      if (this.interactive) this.putLines(`${prompt}${next.shown}`);
      return next.text;
    }
    if (this.#ended) return undefined;
    return new Promise((resolve) => {
      this.#waiting = { prompt, resolve };
      this.#showPrompt();
    });
  }

  /** Asks until there is an answer, once no other question is asked. Undefined when the person gives none. */
  ask<T>(question: UserQuestion<T>): Promise<T | undefined> {
    const answer = this.#asked.then(() =>
      answerOf(question, this, (line) => this.#answerTo(line, question.signal)),
    );
    this.#asked = answer.catch(() => undefined);
    return answer;
  }

  /** Asks for yes or no; undefined when it was interrupted. */
  confirm = (line: string, more: Partial<UserQuestion<boolean>> = {}): Promise<boolean | undefined> =>
    this.ask<boolean>({
      line: `${line} [y]es [n]o`,
      keys: { y: true, yes: true, n: false, no: false },
      words: () => ({ problem: 'y or n' }),
      ...more,
    });

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
    this.idle();
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
      this.atLineStart = true;
      this.#showPrompt();
    }
  }

  /** Ends raw mode and bracketed paste; what is printed afterwards is plain. */
  close(): void {
    if (this.#editor.shown) this.#editor.leave();
    this.idle();
    this.#editor.close();
  }

  /**
   * The line that is typed; what was typed before it was shown is no answer. Undefined when it was
   * interrupted.
   */
  async #answerTo(line: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    this.idle();
    // Two turns of the event loop: what has been typed by now has been read then, and belongs to the line put
    // aside.
    await turn();
    await turn();
    if (!this.interactive || this.#ended || signal?.aborted) return undefined;
    this.#editor.hide();
    const goBack = this.#editor.answer();
    // readline would break the last row anywhere.
    const lines = wrapped(line, this.width - 1).split('\n');
    // What is typed stands apart from what was asked.
    const prompt = lines.pop()?.replace(/\S$/, '$& ') ?? '';
    if (lines.length > 0) this.putLines(lines.join('\n'));
    return new Promise((resolve) => {
      const withdraw = () => this.#answer(undefined);
      signal?.addEventListener('abort', withdraw);
      this.#question = {
        prompt,
        resolve: (answer) => {
          signal?.removeEventListener('abort', withdraw);
          goBack();
          this.#showPrompt();
          resolve(answer);
        },
      };
      this.#showPrompt();
    });
  }

  /** Ends the question, if there is one. */
  #answer(text: string | undefined): void {
    const { resolve } = this.#question ?? {};
    if (resolve && this.#editor.shown) this.#editor.leave();
    this.#question = undefined;
    resolve?.(text);
  }

  protected mayDraw(): boolean {
    return this.interactive && !this.#editor.shown && !this.#handedOver;
  }

  #showPrompt(): void {
    const prompt = this.#question?.prompt ?? this.#waiting?.prompt;
    if (prompt === undefined || this.#handedOver || this.#ended) return;
    this.newRow();
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

  #entered(line: EnteredLine): void {
    if (this.#question) return this.#answer(live(line.text));
    if (!this.interactive && !this.#waiting) {
      this.#queue.push(line);
      return;
    }
    if (line.text.trim() === '' && !this.#waiting) return;
    if (this.interactive) this.#history.add(line.text);
    if (this.#waiting) return this.#settle(line.text);
    if (this.inputHandler?.whileBusy(line.text)) return;
    this.#queue.push(line);
    const notice = `${this.paint.dim(`queued: ${line.shown.replaceAll('\n', ' ')}`)}\n`;
    if (!this.atLineStart) {
      this.notices += notice;
      return;
    }
    this.clear();
    this.put(notice);
  }

  #pressed(key: PressedKey): void {
    if (key === 'ctrl+c') this.#interrupted();
    else if (key === 'ctrl+z') {
      this.clear();
      this.#editor.hide();
    } else if (this.#question) {
      if (key !== 'shift+tab') this.#answer(undefined);
    } else if (key === 'shift+tab') this.inputHandler?.nextMode();
    else if (key === 'ctrl+d') this.#leave();
    else if (!this.#waiting) {
      this.#interruptedAt = performance.now();
      this.inputHandler?.interrupt(false);
    }
  }

  #interrupted(): void {
    const asked = this.#question;
    this.#answer(undefined);
    const now = performance.now();
    const again = now - this.#interruptedAt < againMs;
    this.#interruptedAt = now;
    if (!this.#waiting) return this.inputHandler?.interrupt(again);
    // Also when what asked is no turn, and asks again each time.
    if (again) this.#leave();
    else if (!asked) this.print(this.paint.dim('Press Ctrl-C again to leave.'));
  }
}
