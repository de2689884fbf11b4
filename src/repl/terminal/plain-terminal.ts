import { againMs, againText, type OpenTerminal, type TerminalOptions } from './options.ts';
import { painted } from './printable.ts';
import type { Paint } from './terminal.ts';

/**
 * A terminal without escape sequences: pipes and files, where nothing is shown but what is printed, and terminals that
 * understand none (`TERM=dumb`), which edit the line themselves.
 */
export class PlainTerminal implements OpenTerminal {
  readonly interactive: boolean;
  readonly screen: boolean;
  readonly paint: Paint;
  private readonly options: TerminalOptions;
  private readonly lines: string[] = [];
  private reading = false;
  /** The beginning of a line whose end has not come. */
  private begun = '';
  private ended = false;
  private atLineStart = true;
  /** The prompt or the question that stands there. */
  private shown:
    | { prompt: string; readonly question: boolean; resolve(line: string | undefined): void }
    | undefined;
  private asking: Promise<unknown> = Promise.resolve();
  private interruptedAt = -Infinity;

  constructor(options: TerminalOptions, interactive: boolean) {
    this.options = options;
    this.interactive = interactive;
    this.screen = Boolean(options.output.isTTY);
    this.paint = options.paint;
    if (interactive) process.on('SIGINT', this.interrupted);
  }

  get width(): number {
    return this.options.output.columns ?? 80;
  }

  get height(): number {
    return this.options.output.rows ?? 24;
  }

  get queued(): readonly string[] {
    // Lines of a pipe are not entered early, they are there.
    return this.interactive ? [...this.lines] : [];
  }

  print(text: string): void {
    if (!this.atLineStart) this.write('\n');
    this.write(text.endsWith('\n') ? text : `${text}\n`);
    this.putPrompt();
  }

  note(text: string): void {
    if (this.screen) this.print(text);
    else process.stderr.write(painted(`${text}\n`));
  }

  write(given: string): void {
    const text = painted(given);
    if (text === '') return;
    this.options.output.write(text);
    this.atLineStart = text.endsWith('\n');
  }

  async readLine(prompt: string): Promise<string | undefined> {
    await this.asking;
    return this.lines.shift() ?? (this.ended ? undefined : await this.wait(prompt, false));
  }

  ask(question: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<string | undefined> {
    const answer = this.asking.then(() =>
      this.interactive && !this.ended && !signal?.aborted
        ? this.wait(question.replace(/\S$/, '$& '), true, signal)
        : undefined,
    );
    this.asking = answer;
    return answer;
  }

  working(): void {}
  idle(): void {}

  takeQueued(): string[] {
    return this.interactive ? this.lines.splice(0) : [];
  }

  /** There is no line that could be edited: the person sees what to enter again. */
  prefill(text: string): void {
    if (text !== '') this.print(text);
  }

  reprompt(prompt: string): void {
    if (this.shown && !this.shown.question) this.shown.prompt = prompt;
  }

  handOver<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  close(): void {
    process.removeListener('SIGINT', this.interrupted);
    this.options.input.removeListener('data', this.take).removeListener('end', this.end).pause();
  }

  private putPrompt(): void {
    if (!this.interactive || !this.shown) return;
    if (!this.atLineStart) this.write('\n');
    this.write(this.shown.prompt);
  }

  private settle(line: string | undefined): void {
    const { resolve } = this.shown ?? {};
    this.shown = undefined;
    // The terminal has shown the line end that was typed.
    if (line !== undefined) this.atLineStart = true;
    resolve?.(line);
  }

  private entered(line: string): void {
    if (this.shown) this.settle(line);
    else if (!this.interactive || !this.options.whileBusy?.(line)) this.lines.push(line);
  }

  /** Not with readline: that of Node 26 ends lines at U+2028, too. */
  private readonly take = (text: string): void => {
    const parts = `${this.begun}${text}`.split(/\r?\n/);
    this.begun = parts.pop() ?? '';
    for (const part of parts) this.entered(part);
  };

  private readonly end = (): void => {
    if (this.begun !== '') this.entered(this.begun);
    this.ended = true;
    this.settle(undefined);
  };

  /** Input is read from when somebody wants a line: before, it may be somebody else's. */
  private read(): void {
    if (!this.reading) this.options.input.setEncoding('utf8').on('data', this.take).on('end', this.end);
    this.reading = true;
  }

  private wait(prompt: string, question: boolean, signal?: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      const before = this.shown;
      const withdraw = () => this.settle(undefined);
      signal?.addEventListener('abort', withdraw);
      const answered = (line: string | undefined) => {
        signal?.removeEventListener('abort', withdraw);
        this.shown = before;
        this.putPrompt();
        resolve(line);
      };
      this.shown = { prompt, question, resolve: answered };
      this.putPrompt();
      this.read();
    });
  }

  private readonly interrupted = (): void => {
    const asked = this.shown?.question === true;
    if (asked) this.settle(undefined);
    if (!this.shown) return this.options.onInterrupt('ctrl_c');
    // Also when what asked is no turn, and asks again each time.
    const again = performance.now() - this.interruptedAt < againMs;
    this.interruptedAt = performance.now();
    if (asked && !again) return;
    this.write('\n');
    if (again) this.settle(undefined);
    else this.print(againText);
  };
}
