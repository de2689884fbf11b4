import { setImmediate as turn } from 'node:timers/promises';
import { live } from '../text/inert.ts';
import { openLineEditor } from './line-editor.ts';
import type { Draft, Entered } from './line-editor.ts';
import { openModes } from './modes.ts';
import { againMs, againText } from './options.ts';
import type { OpenTerminal, TerminalOptions } from './options.ts';
import { openPlainTerminal } from './plain-terminal.ts';
import { painted } from './printable.ts';
import { wrapped } from './prose.ts';
import { openSpinner } from './spinner.ts';
import { cells } from './width.ts';

interface Waiting {
  readonly prompt: string;
  resolve(line: string | undefined): void;
}

/**
 * The terminal of a person. While nobody waits for a line, what is typed is kept and not shown, and output never moves
 * the cursor. Anything but a terminal on both sides gets plain lines, without a single escape sequence.
 */
export function openTerminal(options: TerminalOptions): OpenTerminal {
  const { input, output, paint } = options;
  output.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever read it is gone: nothing is left to do, and nobody to tell.
    if (error.code === 'EPIPE') process.exit(0);
    if (error.code !== 'EIO') throw error;
    process.kill(process.pid, 'SIGHUP');
  });
  // Streams that are no terminals do not have the property.
  const interactive = Boolean(input.isTTY && output.isTTY);
  if (!interactive || options.env['TERM'] === 'dumb') return openPlainTerminal(options, interactive);

  const queue: Entered[] = [];
  let notices: string[] = [];
  let atLineStart = true;
  /** Where the row ends that is being written. */
  let column = 0;
  let ended = false;
  let waiting: Waiting | undefined;
  let question: { readonly prompt: string; answer(text: string | undefined): void } | undefined;
  let asking: Promise<unknown> = Promise.resolve();
  let interruptedAt = -Infinity;
  let handedOver = false;

  const spinner = openSpinner(output, paint, () =>
    editor.shown || handedOver ? undefined : atLineStart ? 0 : column,
  );
  const put = (given: string) => {
    const text = painted(given);
    if (text === '') return;
    output.write(text);
    // Colours after the line end are no text.
    const rest = text.slice(text.lastIndexOf('\n') + 1).replace(/\x1b\[[0-9;]*m/g, '');
    atLineStart = rest === '' && (atLineStart || text.includes('\n'));
    column = (cells(rest) + (text.includes('\n') ? 0 : column)) % (output.columns || 80);
  };
  const putLines = (text: string) => {
    if (!atLineStart) put('\n');
    put(text.endsWith('\n') ? text : `${text}\n`);
  };
  const putNotices = () => {
    for (const notice of notices) put(`${paint.dim(`queued: ${notice}`)}\n`);
    notices = [];
  };
  const showPrompt = () => {
    const prompt = question?.prompt ?? waiting?.prompt;
    if (prompt === undefined || handedOver || ended) return;
    if (!atLineStart) put('\n');
    editor.show(painted(prompt));
  };
  /** Ends waiting for a line; what is typed from now on is for the next one. */
  const settle = (line: string | undefined) => {
    const { resolve } = waiting ?? {};
    waiting = undefined;
    resolve?.(line);
  };

  const entered = (line: Entered) => {
    if (question) return question.answer(live(line.text));
    if (line.text.trim() === '' && !waiting) return;
    options.history?.add(line.text);
    if (waiting) return settle(line.text);
    if (options.whileBusy?.(line.text)) return;
    queue.push(line);
    notices.push(line.shown.replaceAll('\n', ' '));
    if (!atLineStart) return;
    spinner.clear();
    putNotices();
  };
  const ctrlC = () => {
    const asked = question;
    asked?.answer(undefined);
    if (!waiting) return options.onInterrupt('ctrl_c');
    // Also when what asked is no turn, and asks again each time.
    const now = performance.now();
    const again = now - interruptedAt < againMs;
    interruptedAt = now;
    if (!again) return asked ? undefined : terminal.print(paint.dim(againText));
    editor.leave();
    settle(undefined);
  };

  const editor = openLineEditor({
    input,
    output,
    history: options.history?.entries ?? [],
    async complete(line, cursor) {
      const found = question ? undefined : await options.complete?.(line, cursor);
      return found ?? { from: cursor, candidates: [] };
    },
    entered,
    pressed(key) {
      if (key === 'ctrl_c') ctrlC();
      else if (key === 'suspend') suspend();
      else if (key === 'end') {
        if (question) return question.answer(undefined);
        editor.leave();
        settle(undefined);
      } else if (key === 'mode') {
        if (!question) options.onModeKey();
      } else if (question) question.answer(undefined);
      else if (!waiting) options.onInterrupt('escape');
    },
    closed() {
      ended = true;
      question?.answer(undefined);
      settle(undefined);
    },
  });
  const modes = openModes(input, output, { resumed: showPrompt, interrupted: ctrlC });
  const suspend = () => {
    spinner.clear();
    editor.hide();
    modes.suspend();
  };

  const ask = async (text: string, signal: AbortSignal | undefined) => {
    spinner.stop();
    // Two turns of the event loop: what has been typed by now has been read then, and belongs to the line put aside.
    await turn();
    await turn();
    if (ended || signal?.aborted) return undefined;
    editor.hide();
    const draft: Draft = editor.swap({ line: '', cursor: 0, kind: 'answer' });
    // readline would break the last row anywhere.
    const lines = wrapped(text, output.columns - 1).split('\n');
    // What is typed stands apart from what was asked.
    const prompt = lines.pop()?.replace(/\S$/, '$& ') ?? '';
    if (lines.length > 0) putLines(lines.join('\n'));
    return new Promise<string | undefined>((resolve) => {
      const withdraw = () => question?.answer(undefined);
      signal?.addEventListener('abort', withdraw);
      question = {
        prompt,
        answer(answer) {
          signal?.removeEventListener('abort', withdraw);
          if (editor.shown) editor.leave();
          question = undefined;
          editor.swap(draft);
          showPrompt();
          resolve(answer);
        },
      };
      showPrompt();
    });
  };

  const terminal: OpenTerminal = {
    interactive: true,
    screen: true,
    get width() {
      return output.columns;
    },
    get height() {
      return output.rows;
    },
    paint,
    print(text) {
      spinner.stop();
      const { shown } = editor;
      editor.hide();
      putLines(text);
      putNotices();
      if (shown) showPrompt();
    },
    note: (text) => terminal.print(wrapped(text, output.columns)),
    write(text) {
      if (editor.shown) return terminal.print(text);
      spinner.stop();
      const lineEnd = notices.length > 0 ? text.indexOf('\n') + 1 : 0;
      put(text.slice(0, lineEnd));
      if (lineEnd > 0) putNotices();
      put(text.slice(lineEnd));
    },
    async readLine(prompt) {
      await asking;
      spinner.stop();
      const next = queue.shift();
      if (next) {
        notices = [];
        putLines(`${prompt}${next.shown}`);
        return next.text;
      }
      if (ended) return undefined;
      return new Promise((resolve) => {
        waiting = { prompt, resolve };
        showPrompt();
      });
    },
    async ask(text, { signal } = {}) {
      const answer = asking.then(() => ask(text, signal));
      asking = answer;
      return answer;
    },
    working(what, patienceMs) {
      if (!editor.shown) spinner.start(what, patienceMs);
    },
    idle: () => spinner.stop(),
    get queued() {
      return queue.map((line) => line.text);
    },
    takeQueued() {
      notices = [];
      return queue.splice(0).map((line) => line.shown);
    },
    prefill: (text) => editor.insert(text),
    reprompt(prompt) {
      if (waiting) waiting = { ...waiting, prompt };
      if (!editor.shown) return;
      editor.hide();
      showPrompt();
    },
    async handOver(work) {
      spinner.stop();
      editor.hide();
      handedOver = true;
      editor.pause();
      modes.off();
      try {
        return await work();
      } finally {
        modes.on();
        editor.resume();
        handedOver = false;
        atLineStart = true;
        showPrompt();
      }
    },
    close() {
      if (editor.shown) editor.leave();
      spinner.stop();
      editor.close();
      modes.release();
    },
  };
  return terminal;
}
