import { setImmediate as turn } from 'node:timers/promises';
import { live } from '../text/inert.ts';
import { LineEditor, type Draft, type Entered, type PressedKey } from './line-editor.ts';
import { Modes } from './modes.ts';
import { againMs, againText, type OpenTerminal, type TerminalOptions } from './options.ts';
import { PlainTerminal } from './plain-terminal.ts';
import { painted } from './printable.ts';
import { wrapped } from './prose.ts';
import { openSpinner, type Spinner } from './spinner.ts';
import type { Paint } from './terminal.ts';
import { cells } from './width.ts';

/**
 * The terminal of a person. While nobody waits for a line, what is typed is kept and not shown, and output never moves
 * the cursor. Anything but a terminal on both sides gets plain lines, without a single escape sequence.
 */
export function openTerminal(options: TerminalOptions): OpenTerminal {
  const { input, output } = options;
  output.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever read it is gone: nothing is left to do, and nobody to tell.
    if (error.code === 'EPIPE') process.exit(0);
    if (error.code !== 'EIO') throw error;
    process.kill(process.pid, 'SIGHUP');
  });
  // Streams that are no terminals do not have the property.
  const interactive = Boolean(input.isTTY && output.isTTY);
  if (!interactive || options.env['TERM'] === 'dumb') return new PlainTerminal(options, interactive);
  return new ScreenTerminal(options);
}

class ScreenTerminal implements OpenTerminal {
  readonly interactive = true;
  readonly screen = true;
  readonly paint: Paint;
  private readonly options: TerminalOptions;
  private readonly output: TerminalOptions['output'];
  private readonly editor: LineEditor;
  private readonly modes: Modes;
  private readonly spinner: Spinner;
  private readonly queue: Entered[] = [];
  private notices: string[] = [];
  private atLineStart = true;
  /** Where the row ends that is being written. */
  private column = 0;
  private ended = false;
  private waiting: { prompt: string; resolve(line: string | undefined): void } | undefined;
  private question: { readonly prompt: string; answer(text: string | undefined): void } | undefined;
  private asking: Promise<unknown> = Promise.resolve();
  private interruptedAt = -Infinity;
  private handedOver = false;

  constructor(options: TerminalOptions) {
    const { input, output, paint, history } = options;
    this.options = options;
    this.output = output;
    this.paint = paint;
    this.spinner = openSpinner(output, paint, () => {
      if (this.editor.shown || this.handedOver) return undefined;
      return this.atLineStart ? 0 : this.column;
    });
    this.editor = new LineEditor({
      input,
      output,
      history: history?.entries ?? [],
      complete: async (line, cursor) => {
        const found = this.question ? undefined : await options.complete?.(line, cursor);
        return found ?? { from: cursor, candidates: [] };
      },
      entered: (line) => this.entered(line),
      pressed: (key) => this.pressed(key),
      closed: () => {
        this.ended = true;
        this.question?.answer(undefined);
        this.settle(undefined);
      },
    });
    this.modes = new Modes(input, output, {
      resumed: () => this.showPrompt(),
      interrupted: () => this.ctrlC(),
    });
  }

  get width(): number {
    return this.output.columns;
  }

  get height(): number {
    return this.output.rows;
  }

  get queued(): readonly string[] {
    return this.queue.map((line) => line.text);
  }

  print(text: string): void {
    this.spinner.stop();
    const { shown } = this.editor;
    this.editor.hide();
    this.putLines(text);
    this.putNotices();
    if (shown) this.showPrompt();
  }

  note(text: string): void {
    this.print(wrapped(text, this.width));
  }

  write(text: string): void {
    if (this.editor.shown) return this.print(text);
    this.spinner.stop();
    const lineEnd = this.notices.length > 0 ? text.indexOf('\n') + 1 : 0;
    this.put(text.slice(0, lineEnd));
    if (lineEnd > 0) this.putNotices();
    this.put(text.slice(lineEnd));
  }

  async readLine(prompt: string): Promise<string | undefined> {
    await this.asking;
    this.spinner.stop();
    const next = this.queue.shift();
    if (next) {
      this.notices = [];
      this.putLines(`${prompt}${next.shown}`);
      return next.text;
    }
    if (this.ended) return undefined;
    return new Promise((resolve) => {
      this.waiting = { prompt, resolve };
      this.showPrompt();
    });
  }

