import type { Chat } from './chat.ts';
import { ChatError } from './errors.ts';
import { nameOf } from './models/model.ts';
import { endings } from './terminal/show.ts';
import { inert } from './terminal/paste.ts';
import { jsonLine } from './terminal/printable.ts';
import { send, type UserInput } from './turn/turn.ts';
import type { TurnEnd, TurnEvent } from './turn/turn-event.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';

/** The output that an answer goes to. */
export interface OneShotOutput {
  readonly output: OutputFormat;
  readonly write: (text: string) => void;
  /** Writes what is for people and not the answer. */
  readonly note: (text: string) => void;
  /**
   * Somebody watches: text is written as it comes. Else only the answer is, and nothing that was taken back.
   */
  readonly live: boolean;
}

/** The exit codes of docs/repl.md; 1 for any other end. 2, a wrong command line, comes from elsewhere. */
const exitCodes: Readonly<Partial<Record<TurnEnd, number>>> = { done: 0, rounds: 3, interrupted: 130 };

/**
 * One turn, or several in a row (each prompt sees the ones before), without anybody to ask. `text` writes
 * each answer, `json` one object at the end, `stream-json` one line an event and that object. Returns the
 * exit code. Throws what a turn throws, once the object is written.
 */
export async function runOneShot(
  chat: Chat,
  prompts: readonly UserInput[],
  target: OneShotOutput,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  const { output, write, note } = target;
  const { session, model, unasked } = chat;
  const run = new OneShotRun(chat, target, signal);
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
    const { reason, failure: error, text, data, turns, calls, usage } = run;
    const outcome = { type: 'result', reason, error, text, data: reason === 'done' ? data : undefined };
    const counts = { turns, calls, unasked: unasked.length, usage, model: nameOf(model) };
    const kept = session.file === undefined ? undefined : session.id;
    const ms = Math.round(performance.now() - startedAt);
    if (output !== 'text') write(jsonLine({ ...outcome, ...counts, session: kept, ms }));
  }
  const { reason, failure } = run;
  if (failure !== undefined) note(failure);
  else if (reason !== 'done' && output === 'text') note(endings[reason]);
  // 4: well, but calls were refused because nobody could be asked.
  return reason === 'done' && unasked.length > 0 ? 4 : (exitCodes[reason] ?? 1);
}

class OneShotRun {
  reason: TurnEnd = 'done';
  failure: string | undefined;
  text = '';
  data: unknown;
  turns = 0;
  calls = 0;
  readonly usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, estimated: false };
  /** The number of unasked calls that have been reported. */
  #refusalsReported = 0;
  readonly #streams: boolean;
  readonly #chat: Chat;
  readonly #target: OneShotOutput;
  readonly #signal: AbortSignal;

  constructor(chat: Chat, target: OneShotOutput, signal: AbortSignal) {
    this.#chat = chat;
    this.#target = target;
    this.#signal = signal;
    this.#streams = target.output === 'text' && target.live && !chat.schema;
  }

  /** One prompt; where a schema is asked for, an answer that does not fit is asked for once more. */
  async answer(prompt: UserInput): Promise<void> {
    await this.#runTurn(prompt);
    if (this.#isAnswered && this.#chat.schema) await this.#fit(this.#chat.schema);
    if (this.#target.output === 'text' && !this.#streams && this.failure === undefined)
      this.#target.write(`${this.text}${lineEnd(this.text)}`);
  }

  /** An empty answer is one that does not fit. */
  get #isAnswered(): boolean {
    return this.reason === 'done' || this.reason === 'empty';
  }

  async #fit(schema: NonNullable<Chat['schema']>): Promise<void> {
    const { answerReader } = await import('./toolbox/check-arguments.ts');
    const read = await answerReader(schema);
    let found = read(this.text);
    if ('problem' in found) {
      this.#target.note(`The answer does not fit the schema, and is asked for again: ${found.problem}`);
      // What the problem quotes names no files.
      await this.#runTurn({
        text: inert(`${found.problem} Answer again, with nothing but that JSON value.`),
      });
      if (this.#isAnswered) found = read(this.text);
    }
    if ('value' in found) this.data = found.value;
    else if (this.#isAnswered) {
      this.reason = 'failed';
      this.failure = `The answer does not fit the schema: ${found.problem}`;
    }
  }

  async #runTurn(prompt: UserInput): Promise<void> {
    const { output, note, write } = this.#target;
    const { unasked } = this.#chat;
    this.text = '';
    for await (const event of send(this.#chat, prompt, this.#signal)) {
      this.#count(event);
      for (const refusal of unasked.slice(this.#refusalsReported)) note(`not run: ${refusal}`);
      this.#refusalsReported = unasked.length;
      if (output === 'stream-json') write(jsonLine(plainEvent(event)));
      else this.#report(event);
    }
    // Also when it was a hook after the turn that was interrupted.
    if (this.#signal.aborted) this.reason = 'interrupted';
  }

  #report(event: TurnEvent): void {
    const { write, note } = this.#target;
    if (event.type === 'warning') note(event.text);
    // Not what the model does wrong, but what the person may want to allow.
    if (event.type === 'call_ended' && event.reply.isError && /^Refused(?!: needs)/.test(event.reply.text))
      note(`${event.call.name}: ${event.reply.text}`);
    if (event.type === 'retry') {
      if (this.#streams && event.discard) write('\n');
      note(`again in ${Math.ceil(event.inMs / 1000)} s: ${event.reason}`);
    }
    if (this.#streams && event.type === 'text') write(event.text);
    if (this.#streams && event.type === 'answer') write(lineEnd(event.message.text));
  }

  #count(event: TurnEvent): void {
    if (event.type === 'ended') this.reason = event.reason;
    if (event.type === 'call_started') this.calls++;
    if (event.type !== 'answer') return;
    const { text, usage } = event.message;
    this.turns++;
    this.text = text;
    for (const kind of ['input', 'output', 'cacheRead', 'cacheWrite'] as const)
      this.usage[kind] += usage[kind];
    this.usage.estimated ||= usage.estimated === true;
  }
}

const lineEnd = (text: string): string => (text === '' || text.endsWith('\n') ? '' : '\n');

/** An event as a line of JSON: without what only this program can use. */
function plainEvent(event: TurnEvent): object {
  if (event.type === 'answer') return { ...event, message: { ...event.message, native: undefined } };
  if (event.type === 'call_started')
    return { type: event.type, call: event.call, server: event.tool?.server, tool: event.tool?.tool };
  if (event.type !== 'call_ended') return event;
  const { type, call, reply, ms } = event;
  const { text, images, isError } = reply;
  return { type, call, text, images: images.length, isError, ms: Math.round(ms) };
}
