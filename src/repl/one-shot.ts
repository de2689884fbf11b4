import type { Chat } from './chat.ts';
import { ChatError } from './errors.ts';
import { inert } from './text/inert.ts';
import { nameOf } from './models/model.ts';
import { send, type Said } from './turn/send.ts';
import type { AssistantMessage, Usage } from './message.ts';
import type { ToolReply } from './toolbox/tool.ts';
import type { TurnEnd, TurnEvent } from './turn/turn-event.ts';

export type Output = 'text' | 'json' | 'stream-json';

interface Ways {
  readonly output: Output;
  readonly write: (text: string) => void;
  /** For people: what is not the answer. */
  readonly note: (text: string) => void;
  /**
   * Somebody watches: text is written as it comes. Else only the answer is, and nothing that was taken back or came
   * before a call.
   */
  readonly live: boolean;
}

/** As docs/repl.md has them. 2, a wrong command line, comes from elsewhere. */
const exitCodes: Readonly<Record<TurnEnd, number>> = {
  done: 0,
  length: 1,
  filtered: 1,
  failed: 1,
  stopped: 1,
  rounds: 3,
  interrupted: 130,
};

/**
 * One turn, or several in a row (each prompt sees the ones before), without anybody to ask. `text` writes each
 * answer, `json` one object at the end, `stream-json` one line an event and that object. Returns the exit code.
 * Throws what a turn throws, once the object is written.
 */
export async function runOneShot(
  chat: Chat,
  prompts: readonly Said[],
  { output, write, note, live }: Ways,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  const totals: Totals = { turns: 0, calls: 0, unasked: 0, text: '', usage: undefined };
  const streams = output === 'text' && live && !chat.schema;
  let reason: TurnEnd = 'done';
  let failure: string | undefined;

  async function say(prompt: Said): Promise<void> {
    totals.text = '';
    for await (const event of send(chat, prompt, signal)) {
      count(totals, event);
      for (const line of chat.unasked.slice(totals.unasked)) note(`not run: ${line}`);
      totals.unasked = chat.unasked.length;
      if (output === 'stream-json') write(`${JSON.stringify(plainEvent(event))}\n`);
      else if (event.type === 'warning') note(event.text);
      else if (event.type === 'call_ended' && isRefusal(event.reply))
        note(`${event.call.name}: ${event.reply.text}`);
      else if (event.type === 'retry') {
        if (streams && event.discard) write('\n');
        note(`again in ${Math.ceil(event.inMs / 1000)} s: ${event.reason}`);
      } else if (streams && event.type === 'text') write(event.text);
      if (streams && event.type === 'answer') write(lineEnd(event.message.text));
      if (event.type === 'ended') ({ reason } = event);
    }
    // Also when it was a hook after the turn that was interrupted.
    if (signal.aborted) reason = 'interrupted';
  }
  const result = (data?: unknown) => ({
    type: 'result',
    reason,
    ...(failure === undefined ? {} : { error: failure }),
    text: totals.text,
    ...(data === undefined ? {} : { data }),
    turns: totals.turns,
    calls: totals.calls,
    unasked: totals.unasked,
    usage: totals.usage,
    model: nameOf(chat.model),
    ms: Math.round(performance.now() - startedAt),
    session: chat.session.file === undefined ? undefined : chat.session.id,
  });

  let data: unknown;
  try {
    for (const prompt of prompts) {
      await say(prompt);
      if (reason === 'done' && chat.schema) {
        const { answerReader } = await import('./toolbox/check-arguments.ts');
        const read = await answerReader(chat.schema);
        let found = read(totals.text);
        if ('problem' in found) {
          note(`The answer does not fit the schema, and is asked for again: ${found.problem}`);
          // What the problem quotes names no files.
          await say({ text: inert(`${found.problem} Answer again, with nothing but that JSON value.`) });
          if (reason === 'done') found = read(totals.text);
        }
        if ('value' in found) data = found.value;
        else if (reason === 'done')
          [reason, failure] = ['failed', `The answer does not fit the schema: ${found.problem}`];
      }
      if (output === 'text' && !streams && failure === undefined)
        write(`${totals.text}${lineEnd(totals.text)}`);
      if (reason !== 'done') break;
    }
  } catch (error) {
    reason = error instanceof ChatError && error.code === 'INTERRUPTED' ? 'interrupted' : 'failed';
    failure = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    if (output !== 'text') write(`${JSON.stringify(result(reason === 'done' ? data : undefined))}\n`);
  }
  if (failure !== undefined) note(failure);
  else if (reason !== 'done' && output === 'text') note(endings[reason] ?? reason);
  // 4: well, but calls were refused because nobody could be asked.
  return reason === 'done' && totals.unasked > 0 ? 4 : exitCodes[reason];
}

const lineEnd = (text: string): string => (text === '' || text.endsWith('\n') ? '' : '\n');

const endings: Partial<Record<TurnEnd, string>> = {
  length: 'The answer was cut at the length limit.',
  filtered: 'The provider withheld the answer.',
  rounds: 'Stopped at the limit of answers in one turn (--max-turns).',
  stopped: 'Stopped.',
  interrupted: 'Interrupted.',
};

interface Totals {
  turns: number;
  calls: number;
  unasked: number;
  text: string;
  usage: Usage | undefined;
}

function count(totals: Totals, event: TurnEvent): void {
  if (event.type === 'call_started') totals.calls++;
  if (event.type !== 'answer') return;
  const { message }: { message: AssistantMessage } = event;
  totals.turns++;
  totals.text = message.text;
  const { usage: before } = totals;
  totals.usage = {
    input: message.usage.input + (before?.input ?? 0),
    output: message.usage.output + (before?.output ?? 0),
    cacheRead: message.usage.cacheRead + (before?.cacheRead ?? 0),
    cacheWrite: message.usage.cacheWrite + (before?.cacheWrite ?? 0),
    estimated: message.usage.estimated || (before?.estimated ?? false),
  };
}

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
      const { call, reply, ms } = event;
      return {
        type: event.type,
        call,
        text: reply.text,
        images: reply.images.length,
        isError: reply.isError,
        ms: Math.round(ms),
      };
    }
    default:
      return event;
  }
}

/** Not what the model does wrong, but what the person may want to allow. */
const isRefusal = ({ isError, text }: ToolReply): boolean =>
  isError && /^Refused(?!: needs approval)/.test(text);
