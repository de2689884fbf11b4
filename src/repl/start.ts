import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { askModelItself, assemble, readSetting } from './assemble.ts';
import type { Chat } from './chat.ts';
import type { Console } from './commands/command.ts';
import { completeLine } from './complete.ts';
import { runCommand } from './commands/index.ts';
import { showEnd } from './commands/sessions.ts';
import { ChatError } from './errors.ts';
import { createInteraction, promptOf, type Interaction } from './interactive.ts';
import { nameSession } from './name-session.ts';
import { nameOf } from './models/model.ts';
import { runOneShot, type Output } from './one-shot.ts';
import type { Said } from './send.ts';
import type { ChatOptions } from './options.ts';
import { otherServers } from './servers.ts';
import { openHistory } from './terminal/history.ts';
import { openTerminal } from './terminal/open-terminal.ts';
import { createPaint, detectPalette } from './terminal/paint.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';

export { ChatError } from './errors.ts';

/** The REPL: returns the exit code when the person leaves. Throws ChatError for what stops it from starting. */
export async function chatInTerminal(options: ChatOptions, first: string | undefined): Promise<number> {
  const setting = await readSetting(options);
  const { folders, config, store } = setting;
  const background = new AbortController();
  let interaction: Interaction | undefined;
  const palette = config.palette === 'auto' ? detectPalette(options.env) : config.palette;
  const terminal = openTerminal({
    input: process.stdin,
    output: process.stdout,
    env: options.env,
    paint: createPaint({ palette, env: options.env, stream: process.stdout }),
    history: openHistory(
      join(folders.state, 'history', `${basename(store.folder)}.jsonl`),
      config.historySize,
    ),
    complete: async (line, cursor) =>
      interaction ? completeLine(interaction.console, line, cursor) : { from: cursor, candidates: [] },
    onInterrupt: (kind) => interaction?.interrupt(kind),
    onModeKey: () => interaction && nextMode(interaction.console),
    whileBusy: (line) => interaction?.whileBusy(line) ?? false,
  });
  let chat: Chat | undefined;
  try {
    chat = await assemble(setting, terminal);
    const { toolbox } = chat.world;
    interaction = createInteraction(chat, terminal, {
      command: runCommand,
      afterTurn: (of) => void nameSession(of, background.signal),
      kill() {
        toolbox.kill();
        terminal.close();
        process.exit(130);
      },
    });
    banner(chat, terminal);
    if (chat.session.path().length > 0) showEnd({ chat, terminal });
    // The prompt first: servers and SDKs are loaded while the person reads or types.
    const running = chat;
    running.connected = new Promise((resolve) => {
      setImmediate(() => resolve(connect(running, (text) => terminal.print(printable(text)))));
    });
    return await interaction.run(first);
  } finally {
    background.abort();
    terminal.close();
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
  const note = (text: string) => void process.stderr.write(`toolcrib: ${printable(text)}\n`);
  const chat = await assemble(await readSetting(options), undefined);
  const { toolbox } = chat.world;
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) {
      toolbox.kill();
      process.exit(130);
    }
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    chat.connected = connect(chat, note);
    const write = (text: string) => void process.stdout.write(text);
    return await runOneShot(chat, prompts, { output, write, note }, controller.signal);
  } finally {
    chat.session.close();
    await toolbox.close();
  }
}

/** A server that takes longer than this to start is not waited for: its tools come with a later message. */
const patienceMs = 15_000;

/** Starts the servers; what is wrong with one is told, and stops nothing. */
async function connect(chat: Chat, tell: (text: string) => void): Promise<void> {
  const { toolbox, options, folders, store } = chat.world;
  toolbox.connect();
  try {
    const { servers, warnings, untrusted } = await otherServers(options, folders.config);
    for (const server of servers) toolbox.add(server);
    for (const warning of warnings) tell(`! ${warning}`);
    const names = untrusted?.servers.map(({ name }) => name).join(', ');
    if (untrusted) tell(`This project's .mcp.json names servers (${names}); /mcp trust starts them.`);
    store.removeExpired(Date.now());
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    tell(`! ${error.message}`);
  }
  await Promise.all([askModelItself(chat), toolbox.ready(patienceMs)]);
  chat.provider.warm?.();
}

function banner(chat: Chat, terminal: Terminal): void {
  const { dim } = terminal.paint;
  if (!terminal.interactive) return;
  const { name } = chat.session;
  const session = name === undefined ? '' : ` · ${printable(name)}`;
  const { version } = chat.world.options;
  terminal.print(
    dim(`toolcrib ${version} · ${printable(nameOf(chat.model))} · mode ${chat.mode}${session} · /help`),
  );
}

/** Shift+Tab goes round: ask, auto, plan. yolo is left by it and never entered. */
function nextMode({ chat, terminal }: Console): void {
  chat.useMode(chat.mode === 'ask' ? 'auto' : chat.mode === 'auto' ? 'plan' : 'ask');
  terminal.reprompt(promptOf(chat, terminal.paint));
}

/** Text of a file that was named on the command line. Throws ChatError USAGE. */
export async function readNamed(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ChatError('USAGE', `${path}: cannot be read (${error.code ?? error.message}).`);
  });
}
