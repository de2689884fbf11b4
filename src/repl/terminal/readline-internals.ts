import { createInterface, type Interface, type Key } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { readlineOptions, type EditableReadline, type EditableReadlineOptions } from './editable-readline.ts';

/**
 * The undocumented parts of readline that the line editor is built on, and nothing outside this file knows.
 * Node has had them since it has readline, and may take them away in any version: `hasReadlineInternals`
 * tries them out, and documented-readline.ts does without.
 */
type ReadlineInternals = Omit<Interface, 'line' | 'cursor'> & {
  /** Documented to be read only. */
  line: string;
  cursor: number;
  /**
   * Rows between the first one of the prompt and that of the cursor, as they were last drawn; set by drawing.
   */
  prevRows: number | undefined;
  isCompletionEnabled: boolean;
  /** Takes each key. */
  _ttyWrite(typed: string | undefined, key: Key): void;
  _insertString(text: string): void;
  /** Draws prompt and line anew. */
  _refreshLine(): void;
};

/** Opens an editable readline where `hasReadlineInternals`. */
export function openInternalReadline(options: EditableReadlineOptions): EditableReadline {
  const rl = createInterface({
    input: process.stdin,
    ...readlineOptions(options),
  }) as unknown as ReadlineInternals;
  // It tells of errors of its input, too, which mean that the window is gone.
  rl.on('error', () => undefined);
  const edit = rl._ttyWrite.bind(rl);
  rl._ttyWrite = (typed, key) => {
    // Without this, readline puts all but the last character that arrive together at the end of the line.
    rl.isCompletionEnabled = true;
    if (!options.takeKey(typed, key)) edit(typed, key);
  };
  return {
    holdsLineEnds: true,
    get line() {
      return rl.line;
    },
    get cursor() {
      return rl.cursor;
    },
    cursorRow: () => rl.getCursorPos().rows,
    replace(line, cursor) {
      rl.line = line;
      rl.cursor = cursor;
      rl._refreshLine();
    },
    insert: (text) => rl._insertString(text),
    draw(prompt) {
      options.output.open = true;
      rl.setPrompt(prompt);
      rl.prevRows = 0;
      rl._refreshLine();
    },
    resized() {
      // Some terminals have wrapped the rows anew, some have cut them.
      rl.prevRows = Math.min(rl.prevRows ?? 0, rl.getCursorPos().rows);
      options.output.emit('resize');
    },
    on(event: string, listener: (line: string) => void) {
      rl.on(event, listener);
    },
    close: () => rl.close(),
  };
}

/**
 * Tries all of it out, on a readline that nobody sees: a name that is still there may no longer mean the
 * same.
 */
export function hasReadlineInternals(): boolean {
  const input = new PassThrough();
  const output = new NarrowOutput();
  const rl = createInterface({
    input,
    output,
    terminal: true,
    historySize: 0,
  }) as unknown as ReadlineInternals;
  try {
    let key: string | undefined;
    rl._ttyWrite = (typed) => {
      key = typed;
    };
    input.emit('keypress', 'x', { name: 'x', sequence: 'x' });
    rl._insertString('ab');
    const isInserted = rl.line === 'ab' && rl.cursor === 2;
    // With its prompt, two rows.
    rl.line = 'abcdefghij';
    rl.cursor = rl.line.length;
    rl._refreshLine();
    const isDrawn = output.text.includes(rl.line) && rl.prevRows === 1 && rl.getCursorPos().rows === 1;
    return key === 'x' && isInserted && isDrawn;
  } catch {
    // One of them is gone.
    return false;
  } finally {
    rl.close();
  }
}

/** A terminal of ten columns that keeps what is drawn. */
class NarrowOutput extends Writable {
  readonly columns = 10;
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
