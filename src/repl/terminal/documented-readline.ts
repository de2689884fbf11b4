import { createInterface, emitKeypressEvents, type Interface, type Key } from 'node:readline';
import { PassThrough } from 'node:stream';
import { readlineOptions, type EditableReadline, type EditableReadlineOptions } from './editable-readline.ts';

/** Opens an editable readline by nothing but what Node documents. */
export const openDocumentedReadline = (options: EditableReadlineOptions): EditableReadline =>
  new DocumentedReadline(options);

/**
 * A readline without an input of its own: it is given the keys that are left to it, and others as if they
 * were typed. Its line has no line ends: they would be Enter.
 */
class DocumentedReadline implements EditableReadline {
  readonly holdsLineEnds = false;
  readonly #options: EditableReadlineOptions;
  readonly #rl: Interface;
  #isClosed = false;
  /** The width of the window for which it has drawn. */
  #columns = process.stdout.columns;

  constructor(options: EditableReadlineOptions) {
    this.#options = options;
    this.#rl = createInterface({ input: new PassThrough(), ...readlineOptions(options) });
    this.#rl.on('close', () => {
      this.#isClosed = true;
      process.stdin.off('keypress', this.#listen).off('end', this.close).pause();
    });
    emitKeypressEvents(process.stdin, this.#rl);
    process.stdin.on('keypress', this.#listen).on('end', this.close);
  }

  get line(): string {
    return this.#rl.line;
  }

  get cursor(): number {
    return this.#rl.cursor;
  }

  cursorRow(): number {
    return this.#rl.getCursorPos().rows;
  }

  replace(line: string, cursor: number): void {
    if (this.#isClosed) return;
    this.#rl.write(null, { ctrl: true, name: 'e' });
    this.#rl.write(null, { ctrl: true, name: 'u' });
    this.#rl.write(onOneLine(line));
    this.#goTo(cursor);
  }

  insert(text: string): void {
    this.#rl.write(onOneLine(text));
  }

  draw(prompt: string): void {
    if (this.#isClosed) return;
    const { cursor } = this.#rl;
    // It goes up as many rows as it drew the last time: with no prompt and the cursor in front, none.
    this.#rl.setPrompt('');
    this.#drawUnseen(false);
    this.#rl.setPrompt(prompt);
    this.#options.output.open = true;
    this.#rl.prompt();
    this.#goTo(cursor);
  }

  resized(): void {
    if (this.#isClosed) return;
    // In a wider window fewer rows are above the cursor.
    if (process.stdout.columns > this.#columns) this.#drawUnseen(true);
    this.#columns = process.stdout.columns;
    this.#rl.prompt(true);
  }

  on(event: string, listener: (line: string) => void): void {
    this.#rl.on(event, listener);
  }

  readonly close = (): void => this.#rl.close();

  readonly #listen = (typed: string | undefined, key: Key): void => {
    // While several keys arrive together, readline puts text at the end of the line, and completes nothing.
    queueMicrotask(() => this.#press(typed, key));
  };

  #press(typed: string | undefined, key: Key): void {
    if (this.#isClosed || this.#options.takeKey(typed, key)) return;
    const isText = typed !== undefined && key.meta !== true && !/\p{Cc}/u.test(typed);
    if (isText) this.#rl.write(typed);
    else this.#rl.write(null, key);
  }

  #goTo(cursor: number): void {
    this.#rl.write(null, { ctrl: true, name: 'e' });
    while (this.#rl.cursor > cursor) this.#rl.write(null, { name: 'left' });
  }

  #drawUnseen(keepsCursor: boolean): void {
    const { output } = this.#options;
    const { open } = output;
    output.open = false;
    this.#rl.prompt(keepsCursor);
    output.open = open;
  }
}

const onOneLine = (text: string): string => text.replace(/[\n\u2028\u2029]/g, ' ');
