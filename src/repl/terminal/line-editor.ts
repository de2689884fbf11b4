import {
  clearScreenDown,
  createInterface,
  cursorTo,
  moveCursor,
  type CompleterResult,
  type Interface,
  type Key,
} from 'node:readline';
import { Writable } from 'node:stream';
import { inert, openPastes, typable } from './paste.ts';
import { printable } from './printable.ts';
import { RawMode } from './raw-mode.ts';

/** A line as it was meant, and as it stood there: with pastes collapsed. Of both, what was pasted is `inert`. */
export interface EnteredLine {
  readonly text: string;
  readonly shown: string;
}

/** Ctrl-C with nothing to clear, Ctrl-D in an empty line, and others that edit nothing. */
export type PressedKey = (typeof pressedKeys)[number];
const pressedKeys = ['ctrl+c', 'ctrl+d', 'ctrl+z', 'escape', 'shift+tab'] as const;

interface LineEditorOptions {
  /** Both are terminals that obey escape sequences; else lines are read as they come, without a prompt. */
  readonly edits: boolean;
  /** Oldest first. */
  readonly history: readonly string[];
  /** The candidates, and what of the line they stand for. */
  complete(line: string): Promise<CompleterResult>;
  entered(line: EnteredLine): void;
  pressed(key: PressedKey): void;
  /** The prompt is to be drawn again. */
  resumed(): void;
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

/** readline takes no keys while it waits for completions, Ctrl-C included. */
const completionMs = 1000;

/** readline's line, which can be edited also while it is not shown; with pastes as one mark, and several lines. */
export class LineEditor {
  readonly #options: LineEditorOptions;
  readonly #pastes = openPastes();
  readonly #gate = new Gate({ decodeStrings: false });
  readonly #rl: Readline;
  /** The answer to a question is one line and has no history. */
  #isAnswer = false;
  /** Where in the history the line comes from, and what was there before. */
  #recalled: { at: number; draft: string } | undefined;
  /** What has come of a paste: its line ends are no Enter. */
  #paste: string[] | undefined;
  #mode: RawMode | undefined;

