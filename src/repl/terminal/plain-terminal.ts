import { againMs, againText } from './options.ts';
import type { OpenTerminal, TerminalOptions } from './options.ts';
import { painted } from './printable.ts';

/**
 * A terminal without escape sequences: pipes and files, where nothing is shown but what is printed, and terminals that
 * understand none (`TERM=dumb`), which edit the line themselves.
 */
export function openPlainTerminal(options: TerminalOptions, interactive: boolean): OpenTerminal {
  const { input, output, paint } = options;
  const lines: string[] = [];
  let reading = false;
  /** The beginning of a line whose end has not come. */
  let begun = '';
  let ended = false;
  let atLineStart = true;
  /** The prompt or the question that stands there. */
  let shown:
    | { prompt: string; readonly question: boolean; resolve(line: string | undefined): void }
    | undefined;
  let asking: Promise<unknown> = Promise.resolve();
  let interruptedAt = -Infinity;

  const put = (given: string) => {
    const text = painted(given);
    if (text === '') return;
    output.write(text);
    atLineStart = text.endsWith('\n');
  };
  const putPrompt = () => {
    if (!interactive || !shown) return;
    if (!atLineStart) put('\n');
    put(shown.prompt);
  };
  const settle = (line: string | undefined) => {
    const { resolve } = shown ?? {};
    shown = undefined;
    // The terminal has shown the line end that was typed.
    if (line !== undefined) atLineStart = true;
    resolve?.(line);
  };
  const entered = (line: string) => {
    if (shown) settle(line);
    else if (!interactive || !options.whileBusy?.(line)) lines.push(line);
  };
  // Not with readline: that of Node 26 ends lines at U+2028, too.
  const take = (text: string) => {
    const parts = `${begun}${text}`.split(/\r?\n/);
    begun = parts.pop() ?? '';
    parts.forEach(entered);
  };
  const end = () => {
    if (begun !== '') entered(begun);
    ended = true;
    settle(undefined);
  };
  /** Input is read from when somebody wants a line: before, it may be somebody else's. */
  const read = () => {
    if (!reading) input.setEncoding('utf8').on('data', take).on('end', end);
    reading = true;
  };
  const wait = (prompt: string, question: boolean, signal?: AbortSignal) =>
    new Promise<string | undefined>((resolve) => {
      const before = shown;
      const withdraw = () => settle(undefined);
      signal?.addEventListener('abort', withdraw);
      const answered = (line: string | undefined) => {
        signal?.removeEventListener('abort', withdraw);
        shown = before;
        putPrompt();
        resolve(line);
      };
      shown = { prompt, question, resolve: answered };
      putPrompt();
      read();
    });
  const interrupted = () => {
    const asked = shown?.question === true;
    if (asked) settle(undefined);
    if (!shown) return options.onInterrupt('ctrl_c');
    // Also when what asked is no turn, and asks again each time.
    const again = performance.now() - interruptedAt < againMs;
    interruptedAt = performance.now();
    if (asked && !again) return;
    put('\n');
    if (again) settle(undefined);
    else terminal.print(againText);
  };
  if (interactive) process.on('SIGINT', interrupted);

  const terminal: OpenTerminal = {
    interactive,
    screen: Boolean(output.isTTY),
    get width() {
      return output.columns ?? 80;
    },
    get height() {
      return output.rows ?? 24;
    },
    paint,
    print(text) {
      if (!atLineStart) put('\n');
      put(text.endsWith('\n') ? text : `${text}\n`);
      putPrompt();
    },
    note(text) {
      if (output.isTTY) terminal.print(text);
      else process.stderr.write(painted(`${text}\n`));
    },
    write: put,
    async readLine(prompt) {
      await asking;
      return lines.shift() ?? (ended ? undefined : await wait(prompt, false));
    },
    async ask(question, { signal } = {}) {
      const answer = asking.then(() =>
        interactive && !ended && !signal?.aborted
          ? wait(question.replace(/\S$/, '$& '), true, signal)
          : undefined,
      );
      asking = answer;
      return answer;
    },
    working: () => undefined,
    idle: () => undefined,
    get queued() {
      // Lines of a pipe are not entered early, they are there.
      return interactive ? [...lines] : [];
    },
    takeQueued: () => (interactive ? lines.splice(0) : []),
    // There is no line that could be edited: the person sees what to enter again.
    prefill: (text) => text !== '' && terminal.print(text),
    reprompt(prompt) {
      if (shown && !shown.question) shown.prompt = prompt;
    },
    handOver: (work) => work(),
    close() {
      process.removeListener('SIGINT', interrupted);
      input.removeListener('data', take).removeListener('end', end).pause();
    },
  };
  return terminal;
}