  ask(text: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<string | undefined> {
    const answer = this.asking.then(() => this.askNow(text, signal));
    this.asking = answer;
    return answer;
  }

  working(what: string, patienceMs?: number): void {
    if (!this.editor.shown) this.spinner.start(what, patienceMs);
  }

  idle(): void {
    this.spinner.stop();
  }

  takeQueued(): string[] {
    this.notices = [];
    return this.queue.splice(0).map((line) => line.shown);
  }

  prefill(text: string): void {
    this.editor.insert(text);
  }

  reprompt(prompt: string): void {
    if (this.waiting) this.waiting.prompt = prompt;
    if (!this.editor.shown) return;
    this.editor.hide();
    this.showPrompt();
  }

  async handOver<T>(work: () => Promise<T>): Promise<T> {
    this.spinner.stop();
    this.editor.hide();
    this.handedOver = true;
    this.editor.pause();
    this.modes.off();
    try {
      return await work();
    } finally {
      this.modes.on();
      this.editor.resume();
      this.handedOver = false;
      this.atLineStart = true;
      this.showPrompt();
    }
  }

  close(): void {
    if (this.editor.shown) this.editor.leave();
    this.spinner.stop();
    this.editor.close();
    this.modes.release();
  }

  private put(given: string): void {
    const text = painted(given);
    if (text === '') return;
    this.output.write(text);
    // Colours after the line end are no text.
    const rest = text.slice(text.lastIndexOf('\n') + 1).replace(/\x1b\[[0-9;]*m/g, '');
    const isNew = text.includes('\n');
    this.atLineStart = rest === '' && (this.atLineStart || isNew);
    this.column = (cells(rest) + (isNew ? 0 : this.column)) % (this.width || 80);
  }

  private putLines(text: string): void {
    if (!this.atLineStart) this.put('\n');
    this.put(text.endsWith('\n') ? text : `${text}\n`);
  }

  private putNotices(): void {
    for (const notice of this.notices) this.put(`${this.paint.dim(`queued: ${notice}`)}\n`);
    this.notices = [];
  }

  private showPrompt(): void {
    const prompt = this.question?.prompt ?? this.waiting?.prompt;
    if (prompt === undefined || this.handedOver || this.ended) return;
    if (!this.atLineStart) this.put('\n');
    this.editor.show(painted(prompt));
  }

  /** Ends waiting for a line; what is typed from now on is for the next one. */
  private settle(line: string | undefined): void {
    const { resolve } = this.waiting ?? {};
    this.waiting = undefined;
    resolve?.(line);
  }

  private leave(): void {
    this.editor.leave();
    this.settle(undefined);
  }

  private entered(line: Entered): void {
    if (this.question) return this.question.answer(live(line.text));
    if (line.text.trim() === '' && !this.waiting) return;
    this.options.history?.add(line.text);
    if (this.waiting) return this.settle(line.text);
    if (this.options.whileBusy?.(line.text)) return;
    this.queue.push(line);
    this.notices.push(line.shown.replaceAll('\n', ' '));
    if (!this.atLineStart) return;
    this.spinner.clear();
    this.putNotices();
  }

  private pressed(key: PressedKey): void {
    switch (key) {
      case 'ctrl_c':
        return this.ctrlC();
      case 'suspend':
        this.spinner.clear();
        this.editor.hide();
        return this.modes.suspend();
      case 'end':
        return this.question ? this.question.answer(undefined) : this.leave();
      case 'mode':
        return this.question ? undefined : this.options.onModeKey();
      case 'escape':
        if (this.question) this.question.answer(undefined);
        else if (!this.waiting) this.options.onInterrupt('escape');
    }
  }

  private ctrlC(): void {
    const asked = this.question;
    asked?.answer(undefined);
    if (!this.waiting) return this.options.onInterrupt('ctrl_c');
    // Also when what asked is no turn, and asks again each time.
    const now = performance.now();
    const again = now - this.interruptedAt < againMs;
    this.interruptedAt = now;
    if (again) this.leave();
    else if (!asked) this.print(this.paint.dim(againText));
  }

  private async askNow(text: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    this.spinner.stop();
    // Two turns of the event loop: what has been typed by now has been read then, and belongs to the line put aside.
    await turn();
    await turn();
    if (this.ended || signal?.aborted) return undefined;
    this.editor.hide();
    const draft: Draft = this.editor.swap({ line: '', cursor: 0, kind: 'answer' });
    // readline would break the last row anywhere.
    const lines = wrapped(text, this.width - 1).split('\n');
    // What is typed stands apart from what was asked.
    const prompt = lines.pop()?.replace(/\S$/, '$& ') ?? '';
    if (lines.length > 0) this.putLines(lines.join('\n'));
    return new Promise((resolve) => {
      const withdraw = () => this.question?.answer(undefined);
      signal?.addEventListener('abort', withdraw);
      this.question = {
        prompt,
        answer: (answer) => {
          signal?.removeEventListener('abort', withdraw);
          if (this.editor.shown) this.editor.leave();
          this.question = undefined;
          this.editor.swap(draft);
          this.showPrompt();
          resolve(answer);
        },
      };
      this.showPrompt();
    });
  }
}
