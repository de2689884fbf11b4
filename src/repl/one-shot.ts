import type { Chat } from './chat.ts';
import { nameOf } from './models/model.ts';
import { send, type Said } from './send.ts';
import type { AssistantMessage, Usage } from './message.ts';
import type { TurnEnd, TurnEvent } from './turn-event.ts';

export type Output = 'text' | 'json' | 'stream-json';

interface Ways {
  readonly output: Output;
  readonly write: (text: string) => void;
  /** For people: what is not the answer. */
  readonly note: (text: string) => void;
}

/** As they are documented: 0 well, 1 a failure, 3 the limit of turns, 130 interrupted. 2, a wrong command line, comes from elsewhere. */
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
 * One turn, or several in a row (each prompt sees the ones before), without anybody to ask. `text` writes the answer as it comes,
 * `json` one object at the end, `stream-json` one line an event. Returns the exit code. Throws what a turn throws.
 */
export async function runOneShot(
  chat: Chat,
  prompts: readonly Said[],
  ways: Ways,
  signal: AbortSignal,
): Promise<number> {
  const { output, write, note } = ways;
  const startedAt = performance.now();
  const totals: Totals = { turns: 0, calls: 0, text: '', usage: undefined };
  let reason: TurnEnd = 'done';
  for (const prompt of prompts) {
    for await (const event of send(chat, prompt, signal)) {
      count(totals, event);
      if (output === 'stream-json') write(`${JSON.stringify(plainEvent(event))}\n`);
      else if (event.type === 'warning') note(event.text);
      else if (event.type === 'retry') note(`${event.reason}: again in ${Math.ceil(event.inMs / 1000)} s`);
      else if (output === 'text' && event.type === 'text' && !chat.schema) write(event.text);
      if (event.type === 'ended') ({ reason } = event);
    }
    if (output === 'text' && totals.text !== '')
      write(chat.schema ? `${totals.text.trim()}\n` : totals.text.endsWith('\n') ? '' : '\n');
    if (reason !== 'done') break;
  }
  const misfit = reason === 'done' && chat.schema ? await misfitOf(totals.text, chat.schema) : undefined;
  if (misfit !== undefined)
    [reason] = ['failed' as const, note(`The answer does not fit the schema: ${misfit}`)];
  if (output !== 'text') {
    const result = {
      type: 'result',
      reason,
      text: totals.text,
      ...(chat.schema && misfit === undefined && reason === 'done'
        ? { data: JSON.parse(totals.text) as unknown }
        : {}),
      turns: totals.turns,
      calls: totals.calls,
      usage: totals.usage,
      model: nameOf(chat.model),
      ms: Math.round(performance.now() - startedAt),
      session: chat.session.file === undefined ? undefined : chat.session.id,
    };
    write(`${JSON.stringify(result)}\n`);
  }
  if (reason !== 'done' && output === 'text') note(endings[reason] ?? reason);
  return exitCodes[reason];
}

const endings: Partial<Record<TurnEnd, string>> = {
  length: 'The answer was cut at the length limit.',
  filtered: 'The provider withheld the answer.',
  rounds: 'Stopped at the limit of answers in one turn (--max-turns).',
  interrupted: 'Interrupted.',
};

interface Totals {
  turns: number;
  calls: number;
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

async function misfitOf(
  text: string,
  schema: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const { checkArguments } = await import('./toolbox/check-arguments.ts');
  const found = await checkArguments({ name: 'answer', description: '', inputSchema: schema }, text.trim());
  return 'problem' in found ? found.problem : undefined;
}
