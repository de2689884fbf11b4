import type { Draft, InputOptions, LineInput } from './line-input.ts';

/** Lines of a pipe or a file, and of a terminal that understands no escape sequence and edits the line itself. */
export class PlainInput implements LineInput {
  shown = false;
  readonly #options: InputOptions;
  #reading = false;
  /** The beginning of a line whose end has not come. */
  #begun = '';

  constructor(options: InputOptions) {
    this.#options = options;
  }

  show(prompt: string): void {
    const { interactive, output, input } = this.#options;
    if (interactive) output.write(prompt);
    this.shown = true;
    // Input is read from when somebody wants a line: before, it may be somebody else's.
    if (!this.#reading) input.setEncoding('utf8').on('data', this.#take).on('end', this.#end);
    this.#reading = true;
  }

  hide(): void {
    if (this.shown && this.#options.interactive) this.#options.output.write('\n');
    this.shown = false;
  }

  leave(): void {
    this.hide();
  }

  swap(draft: Draft): Draft {
    return draft;
  }

  insert(): boolean {
    return false;
  }

  pause(): void {
    this.#options.input.pause();
  }

  resume(): void {
    if (this.#reading) this.#options.input.resume();
  }

  close(): void {
    this.#options.input.removeListener('data', this.#take).removeListener('end', this.#end).pause();
  }

  /** Not with readline: that of Node 26 ends lines at U+2028, too. */
  readonly #take = (text: string): void => {
    const lines = `${this.#begun}${text}`.split(/\r?\n/);
    this.#begun = lines.pop() ?? '';
    for (const line of lines) this.#enter(line);
  };

  readonly #end = (): void => {
    if (this.#begun !== '') this.#enter(this.#begun);
    this.shown = false;
    this.#options.closed();
  };

  #enter(line: string): void {
    // The terminal has shown the line end that was typed.
    this.shown = false;
    this.#options.entered({ text: line, shown: line });
  }
}
