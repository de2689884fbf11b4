import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';
import type { Interface, Key } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { inert } from '../text/inert.ts';
import { completed, inColumns } from './completion.ts';
import type { Complete } from './completion.ts';
import { continued, isUnfinished, meant, vertically } from './multi-line.ts';
import { openPastes, pasteFilter, typable } from './paste.ts';

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

export interface EditorOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** Oldest first; looked at whenever a key asks for it. */
  readonly history: readonly string[];
  readonly complete: Complete;
  entered(line: Entered): void;
  /** Ctrl-C with nothing to clear, Escape, Shift+Tab, Ctrl-Z, Ctrl-D in an empty line. */
  pressed(key: 'ctrl_c' | 'escape' | 'mode' | 'suspend' | 'end'): void;
  /** No more input will come. */
  closed(): void;
}

/** A line that can be edited also while it is not shown. */
export interface LineEditor {
  readonly shown: boolean;
  show(prompt: string): void;
  /** Takes prompt and line off the screen. What is typed is still kept. */
  hide(): void;
  /** Leaves prompt and line where they are, begins a new row below, and an empty line. */
  leave(): void;
  /** Edits something else, and returns what was edited. */
  swap(draft: Draft): Draft;
  /** Puts text before what is being edited. */
  insert(text: string): void;
  /** Lets another program have what is typed. */
  pause(): void;
  resume(): void;
  close(): void;
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

export function openLineEditor(options: EditorOptions): LineEditor {
  const { input, output, history } = options;
  const pastes = openPastes();
  const filter = pasteFilter((text, cut) => pastes.collapse(inert(text), cut));
  const gate = new Gate(output);
  // The filter has no setRawMode: readline would end raw mode when it is closed or suspended, behind the back of
  // `modes`.
  const rl = createInterface({
    input: filter,
    output: gate,
    terminal: true,
    historySize: 0,
    escapeCodeTimeout: escapeMs,
    tabSize: 8,
  }) as unknown as Readline;
  let kind: Draft['kind'] = 'message';
  /** Where in the history the line comes from, and what was there before. */
  let recalled: { at: number; draft: string } | undefined;
  let lastKey = '';

  const set = (line: string, cursor = line.length) => {
    rl.line = line;
    rl.cursor = cursor;
    rl._refreshLine();
  };
  const hide = () => {
    if (gate.open) {
      moveCursor(gate, 0, -rl.getCursorPos().rows);
      cursorTo(gate, 0);
      clearScreenDown(gate);
    }
    gate.open = false;
  };
  const show = () => {
    gate.open = true;
    rl.prevRows = 0;
    rl._refreshLine();
  };

  /** One entry back (-1) or forth in the history: those that begin with what was typed. */
  const recall = (step: 1 | -1) => {
    const { at, draft } = recalled ?? { at: history.length, draft: rl.line };
    let next = at + step;
    while (history[next] !== undefined && (!history[next]?.startsWith(draft) || history[next] === rl.line))
      next += step;
    if (next < 0 || next > history.length) return;
    const entry = history[next];
    recalled = entry === undefined ? undefined : { at: next, draft };
    // More rows than the screen has cannot be edited: the cursor does not get to the first.
    const fits = (entry?.split('\n').length ?? 0) < output.rows - 1;
    set(entry === undefined ? draft : fits ? entry : pastes.collapse(entry));
  };
  const upOrDown = (step: 1 | -1) => {
    if (kind === 'answer') return;
    const cursor = vertically(rl.line, rl.cursor, step);
    if (cursor === undefined) recall(step);
    else set(rl.line, cursor);
  };
  const tab = async (again: boolean) => {
    const { line, cursor } = rl;
    const { from, candidates } = await options.complete(line, cursor);
    if (!gate.open || rl.line !== line || rl.cursor !== cursor) return;
    const { insert, list } = completed(line.slice(from, cursor), candidates);
    if (insert !== undefined) set(line.slice(0, from) + insert + line.slice(cursor), from + insert.length);
    if (list === undefined || !again) return;
    hide();
    output.write(`${inColumns(list, output.columns)}\n`);
    show();
  };
  const backspace = () => {
    const tag = pastes.tagAtEnd(rl.line.slice(0, rl.cursor));
    if (tag === undefined) return false;
    const start = rl.cursor - tag.length;
    set(rl.line.slice(0, start) + rl.line.slice(rl.cursor), start);
    return true;
  };
  const enter = () => {
    if (kind === 'answer' || !isUnfinished(rl.line)) return false;
    set(continued(rl.line));
    return true;
  };

  /** Does what a key means here; false when it is left to readline. */
  const handled = (name: string): boolean => {
    if (name !== 'up' && name !== 'down') recalled = undefined;
    switch (name) {
      case 'ctrl+c':
        if (gate.open && rl.line !== '') set('');
        else options.pressed('ctrl_c');
        return true;
      case 'ctrl+d':
        if (rl.line !== '') return false;
        if (gate.open) options.pressed('end');
        return true;
      case 'ctrl+z':
        options.pressed('suspend');
        return true;
      case 'escape':
        options.pressed('escape');
        return true;
      case 'shift+tab':
        options.pressed('mode');
        return true;
      case 'tab':
        // Completion is a convenience: a folder that cannot be read offers nothing.
        if (gate.open) void tab(lastKey === 'tab').catch(() => undefined);
        return true;
      case 'newline':
        if (kind === 'message') rl._insertString('\n');
        return true;
      case 'up':
      case 'down':
        upOrDown(name === 'up' ? -1 : 1);
        return true;
      case 'backspace':
        return backspace();
      case 'enter':
        return enter();
      default:
        return false;
    }
  };

  const edit = rl._ttyWrite.bind(rl);
  rl._ttyWrite = (typed, key) => {
    // Without this, readline puts all but the last character that arrive together at the end of the line.
    rl.isCompletionEnabled = true;
    const name = nameOf(key);
    if (!handled(name)) edit(typed, key);
    lastKey = name;
  };
  rl.on('line', (line: string) => {
    gate.open = false;
    const text = kind === 'message' ? meant(line) : line;
    options.entered({ text: pastes.expand(typable(text)), shown: typable(line) });
  });
  rl.on('close', () => {
    gate.open = false;
    options.closed();
  });
  const resized = () => {
    // Some terminals have wrapped the rows anew, some have cut them. Rows too few leave a rest, too many erase output.
    rl.prevRows = Math.min(rl.prevRows, rl.getCursorPos().rows);
    gate.emit('resize');
  };
  output.on('resize', resized);
  input.pipe(filter);

  return {
    get shown() {
      return gate.open;
    },
    show(prompt) {
      rl.setPrompt(prompt);
      show();
    },
    hide,
    leave() {
      rl.cursor = rl.line.length;
      rl._refreshLine();
      gate.write('\n');
      gate.open = false;
      rl.line = '';
      rl.cursor = 0;
    },
    swap(draft) {
      const before = { line: rl.line, cursor: rl.cursor, kind };
      ({ kind } = draft);
      recalled = undefined;
      rl.line = draft.line;
      rl.cursor = draft.cursor;
      return before;
    },
    insert(text) {
      if (text === '') return;
      const line = typable(text);
      const after = rl.line === '' ? '' : `\n${rl.line}`;
      set((line.split('\n').length < output.rows - 1 ? line : pastes.collapse(pastes.expand(line))) + after);
    },
    pause() {
      input.unpipe(filter);
      input.pause();
    },
    resume() {
      input.pipe(filter);
    },
    close() {
      output.removeListener('resize', resized);
      input.unpipe(filter).pause();
      rl.close();
      filter.destroy();
    },
  };
}

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
  const modifiers = `${key.ctrl ? 'ctrl+' : ''}${key.meta ? 'meta+' : ''}${key.shift && key.name === 'tab' ? 'shift+' : ''}`;
  return `${modifiers}${key.name ?? ''}`;
}
