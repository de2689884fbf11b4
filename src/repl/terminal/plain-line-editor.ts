import { createInterface, type Interface } from 'node:readline';
import { typable } from './paste.ts';
import type { LineEditor, LineEditorOptions } from './line-editor.ts';

/** The lines of an input that nobody edits, as they come: there is no terminal, and no prompt. */
export class PlainLineEditor implements LineEditor {
  readonly shown = false;
  readonly holdsLineEnds = false;
  readonly #rl: Interface;

  constructor({ entered, closed }: LineEditorOptions) {
    this.#rl = createInterface({ input: process.stdin, terminal: false });
    this.#rl.on('line', (line: string) => entered({ text: typable(line), shown: typable(line) }));
    this.#rl.on('close', closed);
    // It tells of errors of its input, too, behind which nothing more comes.
    this.#rl.on('error', () => undefined);
  }

  show(): void {}

  hide(): void {}

  leave(): void {}

  answer(): () => void {
    return () => {};
  }

  insert(): void {}

  pause(): void {
    process.stdin.pause();
  }

  resume(): void {
    process.stdin.resume();
  }

  close(): void {
    this.#rl.close();
  }
}
