import type { Chat } from './chat.ts';
import { ChatError } from './errors.ts';
import type { Usage } from './message.ts';
import { nameOf } from './models/model.ts';
import { inert } from './text/inert.ts';
import type { ToolReply } from './toolbox/tool.ts';
import { send, type Said } from './turn/send.ts';
import type { TurnEnd, TurnEvent } from './turn/turn-event.ts';

export type Output = 'text' | 'json' | 'stream-json';

interface Ways {
  readonly output: Output;
  readonly write: (text: string) => void;
  /** For people: what is not the answer. */
  readonly note: (text: string) => void;
  /** Somebody watches: text is written as it comes. Else only the answer is, and nothing that was taken back. */
  readonly live: boolean;
}

/** As docs/repl.md has them. 2, a wrong command line, comes from elsewhere. */
const exitCodes: Readonly<Record<TurnEnd, number>> = {
  done: 0,
  length: 1,
  filtered: 1,
  failed: 1,
  empty: 1,
  stopped: 1,
  rounds: 3,
  interrupted: 130,
};

const endings: Partial<Record<TurnEnd, string>> = {
  length: 'The answer was cut at the length limit.',
  filtered: 'The provider withheld the answer.',
  empty: 'The model gave no answer.',
  rounds: 'Stopped at the limit of answers in one turn (--max-turns).',
  stopped: 'Stopped.',
  interrupted: 'Interrupted.',
};

/**
 * One turn, or several in a row (each prompt sees the ones before), without anybody to ask. `text` writes each
 * answer, `json` one object at the end, `stream-json` one line an event and that object. Returns the exit code.
 * Throws what a turn throws, once the object is written.
 */
export async function runOneShot(
  chat: Chat,
  prompts: readonly Said[],
  ways: Ways,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  const run = new Run(chat, ways, signal);
  try {
    for (const prompt of prompts) {
      await run.answer(prompt);
      if (run.reason !== 'done') break;
    }
  } catch (error) {
    run.reason = error instanceof ChatError && error.code === 'INTERRUPTED' ? 'interrupted' : 'failed';
    run.failure = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    const result = { ...run.result(), ms: Math.round(performance.now() - startedAt) };
    if (ways.output !== 'text') ways.write(`${JSON.stringify(result)}\n`);
  }
  if (run.failure !== undefined) ways.note(run.failure);
  else if (run.reason !== 'done' && ways.output === 'text') ways.note(endings[run.reason] ?? run.reason);
  // 4: well, but calls were refused because nobody could be asked.
  return run.reason === 'done' && run.unasked > 0 ? 4 : exitCodes[run.reason];
}

class Run {
  reason: TurnEnd = 'done';
  failure: string | undefined;
  unasked = 0;
  private text = '';
  private data: unknown;
  private turns = 0;
  private calls = 0;
  private usage: Usage | undefined;
  private readonly streams: boolean;
  private readonly chat: Chat;
  private readonly ways: Ways;
  private readonly signal: AbortSignal;

  constructor(chat: Chat, ways: Ways, signal: AbortSignal) {
    this.chat = chat;
    this.ways = ways;
    this.signal = signal;
    this.streams = ways.output === 'text' && ways.live && !chat.schema;
  }

  /** One prompt; where a schema is asked for, an answer that does not fit is asked for once more. */
  async answer(prompt: Said): Promise<void> {
    await this.say(prompt);
    if (this.isAnswered && this.chat.schema) await this.fit(this.chat.schema);
    if (this.ways.output === 'text' && !this.streams && this.failure === undefined)
      this.ways.write(`${this.text}${lineEnd(this.text)}`);
  }

  result(): object {
    const { reason, failure, text, data, turns, calls, unasked, usage, chat } = this;
    return {
      type: 'result',
      reason,
      ...(failure === undefined ? {} : { error: failure }),
      text,
      ...(data === undefined || reason !== 'done' ? {} : { data }),
      turns,
      calls,
      unasked,
      usage,
      model: nameOf(chat.model),
      session: chat.session.file === undefined ? undefined : chat.session.id,
    };
  }

  /** An empty answer is one that does not fit. */
  private get isAnswered(): boolean {
    return this.reason === 'done' || this.reason === 'empty';
  }

  private async fit(schema: NonNullable<Chat['schema']>): Promise<void> {
    const { answerReader } = await import('./toolbox/check-arguments.ts');
    const read = await answerReader(schema);
    let found = read(this.text);
    if ('problem' in found) {
      this.ways.note(`The answer does not fit the schema, and is asked for again: ${found.problem}`);
      // What the problem quotes names no files.
      await this.say({ text: inert(`${found.problem} Answer again, with nothing but that JSON value.`) });
      if (this.isAnswered) found = read(this.text);
    }
    if ('value' in found) this.data = found.value;
    else if (this.isAnswered) {
      this.reason = 'failed';
      this.failure = `The answer does not fit the schema: ${found.problem}`;
    }
  }

  private async say(prompt: Said): Promise<void> {
    this.text = '';
    for await (const event of send(this.chat, prompt, this.signal)) {
      this.count(event);
      for (const line of this.chat.unasked.slice(this.unasked)) this.ways.note(`not run: ${line}`);
      this.unasked = this.chat.unasked.length;
      if (this.ways.output === 'stream-json') this.ways.write(`${JSON.stringify(plainEvent(event))}\n`);
      else this.tell(event);
      if (this.streams && event.type === 'answer') this.ways.write(lineEnd(event.message.text));
      if (event.type === 'ended') this.reason = event.reason;
    }
    // Also when it was a hook after the turn that was interrupted.
    if (this.signal.aborted) this.reason = 'interrupted';
  }

  private tell(event: TurnEvent): void {
    const { write, note } = this.ways;
    if (event.type === 'warning') note(event.text);
    else if (event.type === 'call_ended' && isRefusal(event.reply))
      note(`${event.call.name}: ${event.reply.text}`);
    else if (event.type === 'retry') {
      if (this.streams && event.discard) write('\n');
      note(`again in ${Math.ceil(event.inMs / 1000)} s: ${event.reason}`);
    } else if (this.streams && event.type === 'text') write(event.text);
  }

  private count(event: TurnEvent): void {
    if (event.type === 'call_started') this.calls++;
    if (event.type !== 'answer') return;
    const { text, usage } = event.message;
    const { usage: before } = this;
    this.turns++;
    this.text = text;
    this.usage = {
      input: usage.input + (before?.input ?? 0),
      output: usage.output + (before?.output ?? 0),
      cacheRead: usage.cacheRead + (before?.cacheRead ?? 0),
      cacheWrite: usage.cacheWrite + (before?.cacheWrite ?? 0),
      estimated: usage.estimated || (before?.estimated ?? false),
    };
  }
}

const lineEnd = (text: string): string => (text === '' || text.endsWith('\n') ? '' : '\n');

/** An event as a line of JSON: without what only this program can use. */
function plainEvent(event: TurnEvent): object {
  switch (event.type) {
    case 'answer': {
      const { native: _, ...message } = event.message;
      return { ...event, message };
    }
    case 'call_started':
      return { type: event.type, call: event.call, server: event.tool?.server, tool: event.tool?.tool };
    case 'call_ended': {
      const { type, call, reply, ms } = event;
      const { text, images, isError } = reply;
      return { type, call, text, images: images.length, isError, ms: Math.round(ms) };
    }
    default:
      return event;
  }
}

/** Not what the model does wrong, but what the person may want to allow. */
const isRefusal = ({ isError, text }: ToolReply): boolean =>
  isError && /^Refused(?!: needs approval)/.test(text);
