import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';
import type { Interface, Key } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { inert } from '../text/inert.ts';
import { completed, inColumns } from './completion.ts';
import type { Complete } from './completion.ts';
import { continued, isUnfinished, meant, vertically } from './multi-line.ts';
import { openPastes, pasteFilter, typable, type Pastes } from './paste.ts';

/** A line as it was meant, and as it stood there: with pastes collapsed. Of both, what was pasted is `inert`. */
export interface Entered {
  readonly text: string;
  readonly shown: string;
}

/** What is being edited: a message, or the answer to a question, which is one line and has no history. */
export interface Draft {
  readonly line: string;
  readonly cursor: number;
  readonly kind: 'message' | 'answer';
}

/** Ctrl-C with nothing to clear, Escape, Shift+Tab, Ctrl-Z, Ctrl-D in an empty line. */
export type PressedKey = 'ctrl_c' | 'escape' | 'mode' | 'suspend' | 'end';

export interface EditorOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** Oldest first; looked at whenever a key asks for it. */
  readonly history: readonly string[];
  readonly complete: Complete;
  entered(line: Entered): void;
  pressed(key: PressedKey): void;
  /** No more input will come. */
  closed(): void;
}

/** What readline has had since it was written, and does not document. */
type Readline = Omit<Interface, 'line' | 'cursor'> & {
  line: string;
  cursor: number;
  prevRows: number;
  isCompletionEnabled: boolean;
  _ttyWrite(typed: string | undefined, key: Key): void;
  _insertString(text: string): void;
  _refreshLine(): void;
};

/** How long an Escape may be the beginning of a longer sequence. */
const escapeMs = 50;

/** A line that can be edited also while it is not shown. */
export class LineEditor {
  private readonly options: EditorOptions;
  private readonly pastes: Pastes = openPastes();
  private readonly filter = pasteFilter((text, cut) => this.pastes.collapse(inert(text), cut));
  private readonly gate: Gate;
  private readonly rl: Readline;
  private kind: Draft['kind'] = 'message';
  /** Where in the history the line comes from, and what was there before. */
  private recalled: { at: number; draft: string } | undefined;
  private lastKey = '';

  constructor(options: EditorOptions) {
    this.options = options;
    this.gate = new Gate(options.output);
    // The filter has no setRawMode: readline would end raw mode when it is closed or suspended, behind the back of
    // `modes`.
    this.rl = createInterface({
      input: this.filter,
      output: this.gate,
      terminal: true,
      historySize: 0,
      escapeCodeTimeout: escapeMs,
      tabSize: 8,
    }) as unknown as Readline;
    const { rl } = this;
    const edit = rl._ttyWrite.bind(rl);
    rl._ttyWrite = (typed, key) => {
      // Without this, readline puts all but the last character that arrive together at the end of the line.
      rl.isCompletionEnabled = true;
      const name = nameOf(key);
      if (!this.handled(name)) edit(typed, key);
      this.lastKey = name;
    };
    rl.on('line', (line: string) => {
      this.gate.open = false;
      const text = this.kind === 'message' ? meant(line) : line;
      options.entered({ text: this.pastes.expand(typable(text)), shown: typable(line) });
    });
    rl.on('close', () => {
      this.gate.open = false;
      options.closed();
    });
    options.output.on('resize', this.resized);
    options.input.pipe(this.filter);
  }

  get shown(): boolean {
    return this.gate.open;
  }

  show(prompt: string): void {
    this.rl.setPrompt(prompt);
    this.draw();
  }

  /** Takes prompt and line off the screen. What is typed is still kept. */
  hide(): void {
    if (this.gate.open) {
      moveCursor(this.gate, 0, -this.rl.getCursorPos().rows);
      cursorTo(this.gate, 0);
      clearScreenDown(this.gate);
    }
    this.gate.open = false;
  }

  /** Leaves prompt and line where they are, begins a new row below, and an empty line. */
  leave(): void {
    const { rl } = this;
    rl.cursor = rl.line.length;
    rl._refreshLine();
    this.gate.write('\n');
    this.gate.open = false;
    rl.line = '';
    rl.cursor = 0;
  }

  /** Edits something else, and returns what was edited. */
  swap(draft: Draft): Draft {
    const { line, cursor } = this.rl;
    const before = { line, cursor, kind: this.kind };
    this.kind = draft.kind;
    this.recalled = undefined;
    this.rl.line = draft.line;
    this.rl.cursor = draft.cursor;
    return before;
  }

  /** Puts text before what is being edited. */
  insert(text: string): void {
    if (text === '') return;
    const line = typable(text);
    const after = this.rl.line === '' ? '' : `\n${this.rl.line}`;
    this.set((this.fits(line) ? line : this.pastes.collapse(this.pastes.expand(line))) + after);
  }

  /** Lets another program have what is typed. */
  pause(): void {
    this.options.input.unpipe(this.filter);
    this.options.input.pause();
  }

  resume(): void {
    this.options.input.pipe(this.filter);
  }

  close(): void {
    this.options.output.removeListener('resize', this.resized);
    this.options.input.unpipe(this.filter).pause();
    this.rl.close();
    this.filter.destroy();
  }

