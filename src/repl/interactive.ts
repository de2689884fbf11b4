import type { Chat } from './chat.ts';
import type { After, Console } from './commands/command.ts';
import { ChatError } from './errors.ts';
import type { Model } from './models/model.ts';
import { unfinishedCalls } from './session/unfinished.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';
import { TurnView } from './terminal/turn-view.ts';
import { send, turn } from './turn/send.ts';
import { fillNow } from './turn/shorten.ts';
import type { TurnEvent } from './turn/turn-event.ts';

/** A second Ctrl-C so soon means: leave now. */
const ladderMs = 2000;

interface Hooks {
  /** Runs a slash command. */
  command(console: Console, line: string): Promise<After>;
  /** After a turn that said something: names the session, for one. */
  afterTurn(chat: Chat): void;
  /** Ends what is running at once; the process leaves. */
  kill(): void;
}

/** The loop of the chat: reads a line, runs it as a command or a turn, shows what happens. */
export class Interaction {
  readonly console: Console;
  private readonly hooks: Hooks;
  private readonly chat: Chat;
  private readonly terminal: Terminal;
  private running: AbortController | undefined;
  private interruptedAt = -Infinity;
  private view: TurnView | undefined;
  private nearlyFull = false;

  constructor(chat: Chat, terminal: Terminal, hooks: Hooks) {
    this.chat = chat;
    this.terminal = terminal;
    this.hooks = hooks;
    this.console = { chat, terminal, view: () => this.view, thoughts: chat.world.config.thoughts };
  }

  /** A turn is under way. */
  get busy(): boolean {
    return this.running !== undefined;
  }

  /** A line that was entered while a turn runs: whether it is a command that cannot wait, and was run. */
  whileBusy(line: string): boolean {
    const [command] = line.trim().split(' ');
    if (!this.running || (command !== '/stop' && command !== '/queue')) return false;
    const done = this.hooks.command(this.console, line.trim());
    void done.then(() => command === '/stop' && this.stop());
    return true;
  }

  /** To be called for every Ctrl-C or Escape while a turn runs. */
  interrupt(kind: 'ctrl_c' | 'escape'): void {
    const now = performance.now();
    const again = now - this.interruptedAt < ladderMs;
    this.interruptedAt = now;
    // A command that hangs is no turn, and cannot be interrupted otherwise.
    if (kind === 'ctrl_c' && again && this.running?.signal.aborted !== false) return this.hooks.kill();
    if (this.running?.signal.aborted === false) this.stop();
  }

  /** Reads and answers until the person leaves; returns the exit code. */
  async run(first?: string): Promise<number> {
    await this.finish();
    for (let line = first; ; line = undefined) {
      line ??= await this.terminal.readLine(promptOf(this.chat, this.terminal.paint));
      if (line === undefined) return 0;
      if (line.trim() === '') continue;
      try {
        if (!(await this.obey(line))) return 0;
      } catch (error) {
        this.report(error);
      }
    }
  }

  private async obey(line: string): Promise<boolean> {
    const after: After = isCommand(line)
      ? await this.hooks.command(this.console, line)
      : { next: 'send', text: line };
    switch (after?.next) {
      case 'leave':
        return false;
      case 'send':
        await this.withModel(after.model, () => this.show((signal) => send(this.chat, after, signal)));
        return true;
      case 'run':
        await this.withModel(after.model, () => this.show((signal) => turn(this.chat, signal)));
        return true;
      case 'show':
        await this.show((signal) => after.events(signal));
        return true;
      case 'resume':
        await this.finish();
        return true;
      case undefined:
        return true;
    }
  }

  private async show(events: (signal: AbortSignal) => AsyncGenerator<TurnEvent, unknown>): Promise<void> {
    const { chat, terminal } = this;
    const running = new AbortController();
    this.running = running;
    const view = new TurnView(terminal, {
      contextWindow: () => chat.model.capabilities.contextWindow,
      thoughts: () => this.console.thoughts,
      tool: (name) => chat.tools().find((tool) => tool.name === name),
    });
    this.view = view;
    const starting = chat.world.toolbox.servers().filter(({ state }) => state === 'connecting');
    const names = starting.map(({ name }) => name).join(', ');
    terminal.working(names === '' ? 'waiting for the model' : `starting ${names}`);
    if (names !== '') void this.announce(running);
    try {
      for await (const event of events(running.signal)) {
        view.show(event);
        if (event.type === 'ended' && event.reason === 'stopped') this.giveBack();
      }
      if (running.signal.aborted) return;
      this.hooks.afterTurn(chat);
      this.tellFill();
    } catch (error) {
      view.show({ type: 'ended', reason: running.signal.aborted ? 'interrupted' : 'failed' });
      if (!running.signal.aborted) this.report(error);
    } finally {
      this.running = undefined;
      terminal.idle();
    }
  }

  /** When the servers are there, it is the model that is waited for. */
  private async announce(running: AbortController): Promise<void> {
    await this.chat.connected;
    if (this.running === running) this.terminal.working('waiting for the model');
  }

  /** Once each time, before it happens: a person may want to end something first. */
  private tellFill(): void {
    const { state, percent } = fillNow(this.chat);
    const ways = '/compact does it now, /new begins afresh';
    const text = `The context is ${percent} % full: it will be shortened soon (${ways})`;
    if (state === 'near' && !this.nearlyFull && this.chat.limits.autoCompact)
      this.terminal.note(this.terminal.paint.dim(text));
    this.nearlyFull = state !== 'free';
  }

  /** One line for what a person can mend; a bug keeps its stack. */
  private report(error: unknown): void {
    const known = error instanceof ChatError;
    const text =
      error instanceof Error ? (known ? error.message : (error.stack ?? error.message)) : String(error);
    if (!known) this.chat.world.log(text);
    this.terminal.note(this.terminal.paint.bad(`${known ? error.code : 'BUG'}: ${printable(text)}`));
  }

  /** Runs with another model for once. */
  private async withModel(model: Model | undefined, work: () => Promise<void>): Promise<void> {
    const usual = this.chat.model;
    if (model) this.chat.useModel(model);
    try {
      await work();
    } finally {
      if (model) this.chat.useModel(usual);
    }
  }

  /** What a program that was killed has left in the middle. */
  private async finish(): Promise<void> {
    const { chat, terminal } = this;
    const path = chat.session.path();
    const last = path.findLast(({ type }) => ['user', 'assistant', 'tool'].includes(type));
    if (unfinishedCalls(path).length > 0) {
      terminal.note(
        terminal.paint.warning('The last turn was left in the middle: its open calls come first.'),
      );
      await this.show((signal) => turn(chat, signal));
    } else if (last && last.type !== 'assistant')
      terminal.note(
        terminal.paint.warning('The last answer was cut off before it was kept: /retry asks again.'),
      );
  }

  /** What was to be said next goes back into the editor: the person decides anew. */
  private giveBack(): void {
    this.terminal.prefill(this.terminal.takeQueued().join('\n'));
  }

  private stop(): void {
    this.running?.abort();
    this.giveBack();
  }
}

/** `> `, with the mode before it unless it is the usual one. */
export function promptOf({ mode }: Chat, paint: Terminal['paint']): string {
  return mode === 'ask' ? paint.prompt('> ') : `${paint.dim(mode)} ${paint.prompt('> ')}`;
}

/** `/name …`; a message may begin with a path, which has more slashes. */
const isCommand = (line: string): boolean => /^\/[^\s/]*(?:\s|$)/.test(line);
