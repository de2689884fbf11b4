import { clearScreenDown, cursorTo, moveCursor, type CompleterResult, type Key } from 'node:readline';
import { openDocumentedReadline } from './documented-readline.ts';
import { MutableOutput, type EditableReadline } from './editable-readline.ts';
import { keyName, pressedKeys, type LineEditor, type LineEditorOptions } from './line-editor.ts';
import { inert, openPastes, typable } from './paste.ts';
import { printable } from './printable.ts';
import { RawMode } from './raw-mode.ts';
import { hasReadlineInternals, openInternalReadline } from './readline-internals.ts';

/** readline takes no keys while it waits for completions, Ctrl-C included. */
const completionMs = 1000;

/** An entry of the history that is being edited, and what was typed before it was asked for. */
interface RecalledEntry {
  readonly at: number;
  readonly draft: string;
}

/**
 * The line of readline with pastes as one mark, several lines, completion, and the history of what begins
 * alike.
 */
export class FullLineEditor implements LineEditor {
  readonly #options: LineEditorOptions;
  readonly #pastes = openPastes();
  readonly #output = new MutableOutput();
  readonly #rl: EditableReadline;
  /** The answer to a question is one line and has no history. */
  #isAnswer = false;
  /** The place in the history that the line comes from, and what was there before. */
  #recalled: RecalledEntry | undefined;
  /** The parts of a paste that have come: its line ends are no Enter. */
  #paste: string[] | undefined;
  readonly #mode: RawMode;

  constructor(options: LineEditorOptions) {
    this.#options = options;
    const open = hasReadlineInternals() ? openInternalReadline : openDocumentedReadline;
    this.#rl = open({
      output: this.#output,
      complete: (line) => this.#completions(line),
      takeKey: (typed, key) => this.#pasted(typed, key) || this.#handled(keyName(key)),
    });
    this.#rl.on('line', (line) => {
      this.#output.open = false;
      options.entered({ text: this.#pastes.expand(typable(line)), shown: typable(line) });
    });
    this.#rl.on('close', () => {
      this.#output.open = false;
      options.closed();
    });
    process.stdout.on('resize', () => this.#rl.resized());
    this.#mode = new RawMode();
  }

  get shown(): boolean {
    return this.#output.open;
  }

  get holdsLineEnds(): boolean {
    return this.#rl.holdsLineEnds;
  }

  show(prompt: string): void {
    this.#rl.draw(prompt);
  }

  hide(): void {
    if (!this.#output.open) return;
    moveCursor(this.#output, 0, -this.#rl.cursorRow());
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
    this.#output.open = false;
  }

  leave(): void {
    this.#set(this.#rl.line);
    this.#output.write('\n');
    this.#output.open = false;
    this.#set('');
  }

  answer(): () => void {
    const { line, cursor } = this.#rl;
    this.#isAnswer = true;
    this.#recalled = undefined;
    this.#rl.replace('', 0);
    return () => {
      this.#isAnswer = false;
      this.#recalled = undefined;
      this.#rl.replace(line, cursor);
    };
  }

  insert(text: string): void {
    const after = this.#rl.line === '' ? '' : `\n${this.#rl.line}`;
    this.#set(this.#fitting(typable(text)) + after);
  }

  pause(): void {
    process.stdin.pause();
    this.#mode.set(false);
  }

  resume(): void {
    this.#mode.set(true);
    process.stdin.resume();
  }

  close(): void {
    this.#rl.close();
    this.#mode.set(false);
  }

  #set(line: string, cursor = line.length): void {
    this.#rl.replace(line, cursor);
  }

  /** More rows than the screen has cannot be edited: the cursor does not get to the first. */
  #fitting(text: string): string {
    const most = this.holdsLineEnds ? process.stdout.rows - 2 : 1;
    const fits = text.split('\n').length <= most;
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
      this.#rl.insert(this.#pastes.collapse(inert(this.#paste.join(''))));
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
      if (pressed === 'ctrl+z') this.#mode.suspend(this.#options.resumed);
    } else if (name === 'backspace') return this.#removeTag();
    else if (this.#isAnswer) return ['newline', 'up', 'down'].includes(name);
    else if (name === 'newline') rl.insert('\n');
    else if (name === 'up' || name === 'down') this.#recall(name === 'up' ? -1 : 1, recalled);
    // A backslash at the end goes on with the next line; two of them are one that is meant.
    else if (name === 'enter' && /(?<!\\)(?:\\\\)*\\$/.test(rl.line)) this.#set(`${rl.line.slice(0, -1)}\n`);
    else return name === 'tab' && !this.shown;
    return true;
  }

  /** One entry back (-1) or forth in the history: those that begin with what was typed. */
  #recall(step: 1 | -1, from: RecalledEntry | undefined): void {
    const { history } = this.#options;
    const { line } = this.#rl;
    const { at, draft } = from ?? { at: history.length, draft: line };
    let next = at + step;
    while (history[next] !== undefined && (!history[next]?.startsWith(draft) || history[next] === line))
      next += step;
    if (next < 0 || next > history.length) {
      this.#recalled = from;
      return;
    }
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

  /**
   * Completion is a convenience: what takes long, fails, or comes when the line is another one offers
   * nothing.
   */
  async #completions(line: string): Promise<CompleterResult> {
    const none: CompleterResult = [[], line];
    if (this.#isAnswer) return none;
    const late = new Promise<CompleterResult>((resolve) => setTimeout(resolve, completionMs, none).unref());
    const [found, typed] = await Promise.race([this.#options.complete(line).catch(() => none), late]);
    if (!this.shown || this.#rl.line.slice(0, this.#rl.cursor) !== line) return none;
    // A file name may hold escape sequences: the terminal must not get them, and without them it is another
    // file.
    return [found.filter((each) => printable(each) === each && !/[\n\t]/.test(each)), typed];
  }
}
