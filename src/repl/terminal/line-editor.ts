import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';
import type { CompleterResult, Interface, Key } from 'node:readline';
import { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { inert } from '../text/inert.ts';
import type { Draft, InputOptions, LineInput, PressedKey } from './line-input.ts';
import { Modes } from './modes.ts';
import { isUnfinished, vertically } from './multi-line.ts';
import { openPastes, typable } from './paste.ts';
import { printable } from './printable.ts';

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
/** readline takes no keys while it waits for completions, Ctrl-C included. */
const completionMs = 1000;

/** readline's line, also while it is not shown; with pastes as one mark, and several lines. */
export class LineEditor implements LineInput {
  readonly #options: InputOptions;
  readonly #pastes = openPastes();
  readonly #gate: Gate;
  readonly #rl: Readline;
  readonly #modes: Modes;
  #kind: Draft['kind'] = 'message';
  /** Where in the history the line comes from, and what was there before. */
  #recalled: { at: number; draft: string } | undefined;
  /** What has come of a paste: its line ends are no Enter. */
  #paste: string[] | undefined;

  constructor(options: InputOptions) {
    this.#options = options;
    const { input, output } = options;
    this.#gate = new Gate(output);
    this.#rl = createInterface({
      input,
      output: this.#gate,
      terminal: true,
      historySize: 0,
      escapeCodeTimeout: escapeMs,
      tabSize: 8,
      completer: async (line: string, done: (error: null, found: CompleterResult) => void) =>
        done(null, await this.#completions(line)),
    }) as unknown as Readline;
    const rl = this.#rl;
    const edit = rl._ttyWrite.bind(rl);
    rl._ttyWrite = (typed, key) => {
      // Without this, readline puts all but the last character that arrive together at the end of the line.
      rl.isCompletionEnabled = true;
      if (!this.#pasted(typed, key) && !this.#handled(nameOf(key))) edit(typed, key);
    };
    rl.on('line', (line: string) => {
      this.#gate.open = false;
      options.entered({ text: this.#pastes.expand(typable(line)), shown: typable(line) });
    });
    rl.on('close', () => {
      this.#gate.open = false;
      options.closed();
    });
    // It tells of errors of its input, too, which `modes` deals with.
    rl.on('error', () => undefined);
    output.on('resize', this.#resized);
    this.#modes = new Modes(input, output, options.resumed);
  }

  get shown(): boolean {
    return this.#gate.open;
  }

  show(prompt: string): void {
    this.#rl.setPrompt(prompt);
    this.#gate.open = true;
    this.#rl.prevRows = 0;
    this.#rl._refreshLine();
  }

  hide(): void {
    if (this.#gate.open) {
      moveCursor(this.#gate, 0, -this.#rl.getCursorPos().rows);
      cursorTo(this.#gate, 0);
      clearScreenDown(this.#gate);
    }
    this.#gate.open = false;
  }

  leave(): void {
    this.#set(this.#rl.line);
    this.#gate.write('\n');
    this.#gate.open = false;
    this.#set('');
  }

  swap(draft: Draft): Draft {
    const { line, cursor } = this.#rl;
    const before = { line, cursor, kind: this.#kind };
    this.#kind = draft.kind;
    this.#recalled = undefined;
    this.#rl.line = draft.line;
    this.#rl.cursor = draft.cursor;
    return before;
  }

  insert(text: string): boolean {
    const line = typable(text);
    const after = this.#rl.line === '' ? '' : `\n${this.#rl.line}`;
    this.#set((this.#fits(line) ? line : this.#pastes.collapse(this.#pastes.expand(line))) + after);
    return true;
  }

  pause(): void {
    this.#options.input.pause();
    this.#modes.off();
  }

  resume(): void {
    this.#modes.on();
    this.#options.input.resume();
  }

  close(): void {
    this.#options.output.removeListener('resize', this.#resized);
    this.#rl.close();
    this.#modes.release();
  }

  #set(line: string, cursor = line.length): void {
    this.#rl.line = line;
    this.#rl.cursor = cursor;
    this.#rl._refreshLine();
  }

  /** More rows than the screen has cannot be edited: the cursor does not get to the first. */
  #fits(text: string): boolean {
    return text.split('\n').length < this.#options.output.rows - 1;
  }

  readonly #resized = (): void => {
    const rl = this.#rl;
    // Some terminals have wrapped the rows anew, some have cut them. Rows too few leave a rest, too many erase output.
    rl.prevRows = Math.min(rl.prevRows, rl.getCursorPos().rows);
    this.#gate.emit('resize');
  };

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
    if (name !== 'up' && name !== 'down') this.#recalled = undefined;
    const pressed = pressedKeys[name];
    if (name === 'ctrl+c' && this.shown && rl.line !== '') this.#set('');
    else if (name === 'ctrl+d' && rl.line !== '') return false;
    else if (pressed && (pressed !== 'end' || this.shown)) this.#press(pressed);
    else if (name === 'newline' && this.#kind === 'message') rl._insertString('\n');
    else if (name === 'up' || name === 'down') this.#upOrDown(name === 'up' ? -1 : 1);
    else if (name === 'backspace') return this.#removeTag();
    else if (name === 'enter' && this.#kind === 'message' && isUnfinished(rl.line))
      this.#set(`${rl.line.slice(0, -1)}\n`);
    else return name === 'newline' || pressed !== undefined || (name === 'tab' && !this.shown);
    return true;
  }

  #press(key: PressedKey): void {
    this.#options.pressed(key);
    if (key === 'suspend') this.#modes.suspend();
  }

  #upOrDown(step: 1 | -1): void {
    if (this.#kind === 'answer') return;
    const { line, cursor } = this.#rl;
    const moved = vertically(line, cursor, step);
    if (moved === undefined) this.#recall(step);
    else this.#set(line, moved);
  }

  /** One entry back (-1) or forth in the history: those that begin with what was typed. */
  #recall(step: 1 | -1): void {
    const { history } = this.#options;
    const { line } = this.#rl;
    const { at, draft } = this.#recalled ?? { at: history.length, draft: line };
    let next = at + step;
    while (history[next] !== undefined && (!history[next]?.startsWith(draft) || history[next] === line))
      next += step;
    if (next < 0 || next > history.length) return;
    const entry = history[next];
    this.#recalled = entry === undefined ? undefined : { at: next, draft };
    this.#set(entry === undefined ? draft : this.#fits(entry) ? entry : this.#pastes.collapse(entry));
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
    if (this.#kind === 'answer') return [[], line];
    const none = { from: line.length, candidates: [] as readonly string[] };
    const late = new Promise<typeof none>((resolve) => setTimeout(resolve, completionMs, none).unref());
    const { from, candidates } = await Promise.race([
      this.#options.complete(line, line.length).catch(() => none),
      late,
    ]);
    if (!this.shown || this.#rl.line.slice(0, this.#rl.cursor) !== line) return [[], line];
    // A file name may hold escape sequences: the terminal must not get them, and without them it is another file.
    const safe = candidates.filter((each) => printable(each) === each && !/[\n\t]/.test(each));
    return [safe, line.slice(from)];
  }
}

const pressedKeys: Readonly<Record<string, PressedKey>> = {
  'ctrl+c': 'ctrl_c',
  'ctrl+d': 'end',
  'ctrl+z': 'suspend',
  escape: 'escape',
  'shift+tab': 'mode',
};

function nameOf(key: Key): string {
  const enter = key.name === 'return' || key.name === 'enter';
  // Shift+Enter of terminals that speak the kitty protocol.
  if ((enter && key.meta) || key.sequence === '\x1b[13;2u') return 'newline';
  if (enter) return 'enter';
  if (key.ctrl && (key.name === 'p' || key.name === 'n')) return key.name === 'p' ? 'up' : 'down';
  if (key.name === 'escape') return 'escape';
  const shift = key.shift && key.name === 'tab' ? 'shift+' : '';
  return `${key.ctrl ? 'ctrl+' : ''}${key.meta ? 'meta+' : ''}${shift}${key.name ?? ''}`;
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
