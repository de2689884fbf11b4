import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { assemble, readSetting } from './assemble.ts';
import type { Chat, World } from './chat.ts';
import { completeLine } from './complete.ts';
import { showEnd } from './commands/sessions.ts';
import { ChatError } from './errors.ts';
import { Interaction } from './interactive.ts';
import { nameOf } from './models/model.ts';
import { runOneShot, type Output, type Ways } from './one-shot.ts';
import type { Said } from './turn/send.ts';
import type { ChatOptions } from './options.ts';
import { otherServers } from './servers.ts';
import { openHistory } from './terminal/history.ts';
import { createPaint } from './terminal/paint.ts';
import { createPrintable, printable } from './terminal/printable.ts';
import { wrapped } from './terminal/prose.ts';
import { Terminal } from './terminal/terminal.ts';

export { ChatError } from './errors.ts';
export { printable } from './terminal/printable.ts';

/** The REPL: returns the exit code when the person leaves. Throws ChatError for what stops it from starting. */
export async function chatInTerminal(options: ChatOptions, first: string | undefined): Promise<number> {
  const setting = await readSetting(options);
  const { folders, config, store } = setting;
  let interaction: Interaction | undefined;
  const terminal = new Terminal({
    input: process.stdin,
    output: process.stdout,
    env: options.env,
    paint: createPaint({ palette: config.palette, env: options.env, stream: process.stdout }),
    history: openHistory(join(folders.state, 'history', `${basename(store.folder)}.jsonl`)),
    complete: async (line) => (interaction ? completeLine(interaction, line) : [[], line]),
    onInterrupt: (kind) => interaction?.interrupt(kind),
    onModeKey: () => interaction?.nextMode(),
    whileBusy: (line) => interaction?.whileBusy(line) ?? false,
  });
  for (const [signal, code] of fatal) process.on(signal, () => process.exit(code));
  // In a terminal, it is a key.
  if (!terminal.interactive) process.on('SIGINT', () => process.exit(130));
  let chat: Chat | undefined;
  try {
    chat = await assemble(setting, terminal);
    endWithProcess(chat.world);
    interaction = new Interaction(chat, terminal);
    banner(chat, terminal);
    if (chat.session.path().length > 0) showEnd({ chat, terminal });
    // The prompt first: servers and SDKs are loaded while the person reads or types.
    const running = chat;
    running.connected = new Promise((resolve) => {
      setImmediate(() => resolve(connect(running, (text) => terminal.note(printable(text)))));
    });
    return await interaction.run(first);
  } finally {
    terminal.close();
    // Some servers take their time to end.
    process.on('SIGINT', () => process.exit(130));
    chat?.session.close();
    await chat?.world.toolbox.close();
  }
}

export interface OneShot {
  readonly prompts: readonly Said[];
  readonly output: Output;
}

/** `chat -p`: answers and ends; returns the exit code. Throws ChatError. */
export async function chatOnce(options: ChatOptions, { prompts, output }: OneShot): Promise<number> {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  const live = process.stdout.isTTY;
  // What a program reads is as the model wrote it; a terminal must not obey it.
  const clean = live ? createPrintable() : undefined;
  const write = (text: string) => void process.stdout.write(clean?.push(text) ?? text);
  const note = (text: string) => void process.stderr.write(`toolcrib: ${printable(text)}\n`);
  return answerOnce(options, prompts, { output, write, note, live }, controller.signal);
}

/** Answers without anybody to ask; returns the exit code. Throws ChatError. */
export async function answerOnce(
  options: ChatOptions,
  prompts: readonly Said[],
  ways: Ways,
  signal: AbortSignal,
): Promise<number> {
  const chat = await assemble(await readSetting(options), undefined);
  const forget = endWithProcess(chat.world);
  try {
    chat.connected = connect(chat, ways.note, onlyMessageMs);
    return await runOneShot(chat, prompts, ways, signal);
  } finally {
    chat.session.close();
    await chat.world.toolbox.close();
    forget();
  }
}

const fatal = [
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

/**
 * Whatever ends this process: a server need not notice that nobody reads it any more. Returns what forgets about it.
 */
function endWithProcess({ toolbox, log }: World): () => void {
  const logged = (error: Error) => log(error.stack ?? String(error));
  // First: the terminal's listener may have to kill this process.
  process.prependListener('exit', toolbox.kill);
  process.on('uncaughtExceptionMonitor', logged);
  return () => {
    process.off('exit', toolbox.kill).off('uncaughtExceptionMonitor', logged);
  };
}

/** A server that takes longer than this to start is not waited for: its tools come with a later message. */
const patienceMs = 15_000;
/** Where no later message comes: as long as a server may take to start at all. */
const onlyMessageMs = 60_000;

/** Starts the servers; what is wrong with one is told, and stops nothing. */
async function connect(chat: Chat, tell: (text: string) => void, patience = patienceMs): Promise<void> {
  const { toolbox, options, folders, store } = chat.world;
  toolbox.connect();
  try {
    const { servers, warnings } = await otherServers(options, folders.config);
    for (const server of servers) toolbox.add(server);
    for (const warning of warnings) tell(`! ${warning}`);
    store.removeExpired(Date.now());
  } catch (error) {
    // Whatever it is: nobody waits for this, so that it would end the program.
    tell(`! ${error instanceof Error ? error.message : String(error)}`);
  }
  await Promise.all([chat.askModel(), toolbox.ready(patience)]);
  for (const { name, state } of toolbox.servers())
    if (state === 'connecting') tell(`! MCP server "${name}" is still starting: its tools come later.`);
  chat.provider.warm?.();
}

function banner(chat: Chat, terminal: Terminal): void {
  if (!terminal.interactive) return;
  const { name } = chat.session.state;
  const session = name === undefined ? '' : ` · ${printable(name)}`;
  const { version } = chat.world.options;
  const line = `toolcrib ${version} · ${printable(nameOf(chat.model))} · mode ${chat.mode}${session} · /help`;
  terminal.print(terminal.paint.dim(wrapped(line, terminal.width)));
}

/** Text of a file that was named on the command line. Throws ChatError USAGE. */
export async function readNamed(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ChatError('USAGE', `${path}: cannot be read (${error.code ?? error.message}).`);
  });
}
