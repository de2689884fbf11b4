import type { Chat } from '../chat.ts';
import type { Usage } from '../message.ts';
import { shownName } from '../toolbox/tool.ts';
import type { TurnEnd, TurnEvent } from '../turn/turn-event.ts';
import { MarkdownStream } from './markdown.ts';
import { printable } from './printable.ts';
import {
  aboveDiff,
  callLine,
  diffLines,
  endings,
  looksLikeDiff,
  resultLine,
  tellingArgument,
  thoughtsLine,
  usageLine,
} from './show.ts';
import type { Terminal } from './terminal.ts';

/** A stream that says nothing for so long has stalled. */
const stallMs = 3000;
/** Lines of a diff that nobody has been asked about. */
const mostDiffLines = 40;
export const awaited = 'waiting for the model';

type EventOf<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>;

/** Shows a turn: text as it streams, one line a call and one a result; never moves the cursor. */
export class TurnView {
  readonly #terminal: Terminal;
  readonly #chat: Chat;
  readonly #showsThoughts: boolean;
  readonly #markdown: MarkdownStream;
  readonly #startedAt = performance.now();
  #streaming: 'text' | 'reasoning' | undefined;
  #thoughts = '';
  #total: Usage | undefined;
  /** The calls that run by their ids, and whether another began meanwhile. */
  readonly #running = new Map<string, EventOf<'call_started'>>();
  #several = false;

  /** `thoughts`: they are streamed as they come, instead of one line about them. */
  constructor(terminal: Terminal, chat: Chat, thoughts: boolean) {
    this.#terminal = terminal;
    this.#chat = chat;
    this.#showsThoughts = thoughts && terminal.screen;
    this.#markdown = new MarkdownStream(terminal);
  }

  show(event: TurnEvent): void {
    const terminal = this.#terminal;
    const { warning, dim } = terminal.paint;
    if (event.type === 'text' || event.type === 'reasoning') return this.#stream(event);
    if (event.type === 'call_progress')
      return terminal.working(`${this.#nameOf(event.call.name)}: ${printable(event.message)}`);
    this.#finish();
    switch (event.type) {
      case 'call_begun':
        return terminal.working(`writing a call of ${this.#nameOf(event.name)}`);
      case 'retry': {
        const reason = printable(event.reason).replace(/[^.?!]$/, '$&.');
        const discarded = event.discard ? ' What came so far does not count.' : '';
        return terminal.note(warning(`↻ again in ${Math.ceil(event.inMs / 1000)} s: ${reason}${discarded}`));
      }
      case 'answer': {
        // What a turn took: all that was written, and what the last answer had to read.
        const { usage } = event.message;
        this.#total = { ...usage, output: usage.output + (this.#total?.output ?? 0) };
        return undefined;
      }
      case 'call_started':
        return this.#started(event);
      case 'call_ended':
        this.#ended(event);
        return terminal.working(awaited);
      case 'compacted': {
        const { by, tokensBefore, tokensAfter } = event;
        return terminal.note(dim(`✂ shortened (${by}): ${tokensBefore} → ${tokensAfter} tokens`));
      }
      case 'warning':
        return terminal.note(warning(`! ${printable(event.text)}`));
      case 'note':
        return terminal.note(dim(printable(event.text)));
      case 'ended':
        return this.#end(event.reason);
    }
  }

  #toolOf = (name: string) => this.#chat.tools().find((tool) => tool.name === name);

  #nameOf(name: string): string {
    const tool = this.#toolOf(name);
    return printable(tool ? shownName(tool) : name);
  }

  #stream({ type, text }: EventOf<'text' | 'reasoning'>): void {
    const terminal = this.#terminal;
    if (this.#streaming !== type) {
      this.#finish();
      this.#streaming = type;
      this.#thoughts = '';
    }
    if (type === 'text') this.#markdown.push(text);
    else if (this.#showsThoughts) terminal.write(terminal.paint.dim(printable(text)));
    else this.#thoughts += text;
    terminal.working(awaited, stallMs);
  }

  #finish(): void {
    if (this.#streaming === 'text') this.#markdown.end();
    else if (this.#thoughts !== '') this.#terminal.note(thoughtsLine(this.#thoughts, this.#terminal));
    // An empty row below them: without colours nothing else would tell thoughts from what is said.
    else if (this.#streaming) this.#terminal.print('\n');
    this.#streaming = undefined;
    this.#thoughts = '';
  }

  #started(event: EventOf<'call_started'>): void {
    const { call, tool, seen } = event;
    this.#several = this.#running.size > 0;
    this.#running.set(call.id, event);
    // The question has shown what it does.
    const shown = seen ? { ...call, arguments: '' } : call;
    if (!tool?.quiet) this.#terminal.note(callLine(shown, tool, this.#terminal));
    this.#terminal.working(this.#nameOf(call.name));
  }

  #ended({ call, reply, ms }: EventOf<'call_ended'>): void {
    const terminal = this.#terminal;
    const started = this.#running.get(call.id);
    this.#running.delete(call.id);
    const tool = started?.tool ?? this.#toolOf(call.name);
    // One that was not made has not been shown yet, nor one that was to show itself and did not.
    if (!started || (tool?.quiet && reply.shown === undefined)) terminal.note(callLine(call, tool, terminal));
    if (reply.shown !== undefined) {
      if (reply.shown !== '') terminal.note(terminal.paint.dim(`  └ ${printable(reply.shown)}`));
      return;
    }
    const which = `${this.#nameOf(call.name)} ${tellingArgument(call.arguments)}`.trim();
    terminal.note(resultLine(reply, { ms, name: this.#several ? which : undefined }, terminal));
    if (reply.isError || started?.seen || !terminal.screen || !looksLikeDiff(reply.text)) return;
    const text = reply.text.trim();
    const diff = printable(text.slice(aboveDiff(text)?.length ?? 0).replace(/^\n/, ''));
    terminal.print(diffLines(diff, terminal.paint).slice(0, mostDiffLines).join('\n'));
  }

  #end(reason: TurnEnd): void {
    const terminal = this.#terminal;
    terminal.idle();
    this.#running.clear();
    if (reason !== 'done') terminal.note(terminal.paint.warning(endings[reason]));
    const ms = performance.now() - this.#startedAt;
    const window = this.#chat.model.capabilities.contextWindow;
    if (this.#total) terminal.note(usageLine(this.#total, { window, ms }, terminal.paint));
  }
}
