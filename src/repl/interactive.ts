import type { Chat } from './chat.ts';
import type { After, Console } from './commands/command.ts';
import { ChatError } from './errors.ts';
import type { Model } from './models/model.ts';
import { send, turn } from './turn/send.ts';
import { fillNow } from './turn/shorten.ts';
import { unfinishedCalls } from './session/unfinished.ts';
import { createTurnView, type TurnView } from './terminal/turn-view.ts';
import { printable } from './terminal/printable.ts';
import type { OpenTerminal } from './terminal/options.ts';
import type { TurnEvent } from './turn/turn-event.ts';

/** A second Ctrl-C so soon means: leave now. */
const ladderMs = 2000;

export interface Interaction {
  readonly console: Console;
  /** A turn is under way. */
  readonly busy: boolean;
  /** A line that was entered while a turn runs: whether it is a command that cannot wait, and was run. */
  whileBusy(line: string): boolean;
  /** To be called for every Ctrl-C or Escape while a turn runs. */
  interrupt(kind: 'ctrl_c' | 'escape'): void;
  /** Reads and answers until the person leaves; returns the exit code. */
  run(first?: string): Promise<number>;
}

interface Hooks {
  /** Runs a slash command. */
  command(console: Console, line: string): Promise<After>;
  /** After a turn that said something: names the session, for one. */
  afterTurn(chat: Chat): void;
  /** Ends what is running at once; the process leaves. */
  kill(): void;
}

/** The loop of the REPL: reads a line, runs it as a command or a turn, shows what happens. */
export function createInteraction(chat: Chat, terminal: OpenTerminal, hooks: Hooks): Interaction {
  const { paint } = terminal;
  let running: AbortController | undefined;
  let interruptedAt = -Infinity;
  let view: TurnView | undefined;
  let nearlyFull = false;
  const console: Console = { chat, terminal, view: () => view, thoughts: chat.world.config.thoughts };

  async function show(events: (signal: AbortSignal) => AsyncGenerator<TurnEvent, unknown>): Promise<void> {
    running = new AbortController();
    const shown = createTurnView(terminal, {
      contextWindow: () => chat.model.capabilities.contextWindow,
      thoughts: () => console.thoughts,
      tool: (name) => chat.tools().find((tool) => tool.name === name),
    });
    view = shown;
    terminal.working('waiting for the model');
    try {
      for await (const event of events(running.signal)) {
        shown.show(event);
        if (event.type === 'ended' && event.reason === 'stopped') giveBack();
      }
      if (running.signal.aborted) return;
      hooks.afterTurn(chat);
      tellFill();
    } catch (error) {
      shown.show({ type: 'ended', reason: running.signal.aborted ? 'interrupted' : 'failed' });
      if (!running.signal.aborted) report(error);
    } finally {
      running = undefined;
      terminal.idle();
    }
  }

  /** Once each time, before it happens: a person may want to end something first. */
  function tellFill(): void {
    const { state, percent } = fillNow(chat);
    if (state === 'near' && !nearlyFull && chat.limits.autoCompact)
      terminal.note(
        paint.dim(
          `The context is ${percent} % full: it will be shortened soon (/compact does it now, /new begins afresh)`,
        ),
      );
    nearlyFull = state !== 'free';
  }

  /** One line for what a person can mend; a bug keeps its stack. */
  function report(error: unknown): void {
    const known = error instanceof ChatError;
    const text = known ? error.message : stackOf(error);
    if (!known) chat.world.log(text);
    terminal.note(paint.bad(`${known ? error.code : 'BUG'}: ${printable(text)}`));
  }

  /** Runs with another model for once. */
  async function withModel(model: Model | undefined, work: () => Promise<void>): Promise<void> {
    const usual = chat.model;
    if (model) chat.useModel(model);
    try {
      await work();
    } finally {
      if (model) chat.useModel(usual);
    }
  }

  async function obey(line: string): Promise<boolean> {
    const after: After = isCommand(line) ? await hooks.command(console, line) : { next: 'send', text: line };
    switch (after?.next) {
      case 'leave':
        return false;
      case 'send':
        await withModel(after.model, () => show((signal) => send(chat, after, signal)));
        return true;
      case 'run':
        await withModel(after.model, () => show((signal) => turn(chat, signal)));
        return true;
      case 'show':
        await show((signal) => after.events(signal));
        return true;
      case 'resume':
        await finishCalls();
        return true;
      case undefined:
        return true;
    }
  }

  async function finishCalls(): Promise<void> {
    if (unfinishedCalls(chat.session.path()).length === 0) return;
    terminal.note(paint.warning('The last turn was left in the middle: its open calls come first.'));
    await show((signal) => turn(chat, signal));
  }

  /** What was to be said next goes back into the editor: the person decides anew. */
  const giveBack = () => terminal.prefill(terminal.takeQueued().join('\n'));
  const interrupt = () => {
    running?.abort();
    giveBack();
  };

  return {
    console,
    get busy() {
      return running !== undefined;
    },
    whileBusy(line) {
      const [command] = line.trim().split(' ');
      if (!running || (command !== '/stop' && command !== '/queue')) return false;
      void hooks.command(console, line.trim()).then(() => command === '/stop' && interrupt());
      return true;
    },
    interrupt(kind) {
      const now = performance.now();
      const again = now - interruptedAt < ladderMs;
      interruptedAt = now;
      // A command that hangs is no turn, and cannot be interrupted otherwise.
      if (kind === 'ctrl_c' && again && running?.signal.aborted !== false) return hooks.kill();
      if (running?.signal.aborted === false) interrupt();
    },
    async run(first) {
      await finishCalls();
      for (let line = first; ; line = undefined) {
        line ??= await terminal.readLine(promptOf(chat, paint));
        if (line === undefined) return 0;
        if (line.trim() === '') continue;
        try {
          if (!(await obey(line))) return 0;
        } catch (error) {
          report(error);
        }
      }
    },
  };
}

/** `> `, with the mode before it unless it is the usual one. */
export function promptOf({ mode }: Chat, paint: OpenTerminal['paint']): string {
  return mode === 'ask' ? paint.prompt('> ') : `${paint.dim(mode)} ${paint.prompt('> ')}`;
}

/** `/name …`; a message may begin with a path, which has more slashes. */
const isCommand = (line: string): boolean => /^\/[^\s/]*(?:\s|$)/.test(line);

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
