import {
  clearScreenDown,
  createInterface,
  cursorTo,
  moveCursor,
  type Interface,
  type Key,
} from 'node:readline';
import { keyName, MutableOutput, type LineEditor, type LineEditorOptions } from './line-editor.ts';
import { inert, typable } from './paste.ts';
import { RawMode } from './raw-mode.ts';

/**
 * A line editor made of nothing but what readline documents: typing, moving, the history of what was entered,
 * Ctrl-C, Enter. It reads lines where there is no terminal, and stands in where Node has no readline that the
 * full one could be built on. Lost there are messages of several lines, completion with Tab, and pastes as
 * one mark: each line of a paste is a message. So nobody can tell what was pasted, and no `@` names a file.
 * Ctrl-D leaves as soon as it can.
 */
export class PlainLineEditor implements LineEditor {
  readonly #options: LineEditorOptions;
  readonly #output = new MutableOutput();
  readonly #rl: Interface;
  #isAnswer = false;
  #isClosed = false;
  readonly #mode: RawMode | undefined;

  constructor(options: LineEditorOptions) {
    this.#options = options;
    const { edits, history } = options;
    this.#rl = createInterface({
      input: process.stdin,
      output: this.#output,
      terminal: edits,
      escapeCodeTimeout: 50,
      ...(edits
        ? { history: history.filter((entry) => !entry.includes('\n')).toReversed() }
        : { historySize: 0 }),
    });
    this.#rl.on('line', (line: string) => {
      this.#output.open = false;
      const text = typable(line);
      options.entered({ text: edits ? inert(text) : text, shown: text });
    });
    this.#rl.on('close', () => {
      this.#isClosed = true;
      this.#output.open = false;
      options.closed();
    });
    // It tells of errors of its input, too, which mean that the window is gone.
    this.#rl.on('error', () => undefined);
    if (!edits) return;
    this.#mode = new RawMode();
    this.#handleKeys();
  }

  get shown(): boolean {
    return this.#output.open;
  }

  show(prompt: string): void {
    if (!this.#options.edits || this.#isClosed) return;
    // Drawn without a prompt and with nothing in it first: readline goes up as many rows as it drew the last
    // time.
    const { line, cursor } = this.#rl;
    this.#rl.setPrompt('');
    this.#type('', 0);
    this.#output.open = true;
    this.#rl.setPrompt(prompt);
    this.#rl.prompt();
    this.#type(line, cursor);
  }

  hide(): void {
    if (!this.#output.open) return;
    moveCursor(this.#output, 0, -this.#rl.getCursorPos().rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
    this.#output.open = false;
  }

  leave(): void {
    if (this.#options.edits && !this.#isClosed) this.#rl.write(null, { name: 'end' });
    this.#output.write('\n');
    this.#output.open = false;
    this.#type('', 0);
  }

  answer(): () => void {
    const { line, cursor } = this.#rl;
    this.#isAnswer = true;
    this.#type('', 0);
    return () => {
      this.#isAnswer = false;
      this.#type(line, cursor);
    };
  }

  insert(text: string): void {
    const { line } = this.#rl;
    const before = typable(text).replaceAll('\n', ' ');
    const whole = line === '' ? before : `${before} ${line}`;
    this.#type(whole, whole.length);
  }

  pause(): void {
    process.stdin.pause();
    this.#mode?.set(false);
  }

  resume(): void {
    this.#mode?.set(true);
    process.stdin.resume();
  }

  close(): void {
    this.#rl.close();
    this.#mode?.set(false);
  }

  #handleKeys(): void {
    const { pressed, resumed } = this.#options;
    this.#rl.on('SIGINT', () => {
      if (this.shown && this.#rl.line !== '') this.#type('', 0);
      else pressed('ctrl+c');
    });
    this.#rl.on('SIGTSTP', () => {
      pressed('ctrl+z');
      this.#mode?.suspend(resumed);
    });
    // An answer is no message that could be sent again.
    this.#rl.on('history', (entries: string[]) => {
      if (this.#isAnswer) entries.shift();
    });
    process.stdin.on('keypress', (_typed, key: Key) => {
      const name = keyName(key);
      if (name === 'escape' || name === 'shift+tab') pressed(name);
    });
    process.stdout.on('resize', () => this.#output.emit('resize'));
  }

  /** Types a line in the place of what is there, and goes to a column of it, by keys alone. */
  #type(line: string, cursor: number): void {
    if (this.#isClosed || !this.#options.edits) return;
    this.#rl.write(null, { ctrl: true, name: 'e' });
    this.#rl.write(null, { ctrl: true, name: 'u' });
    if (line === '') return;
    this.#rl.write(line);
    while (this.#rl.cursor > cursor) this.#rl.write(null, { name: 'left' });
  }
}
