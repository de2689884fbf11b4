import { fstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { assemble, connect } from './assemble.ts';
import type { Chat } from './chat.ts';
import { showEnd } from './commands/sessions.ts';
import { Interaction } from './interactive.ts';
import { nameOf } from './models/model.ts';
import { runOneShot, type OutputFormat, type OneShotOutput } from './one-shot.ts';
import type { UserInput } from './turn/turn.ts';
import type { ChatOptions } from './options.ts';
import { openHistory } from './terminal/history.ts';
import { createPaint } from './terminal/paint.ts';
import { createPrintable, printable } from './terminal/printable.ts';
import { Terminal } from './terminal/terminal.ts';
import { readSettings } from './environment.ts';

export { ChatError } from './errors.ts';
export { printable } from './terminal/printable.ts';

/**
 * The REPL: returns the exit code when the person leaves. Throws ChatError for what stops it from starting.
 */
export async function chatInTerminal(options: ChatOptions, first: string | undefined): Promise<number> {
  const settings = await readSettings(options);
  const { folders, config, store } = settings;
  const terminal = new Terminal(
    createPaint(config.palette, options.env),
    openHistory(join(folders.state, 'history', `${basename(store.folder)}.jsonl`)),
    options.env['TERM'] === 'dumb',
  );
  process.on('SIGTERM', () => process.exit(143)).on('SIGHUP', () => process.exit(129));
  // In a terminal, it is a key.
  if (!terminal.interactive) process.on('SIGINT', () => process.exit(130));
  let close: (() => Promise<void>) | undefined;
  try {
    const chat = await assemble(settings, terminal);
    close = endingWithProcess(chat);
    const interaction = new Interaction(chat, terminal);
    terminal.inputHandler = interaction;
    if (terminal.interactive) terminal.note(terminal.paint.dim(banner(chat)));
    if (terminal.interactive && !terminal.editsSeveralLines) chat.environment.warn(otherReadline);
    if (chat.session.path().length > 0) showEnd({ chat, terminal });
    // The prompt first: servers and SDKs are loaded while the person reads or types.
    chat.connected = setImmediate().then(() => connect(chat, patienceMs));
    return await interaction.run(first);
  } finally {
    terminal.close();
    // Some servers take their time to end.
    process.on('SIGINT', () => process.exit(130));
    await close?.();
  }
}

/** `chat -p`: answers and ends; returns the exit code. Throws ChatError. */
export async function chatOnce(
  options: ChatOptions,
  { prompts, output }: { readonly prompts: readonly UserInput[]; readonly output: OutputFormat },
): Promise<number> {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  const live = process.stdout.isTTY;
  // A file gets what the model wrote. Behind a pipe there may be a terminal, which must not obey it.
  const clean = isFile(process.stdout.fd) ? undefined : createPrintable();
  const write = (text: string) => {
    process.stdout.write(clean?.push(text) ?? text);
  };
  const note = (text: string) => {
    process.stderr.write(`toolcrib: ${printable(text)}\n`);
  };
  return answerOnce(options, prompts, { output, write, note, live }, controller.signal);
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // It is closed.
    return false;
  }
}

/** Answers without anybody to ask; returns the exit code. Throws ChatError. */
export async function answerOnce(
  options: ChatOptions,
  prompts: readonly UserInput[],
  target: OneShotOutput,
  signal: AbortSignal,
): Promise<number> {
  const chat = await assemble(await readSettings(options), undefined);
  const close = endingWithProcess(chat);
  try {
    chat.connected = connect(chat, onlyMessageMs);
    return await runOneShot(chat, prompts, target, signal);
  } finally {
    await close();
  }
}

/**
 * Ends the servers with this process, whatever ends it: a server need not notice that nobody reads it any
 * more. Returns what ends the chat.
 */
function endingWithProcess(chat: Chat): () => Promise<void> {
  const { toolbox, log } = chat.environment;
  const logged = (error: Error) => log(error.stack ?? String(error));
  // First: the terminal's listener may have to kill this process.
  process.prependListener('exit', toolbox.kill);
  process.on('uncaughtExceptionMonitor', logged);
  return async () => {
    chat.session.close();
    await toolbox.close();
    process.off('exit', toolbox.kill).off('uncaughtExceptionMonitor', logged);
  };
}

/** A server that takes longer than this to start is not waited for: its tools come with a later message. */
const patienceMs = 15_000;
/** The wait where no later message comes: as long as a server may take to start at all. */
const onlyMessageMs = 60_000;

const otherReadline =
  `Node ${process.version} has another readline: a message of several lines can be pasted, but not typed. ` +
  'It can with a Node that this release was tested with (20, 22, 24, 26).';

const banner = ({ session: { state }, environment, model, mode }: Chat): string =>
  [`toolcrib ${environment.options.version}`, nameOf(model), `mode ${mode}`, state.name, '/help']
    .flatMap((part) => (part === undefined ? [] : [printable(part)]))
    .join(' · ');
