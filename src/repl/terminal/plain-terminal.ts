import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import { againMs, againText } from './options.ts';
import type { OpenTerminal, TerminalOptions } from './options.ts';

/**
 * A terminal without escape sequences: pipes and files, where nothing is shown but what is printed, and terminals that
 * understand none (`TERM=dumb`), which edit the line themselves.
 */
export function openPlainTerminal(options: TerminalOptions, interactive: boolean): OpenTerminal {
  const { input, output, paint } = options;
  const lines: string[] = [];
  let reader: Interface | undefined;
  let ended = false;
  let typed = '';
  let atLineStart = true;
  /** The prompt or the question that stands there. */
  let shown:
    | { prompt: string; readonly question: boolean; resolve(line: string | undefined): void }
    | undefined;
  let asking: Promise<unknown> = Promise.resolve();
  let interruptedAt = -Infinity;

  const put = (text: string) => {
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
  /** Input is read from when somebody wants a line: before, it may be somebody else's. */
  const read = () => {
    reader ??= createInterface({ input, crlfDelay: Infinity })
      .on('line', (line) => {
        if (shown) settle(line);
        else if (!interactive || !options.whileBusy?.(line)) lines.push(line);
      })
      .on('close', () => {
        ended = true;
        settle(undefined);
      });
  };
  const wait = (prompt: string, question: boolean) =>
    new Promise<string | undefined>((resolve) => {
      const before = shown;
      const answered = (line: string | undefined) => {
        shown = before;
        putPrompt();
        resolve(line);
      };
      shown = { prompt, question, resolve: answered };
      putPrompt();
      read();
    });
  const interrupted = () => {
    if (!shown) return options.onInterrupt('ctrl_c');
    put('\n');
    const again = performance.now() - interruptedAt < againMs;
    interruptedAt = performance.now();
    if (shown.question || again) settle(undefined);
    else terminal.print(againText);
  };
  if (interactive) process.on('SIGINT', interrupted);

  const terminal: OpenTerminal = {
    interactive,
    get width() {
      return output.columns ?? 80;
    },
    paint,
    print(text) {
      if (!atLineStart) put('\n');
      put(text.endsWith('\n') ? text : `${text}\n`);
      putPrompt();
    },
    get typed() {
      return typed;
    },
    write: put,
    async readLine(prompt) {
      await asking;
      const line = lines.shift() ?? (ended ? undefined : await wait(prompt, false));
      typed = line ?? '';
      return line;
    },
    async ask(question) {
      const answer = asking.then(() => (interactive && !ended ? wait(question, true) : undefined));
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
    // There is no line that could be edited.
    prefill: () => undefined,
    reprompt(prompt) {
      if (shown && !shown.question) shown.prompt = prompt;
    },
    handOver: (work) => work(),
    close() {
      process.removeListener('SIGINT', interrupted);
      reader?.close();
    },
  };
  return terminal;
}
