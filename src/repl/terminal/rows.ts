import type { WriteStream } from 'node:tty';
import { painted } from './printable.ts';
import { cells } from './width.ts';

/** What has been written, and where its last row ends. */
export class Rows {
  atLineStart = true;
  /** Where the row ends that is being written. */
  column = 0;
  readonly #output: WriteStream;

  constructor(output: WriteStream) {
    this.#output = output;
    output.on('error', (error: NodeJS.ErrnoException) => {
      // Whoever read it is gone: nothing is left to do, and nobody to tell.
      if (error.code === 'EPIPE') process.exit(0);
      if (error.code !== 'EIO') throw error;
      process.kill(process.pid, 'SIGHUP');
    });
  }

  get width(): number {
    return this.#output.columns ?? 80;
  }

  get height(): number {
    return this.#output.rows ?? 24;
  }

  put(given: string): void {
    const text = painted(given);
    if (text === '') return;
    this.#output.write(text);
    // Colours after the line end are no text.
    const rest = text.slice(text.lastIndexOf('\n') + 1).replace(/\x1b\[[0-9;]*m/g, '');
    const isNew = text.includes('\n');
    this.atLineStart = rest === '' && (this.atLineStart || isNew);
    this.column = (cells(rest) + (isNew ? 0 : this.column)) % this.width;
  }

  /** Whole lines, from the beginning of a row on. */
  putLines(text: string): void {
    this.newRow();
    this.put(text.endsWith('\n') ? text : `${text}\n`);
  }

  newRow(): void {
    if (!this.atLineStart) this.put('\n');
  }
}
