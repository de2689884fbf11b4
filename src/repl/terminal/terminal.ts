import { setImmediate as turn } from 'node:timers/promises';
import { live } from '../text/inert.ts';
import { LineEditor } from './line-editor.ts';
import type { Entered, InputOptions, LineInput, PressedKey } from './line-input.ts';
import type { TerminalOptions } from './options.ts';
import type { Paint } from './paint.ts';
import { PlainInput } from './plain-input.ts';
import { painted } from './printable.ts';
import { wrapped } from './prose.ts';
import { Rows } from './rows.ts';
import { Spinner } from './spinner.ts';

/** Within this time a second Ctrl-C at an empty prompt leaves. */
const againMs = 2000;

/**
 * The person's side. While nobody waits for a line, what is typed is kept and not shown, and output never moves the
 * cursor. Where there is no terminal on both sides, or one that understands nothing else, lines are plain, without a
 * single escape sequence.
 */
export class Terminal {
  /** Standard input and output are both terminals: questions can be asked. */
  readonly interactive: boolean;
  /** What is written is seen on a screen; else it is a pipe or a file. */
  readonly screen: boolean;
  readonly paint: Paint;
  readonly #options: TerminalOptions;
  readonly #rows: Rows;
  readonly #input: LineInput;
  readonly #spinner: Spinner;
  readonly #queue: Entered[] = [];
  #notices: string[] = [];
  #ended = false;
  #waiting: { prompt: string; resolve(line: string | undefined): void } | undefined;
  #question: { readonly prompt: string; answer(text: string | undefined): void } | undefined;
  #asking: Promise<unknown> = Promise.resolve();
  #interruptedAt = -Infinity;
  #handedOver = false;

  constructor(options: TerminalOptions) {
    const { input, output, paint, env } = options;
    this.#options = options;
    this.#rows = new Rows(output);
    this.paint = paint;
    // Streams that are no terminals do not have the property.
    this.interactive = Boolean(input.isTTY && output.isTTY);
    this.screen = Boolean(output.isTTY);
    const edits = this.interactive && env['TERM'] !== 'dumb';
    this.#spinner = new Spinner(output, paint, () => {
      if (!edits || this.#input.shown || this.#handedOver) return undefined;
      return this.#rows.atLineStart ? 0 : this.#rows.column;
    });
    this.#input = edits ? new LineEditor(this.#events()) : new PlainInput(this.#events());
    if (this.interactive) process.on('SIGINT', this.#interrupted);
  }

  get width(): number {
    return this.#rows.width;
  }

  get height(): number {
    return this.#rows.height;
  }

  /** Lines that were entered while nobody was waiting for one. Those of a pipe are not early, they are there. */
  get queued(): readonly string[] {
    return this.interactive ? this.#queue.map((line) => line.text) : [];
  }

  /** Takes the queued lines away and gives them back, as they stood there. */
  takeQueued(): string[] {
    this.#notices = [];
    return this.interactive ? this.#queue.splice(0).map((line) => line.shown) : [];
  }

