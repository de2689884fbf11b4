import type { Chat } from './chat.ts';
import type { CommandContext, StartTurn } from './commands/command.ts';
import { runCommand } from './commands/index.ts';
import { completeLine } from './complete.ts';
import { fillNow } from './context/compaction.ts';
import { ChatError } from './errors.ts';
import type { Model } from './models/model.ts';
import { unfinishedCalls } from './session/entry.ts';
import { printable } from './terminal/printable.ts';
import type { InputHandler, Terminal } from './terminal/terminal.ts';
import { awaited, TurnView } from './terminal/turn-view.ts';
import { send, turn } from './turn/turn.ts';

/** The loop of the chat: reads a line, runs it as a command or a turn, shows what happens. */
export class Interaction implements CommandContext, InputHandler {
  readonly chat: Chat;
  readonly terminal: Terminal;
  thoughts: boolean;
  /** Aborts the turn that is under way. */
  #running: AbortController | undefined;
  #nearlyFull = false;

  constructor(chat: Chat, terminal: Terminal) {
    this.chat = chat;
    this.terminal = terminal;
    this.thoughts = chat.environment.config.thoughts;
  }

  complete = (line: string) => completeLine(this, line);

  /** A line that was entered while a turn runs: whether it is a command that cannot wait, and was run. */
  whileBusy(line: string): boolean {
    const [command] = line.trim().split(' ');
    if (!this.#running || command !== '/stop') return false;
    this.terminal.takeQueued();
    this.#stop();
    return true;
  }

  /** Handles every Ctrl-C or Escape while something is under way; `leaves`: it was a second Ctrl-C. */
  interrupt(leaves: boolean): void {
    if (this.#running?.signal.aborted === false) return this.#stop();
    // A command that hangs is no turn, and cannot be interrupted otherwise.
    if (!leaves) return;
    this.terminal.close();
    process.exit(130);
  }

  /** Shift+Tab goes round: ask, auto, plan. yolo is left by it and never entered. */
  nextMode(): void {
    const chat = this.chat;
    chat.useMode(chat.mode === 'ask' ? 'auto' : chat.mode === 'auto' ? 'plan' : 'ask');
    this.terminal.reprompt(this.#prompt);
    // There is no prompt that would say it.
    if (this.#running) this.terminal.print(this.terminal.paint.dim(`mode ${chat.mode}`));
  }

  /** Reads and answers until the person leaves; returns the exit code. */
  async run(first?: string): Promise<number> {
    await this.finish();
    for (let line = first; ; line = undefined) {
      line ??= await this.terminal.readLine(this.#prompt);
      if (line === undefined) return 0;
      if (line.trim() === '') continue;
      try {
        const text = line;
        if (!isCommand(text)) await this.showTurn((signal) => send(this.chat, { text }, signal));
        else if (await runCommand(this, text)) return 0;
      } catch (error) {
        this.#report(error);
      }
    }
  }

  /** `> `, with the mode before it unless it is the usual one. */
  get #prompt(): string {
    const { prompt, dim } = this.terminal.paint;
    const { mode } = this.chat;
    return mode === 'ask' ? prompt('> ') : `${dim(mode)} ${prompt('> ')}`;
  }

  showTurn = async (start: StartTurn, once?: Model): Promise<void> => {
    const { chat, terminal } = this;
    const usual = chat.model;
    if (once) chat.useModel(once);
    const running = new AbortController();
    this.#running = running;
    const view = new TurnView(terminal, chat, this.thoughts);
    const starting = chat.environment.toolbox.servers().filter(({ state }) => state === 'connecting');
    const names = starting.map(({ name }) => name).join(', ');
    terminal.working(names === '' ? awaited : `starting ${names}`);
    // When the servers are there, it is the model that is waited for.
    const onConnected = () => {
      if (this.#running === running) terminal.working(awaited);
    };
    if (names !== '') void chat.connected.then(onConnected);
    try {
      for await (const event of start(running.signal)) {
        view.show(event);
        if (event.type === 'ended' && event.reason === 'stopped') this.#giveBack();
      }
      if (running.signal.aborted) return;
      this.#tellFill();
    } catch (error) {
      view.show({ type: 'ended', reason: running.signal.aborted ? 'interrupted' : 'failed' });
      if (!running.signal.aborted) this.#report(error);
    } finally {
      if (once) chat.useModel(usual);
      this.#running = undefined;
      terminal.idle();
    }
  };

  /** Warns that the context will be shortened, once each time: a person may want to end something first. */
  #tellFill(): void {
    const { state, percent } = fillNow(this.chat);
    const ways = '/compact does it now, /new begins afresh';
    const text = `The context is ${percent} % full: it will be shortened soon (${ways})`;
    if (state === 'near' && !this.#nearlyFull && this.chat.environment.config.compaction.auto)
      this.terminal.note(this.terminal.paint.dim(text));
    this.#nearlyFull = state !== 'free';
  }

  /** One line for what a person can mend; a bug keeps its stack. */
  #report(error: unknown): void {
    const known = error instanceof ChatError;
    const bug = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (!known) this.chat.environment.log(bug);
    const text = known ? `${error.code}: ${printable(error.message)}` : `BUG: ${printable(bug)}`;
    this.terminal.note(this.terminal.paint.bad(text));
  }

  /** Finishes what a program that was killed has left in the middle. */
  async finish(): Promise<void> {
    const { chat } = this;
    const path = chat.session.path();
    const { warning } = this.terminal.paint;
    const last = path.findLast(({ type }) => ['user', 'assistant', 'tool'].includes(type));
    if (unfinishedCalls(path).length > 0) {
      this.terminal.note(warning('The last turn was left in the middle: its open calls come first.'));
      await this.showTurn((signal) => turn(chat, signal));
    } else if (last && last.type !== 'assistant')
      this.terminal.note(warning('The last message has no answer: say "go on", or /retry asks anew.'));
  }

  /** Puts what was to be said next back into the editor: the person decides anew. */
  #giveBack(): void {
    this.terminal.prefill(this.terminal.takeQueued().join('\n'));
  }

  #stop(): void {
    this.#running?.abort();
    this.#giveBack();
  }
}

/** `/name …`; a message may begin with a path, which has more slashes. */
const isCommand = (line: string): boolean => /^\/[^\s/]*(?:\s|$)/.test(line);