  constructor(options: LineEditorOptions) {
    this.#options = options;
    this.#rl = createInterface({
      input: process.stdin,
      output: this.#gate,
      terminal: options.edits,
      historySize: 0,
      escapeCodeTimeout: 50,
      completer: async (line: string, done: (error: null, found: CompleterResult) => void) =>
        done(null, await this.#completions(line)),
    }) as unknown as Readline;
    this.#rl.on('line', (line: string) => {
      this.#gate.open = false;
      options.entered({ text: this.#pastes.expand(typable(line)), shown: typable(line) });
    });
    this.#rl.on('close', () => {
      this.#gate.open = false;
      options.closed();
    });
    // It tells of errors of its input, too, which mean that the window is gone.
    this.#rl.on('error', () => undefined);
    if (options.edits) this.#edit();
  }

  get shown(): boolean {
    return this.#gate.open;
  }

  show(prompt: string): void {
    if (!this.#options.edits) return;
    this.#gate.open = true;
    this.#rl.setPrompt(prompt);
    this.#rl.prevRows = 0;
    this.#rl._refreshLine();
  }

  /** Takes prompt and line off the screen. What is typed is still kept. */
  hide(): void {
    if (!this.#gate.open) return;
    moveCursor(this.#gate, 0, -this.#rl.getCursorPos().rows);
    cursorTo(this.#gate, 0);
    clearScreenDown(this.#gate);
    this.#gate.open = false;
  }

  /** Leaves prompt and line where they are, begins a new row below, and an empty line. */
  leave(): void {
    this.#set(this.#rl.line);
    this.#gate.write('\n');
    this.#gate.open = false;
    this.#set('');
  }

  /** Edits the answer to a question; returns what goes back to the message. */
  answer(): () => void {
    const message = { line: this.#rl.line, cursor: this.#rl.cursor };
    const edit = (isAnswer: boolean) => {
      this.#isAnswer = isAnswer;
      this.#recalled = undefined;
      Object.assign(this.#rl, isAnswer ? { line: '', cursor: 0 } : message);
    };
    edit(true);
    return () => edit(false);
  }

  /** Puts text before what is being edited. */
  insert(text: string): void {
    const after = this.#rl.line === '' ? '' : `\n${this.#rl.line}`;
    this.#set(this.#fitting(typable(text)) + after);
  }

  /** Lets another program have the terminal. */
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

  #edit(): void {
    const rl = this.#rl;
    const edit = rl._ttyWrite.bind(rl);
    rl._ttyWrite = (typed, key) => {
      // Without this, readline puts all but the last character that arrive together at the end of the line.
      rl.isCompletionEnabled = true;
      if (!this.#pasted(typed, key) && !this.#handled(nameOf(key))) edit(typed, key);
    };
    process.stdout.on('resize', () => {
      // Some terminals have wrapped the rows anew, some have cut them. Rows too many would erase output.
      rl.prevRows = Math.min(rl.prevRows, rl.getCursorPos().rows);
      this.#gate.emit('resize');
    });
    this.#mode = new RawMode();
  }

  #set(line: string, cursor = line.length): void {
    this.#rl.line = line;
    this.#rl.cursor = cursor;
    this.#rl._refreshLine();
  }

  /** More rows than the screen has cannot be edited: the cursor does not get to the first. */
  #fitting(text: string): string {
    const fits = text.split('\n').length < process.stdout.rows - 1;
    return fits ? text : this.#pastes.collapse(this.#pastes.expand(text));
  }

  /** Takes what is pasted; Ctrl-C ends a paste whose end was lost. */
  #pasted(typed: string | undefined, key: Key): boolean {
    if (!this.#paste) {
      if (key.name === 'paste-start') this.#paste = [];
      return key.name === 'paste-start';
    }
    if (key.name !== 'paste-end' && key.sequence !== '\x03') this.#paste.push(typed ?? key.sequence ?? '');
    else {
      this.#rl._insertString(this.#pastes.collapse(inert(this.#paste.join(''))));
      this.#paste = undefined;
    }
    return true;
  }

  /** Does what a key means here; false when it is left to readline. */
  #handled(name: string): boolean {
    const rl = this.#rl;
    const recalled = this.#recalled;
    this.#recalled = undefined;
    const pressed = pressedKeys.find((key) => key === name);
    if (name === 'ctrl+c' && this.shown && rl.line !== '') this.#set('');
    else if (name === 'ctrl+d' && (rl.line !== '' || !this.shown)) return rl.line === '';
    else if (pressed) {
      this.#options.pressed(pressed);
      if (pressed === 'ctrl+z') this.#mode?.suspend(this.#options.resumed);
    } else if (name === 'backspace') return this.#removeTag();
    else if (this.#isAnswer) return ['newline', 'up', 'down'].includes(name);
    else if (name === 'newline') rl._insertString('\n');
    else if (name === 'up' || name === 'down') this.#recall(name === 'up' ? -1 : 1, recalled);
    // A backslash at the end goes on with the next line; two of them are one that is meant.
    else if (name === 'enter' && /(?<!\\)(?:\\\\)*\\$/.test(rl.line)) this.#set(`${rl.line.slice(0, -1)}\n`);
    else return name === 'tab' && !this.shown;
    return true;
  }

  /** One entry back (-1) or forth in the history: those that begin with what was typed. */
  #recall(step: 1 | -1, from: { at: number; draft: string } | undefined): void {
    const { history } = this.#options;
    const { line } = this.#rl;
    const { at, draft } = from ?? { at: history.length, draft: line };
    let next = at + step;
    while (history[next] !== undefined && (!history[next]?.startsWith(draft) || history[next] === line))
      next += step;
    if (next < 0 || next > history.length) return void (this.#recalled = from);
    const entry = history[next];
    this.#recalled = entry === undefined ? undefined : { at: next, draft };
    this.#set(entry === undefined ? draft : this.#fitting(entry));
  }

  #removeTag(): boolean {
    const { line, cursor } = this.#rl;
    const tag = this.#pastes.tagAtEnd(line.slice(0, cursor));
    if (tag === undefined) return false;
    const start = cursor - tag.length;
    this.#set(line.slice(0, start) + line.slice(cursor), start);
    return true;
  }

  /** Completion is a convenience: what takes long, fails, or comes when the line is another one offers nothing. */
  async #completions(line: string): Promise<CompleterResult> {
    const none: CompleterResult = [[], line];
    if (this.#isAnswer) return none;
    const late = new Promise<CompleterResult>((resolve) => setTimeout(resolve, completionMs, none).unref());
    const [found, typed] = await Promise.race([this.#options.complete(line).catch(() => none), late]);
    if (!this.shown || this.#rl.line.slice(0, this.#rl.cursor) !== line) return none;
    // A file name may hold escape sequences: the terminal must not get them, and without them it is another file.
    return [found.filter((each) => printable(each) === each && !/[\n\t]/.test(each)), typed];
  }
}

function nameOf({ name = '', ctrl, meta, shift, sequence }: Key): string {
  const isEnter = name === 'return' || name === 'enter';
  // Shift+Enter of terminals that speak the kitty protocol.
  if ((isEnter && meta) || sequence === '\x1b[13;2u') return 'newline';
  if (isEnter || name === 'escape') return isEnter ? 'enter' : name;
  return `${ctrl ? 'ctrl+' : ''}${meta ? 'meta+' : ''}${shift && name === 'tab' ? 'shift+' : ''}${name}`;
}

/** readline's view of the terminal: what it draws is dropped while nothing is to be shown. */
class Gate extends Writable {
  open = false;

  get columns(): number {
    return process.stdout.columns;
  }

  override _write(chunk: string, _encoding: BufferEncoding, done: () => void): void {
    if (this.open) process.stdout.write(chunk);
    done();
  }
}