  /** Prints whole lines; above the prompt when one is shown, with what is being typed left as it is. */
  print(text: string): void {
    this.#spinner.stop();
    const { shown } = this.#input;
    this.#input.hide();
    this.#rows.putLines(text);
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
    if (this.#input.shown) return this.print(text);
    this.#spinner.stop();
    const lineEnd = this.#notices.length > 0 ? text.indexOf('\n') + 1 : 0;
    this.#rows.put(text.slice(0, lineEnd));
    if (lineEnd > 0) this.#putNotices();
    this.#rows.put(text.slice(lineEnd));
  }

  /**
   * Shows the prompt and waits for a line (of several lines, when they were entered so). Undefined at the end of
   * input. What was pasted is `inert`.
   */
  async readLine(prompt: string): Promise<string | undefined> {
    await this.#asking;
    this.#spinner.stop();
    const next = this.#queue.shift();
    if (next) {
      this.#notices = [];
      if (this.interactive) this.#rows.putLines(`${prompt}${next.shown}`);
      return next.text;
    }
    if (this.#ended) return undefined;
    return new Promise((resolve) => {
      this.#waiting = { prompt, resolve };
      this.#showPrompt();
    });
  }

  /**
   * Asks one question; `signal` takes it back. What was typed before it was shown is no answer. Undefined when it
   * was interrupted.
   */
  ask(text: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<string | undefined> {
    const answer = this.#asking.then(() => this.#askNow(text, signal));
    this.#asking = answer;
    return answer;
  }

  /** Shows that something is under way, until `write`, `print` or `idle`. Nothing is shown for `patienceMs`. */
  working(what: string, patienceMs?: number): void {
    if (!this.#input.shown) this.#spinner.start(what, patienceMs);
  }

  idle(): void {
    this.#spinner.stop();
  }

  /** Puts text into the line that is edited next; where none can be, the person sees what to enter again. */
  prefill(text: string): void {
    if (text !== '' && !this.#input.insert(text)) this.print(text);
  }

  /** Changes the prompt that is shown, or that is shown again after a question. */
  reprompt(prompt: string): void {
    if (this.#waiting) this.#waiting.prompt = prompt;
    if (!this.#input.shown) return;
    this.#input.hide();
    this.#showPrompt();
  }

  /** Lets another program use the terminal while `work` is under way. */
  async handOver<T>(work: () => Promise<T>): Promise<T> {
    this.#spinner.stop();
    this.#input.hide();
    this.#handedOver = true;
    this.#input.pause();
    try {
      return await work();
    } finally {
      this.#input.resume();
      this.#handedOver = false;
      this.#rows.atLineStart = true;
      this.#showPrompt();
    }
  }

  /** Ends raw mode and bracketed paste; what is printed afterwards is plain. */
  close(): void {
    if (this.#input.shown) this.#input.leave();
    this.#spinner.stop();
    process.removeListener('SIGINT', this.#interrupted);
    this.#input.close();
  }

  #events(): InputOptions {
    const { input, output, history, complete } = this.#options;
    return {
      input,
      output,
      interactive: this.interactive,
      history: history.entries,
      complete,
      entered: (line) => this.#entered(line),
      pressed: (key) => this.#pressed(key),
      resumed: () => this.#showPrompt(),
      closed: () => {
        this.#ended = true;
        this.#question?.answer(undefined);
        this.#settle(undefined);
      },
    };
  }

  #putNotices(): void {
    for (const notice of this.#notices) this.#rows.put(`${this.paint.dim(`queued: ${notice}`)}\n`);
    this.#notices = [];
  }

  #showPrompt(): void {
    const prompt = this.#question?.prompt ?? this.#waiting?.prompt;
    if (prompt === undefined || this.#handedOver || this.#ended) return;
    this.#rows.newRow();
    this.#input.show(painted(prompt));
  }

  /** Ends waiting for a line; what is typed from now on is for the next one. */
  #settle(line: string | undefined): void {
    const { resolve } = this.#waiting ?? {};
    this.#waiting = undefined;
    resolve?.(line);
  }

  #leave(): void {
    this.#input.leave();
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
    if (!this.#rows.atLineStart) return;
    this.#spinner.clear();
    this.#putNotices();
  }

  #pressed(key: PressedKey): void {
    switch (key) {
      case 'ctrl_c':
        return this.#interrupted();
      case 'suspend':
        this.#spinner.clear();
        return this.#input.hide();
      case 'end':
        return this.#question ? this.#question.answer(undefined) : this.#leave();
      case 'mode':
        return this.#question ? undefined : this.#options.onModeKey();
      case 'escape':
        if (this.#question) this.#question.answer(undefined);
        else if (!this.#waiting) this.#options.onInterrupt('escape');
    }
  }

  /** Ctrl-C: a key in raw mode, else a signal. */
  readonly #interrupted = (): void => {
    // An editor that has the terminal gets the same signal, and it is meant for it.
    if (this.#handedOver) return;
    const asked = this.#question;
    asked?.answer(undefined);
    if (!this.#waiting) return this.#options.onInterrupt('ctrl_c');
    // Also when what asked is no turn, and asks again each time.
    const now = performance.now();
    const again = now - this.#interruptedAt < againMs;
    this.#interruptedAt = now;
    if (again) this.#leave();
    else if (!asked) this.print(this.paint.dim('Press Ctrl-C again to leave.'));
  };

  async #askNow(text: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    this.#spinner.stop();
    // Two turns of the event loop: what has been typed by now has been read then, and belongs to the line put aside.
    await turn();
    await turn();
    if (!this.interactive || this.#ended || signal?.aborted) return undefined;
    this.#input.hide();
    const draft = this.#input.swap({ line: '', cursor: 0, kind: 'answer' });
    // readline would break the last row anywhere.
    const lines = wrapped(text, this.width - 1).split('\n');
    // What is typed stands apart from what was asked.
    const prompt = lines.pop()?.replace(/\S$/, '$& ') ?? '';
    if (lines.length > 0) this.#rows.putLines(lines.join('\n'));
    return new Promise((resolve) => {
      const withdraw = () => this.#question?.answer(undefined);
      signal?.addEventListener('abort', withdraw);
      this.#question = {
        prompt,
        answer: (answer) => {
          signal?.removeEventListener('abort', withdraw);
          if (this.#input.shown) this.#input.leave();
          this.#question = undefined;
          this.#input.swap(draft);
          this.#showPrompt();
          resolve(answer);
        },
      };
      this.#showPrompt();
    });
  }
}