  private draw(): void {
    this.gate.open = true;
    this.rl.prevRows = 0;
    this.rl._refreshLine();
  }

  private set(line: string, cursor = line.length): void {
    this.rl.line = line;
    this.rl.cursor = cursor;
    this.rl._refreshLine();
  }

  /** More rows than the screen has cannot be edited: the cursor does not get to the first. */
  private fits(text: string): boolean {
    return text.split('\n').length < this.options.output.rows - 1;
  }

  private readonly resized = (): void => {
    const { rl } = this;
    // Some terminals have wrapped the rows anew, some have cut them. Rows too few leave a rest, too many erase output.
    rl.prevRows = Math.min(rl.prevRows, rl.getCursorPos().rows);
    this.gate.emit('resize');
  };

  /** Does what a key means here; false when it is left to readline. */
  private handled(name: string): boolean {
    const { rl, options, gate } = this;
    if (name !== 'up' && name !== 'down') this.recalled = undefined;
    const pressed = pressedKeys[name];
    if (name === 'ctrl+c' && gate.open && rl.line !== '') this.set('');
    else if (name === 'ctrl+d' && rl.line !== '') return false;
    else if (pressed && (pressed !== 'end' || gate.open)) options.pressed(pressed);
    // Completion is a convenience: a folder that cannot be read offers nothing.
    else if (name === 'tab' && gate.open) void this.tab(this.lastKey === 'tab').catch(() => undefined);
    else if (name === 'newline' && this.kind === 'message') rl._insertString('\n');
    else if (name === 'up' || name === 'down') this.upOrDown(name === 'up' ? -1 : 1);
    else if (name === 'backspace') return this.backspace();
    else if (name === 'enter') return this.enter();
    else return ['tab', 'newline'].includes(name) || pressed !== undefined;
    return true;
  }

  /** One entry back (-1) or forth in the history: those that begin with what was typed. */
  private recall(step: 1 | -1): void {
    const { history } = this.options;
    const { line } = this.rl;
    const { at, draft } = this.recalled ?? { at: history.length, draft: line };
    let next = at + step;
    while (history[next] !== undefined && (!history[next]?.startsWith(draft) || history[next] === line))
      next += step;
    if (next < 0 || next > history.length) return;
    const entry = history[next];
    this.recalled = entry === undefined ? undefined : { at: next, draft };
    this.set(entry === undefined ? draft : this.fits(entry) ? entry : this.pastes.collapse(entry));
  }

  private upOrDown(step: 1 | -1): void {
    if (this.kind === 'answer') return;
    const { line, cursor } = this.rl;
    const moved = vertically(line, cursor, step);
    if (moved === undefined) this.recall(step);
    else this.set(line, moved);
  }

  private async tab(again: boolean): Promise<void> {
    const { line, cursor } = this.rl;
    const { output, complete } = this.options;
    const { from, candidates } = await complete(line, cursor);
    if (!this.gate.open || this.rl.line !== line || this.rl.cursor !== cursor) return;
    const { insert, list } = completed(line.slice(from, cursor), candidates);
    if (insert !== undefined)
      this.set(line.slice(0, from) + insert + line.slice(cursor), from + insert.length);
    if (list === undefined || !again) return;
    this.hide();
    output.write(`${inColumns(list, output.columns)}\n`);
    this.draw();
  }

  private backspace(): boolean {
    const { line, cursor } = this.rl;
    const tag = this.pastes.tagAtEnd(line.slice(0, cursor));
    if (tag === undefined) return false;
    const start = cursor - tag.length;
    this.set(line.slice(0, start) + line.slice(cursor), start);
    return true;
  }

  private enter(): boolean {
    if (this.kind === 'answer' || !isUnfinished(this.rl.line)) return false;
    this.set(continued(this.rl.line));
    return true;
  }
}

const pressedKeys: Readonly<Record<string, PressedKey>> = {
  'ctrl+c': 'ctrl_c',
  'ctrl+d': 'end',
  'ctrl+z': 'suspend',
  escape: 'escape',
  'shift+tab': 'mode',
};

/** readline's view of the terminal: what it draws is dropped while nothing is to be shown. */
class Gate extends Writable {
  open = false;
  readonly #output: WriteStream;

  constructor(output: WriteStream) {
    super({ decodeStrings: false });
    this.#output = output;
  }

  get columns(): number {
    return this.#output.columns;
  }

  override _write(chunk: string, _encoding: BufferEncoding, done: () => void): void {
    if (this.open) this.#output.write(chunk);
    done();
  }
}

function nameOf(key: Key): string {
  const enter = key.name === 'return' || key.name === 'enter';
  // Shift+Enter of terminals that speak the kitty protocol.
  if ((enter && key.meta) || key.sequence === '\x1b[13;2u') return 'newline';
  if (enter) return 'enter';
  if (key.ctrl && (key.name === 'p' || key.name === 'n')) return key.name === 'p' ? 'up' : 'down';
  if (key.name === 'escape') return 'escape';
  const shift = key.shift && key.name === 'tab' ? 'shift+' : '';
  const modifiers = `${key.ctrl ? 'ctrl+' : ''}${key.meta ? 'meta+' : ''}${shift}`;
  return `${modifiers}${key.name ?? ''}`;
}
