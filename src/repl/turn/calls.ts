import type { Chat } from '../chat.ts';
import type { ToolCall } from '../message.ts';
import { approvalOf } from '../person/approve.ts';
import { unfinishedCalls, type UnfinishedCall } from '../session/entry.ts';
import { shortened } from '../context/tokens.ts';
import { failed, type ClientTool, type ToolReply } from '../toolbox/tool.ts';
import { runHooks } from './hooks.ts';
import { prepare, type LoopGuard, type DecidedCall } from './prepare-call.ts';
import { eventStream, type Emit } from './event-stream.ts';
import type { TurnEvent } from './turn-event.ts';

/** Calls that only read run side by side, as many as this at a time. */
const atOnce = 6;

/**
 * The characters of a result that are kept, as in other hosts: some 25,000 tokens; and a quarter of what a
 * small model can hold.
 */
const mostChars = 100_000;

/** The chat, guard, signal and stream that the calls of an answer share. */
interface CallBatch {
  readonly chat: Chat;
  readonly guard: LoopGuard;
  readonly signal: AbortSignal;
  readonly emit: Emit<TurnEvent>;
}

/** `once`: nobody was asked; what our server would ask is agreed to for this act alone. */
type CallConsent = 'once' | 'yes' | 'trust' | 'always';

/**
 * Gives every call of the last answer its result, also those that an earlier process left open. Those that
 * only read and need no question run side by side, the others one after the other; whatever is no yes rejects
 * those that still wait. Says `stop` when the person wants the turn to end.
 */
export const runCalls = (
  chat: Chat,
  batch: Pick<CallBatch, 'guard' | 'signal'>,
): AsyncGenerator<TurnEvent, 'go_on' | 'stop'> => eventStream((emit) => runBatch({ ...batch, chat, emit }));

async function runBatch(batch: CallBatch): Promise<'go_on' | 'stop'> {
  const { chat, guard, signal, emit } = batch;
  const calls = unfinishedCalls(chat.session.path());
  for (const { call, state } of calls)
    if (state === 'none')
      chat.session.append({ type: 'tool', callId: call.id, name: call.name, state: 'proposed' });
  let together: Promise<unknown>[] = [];
  const endReading = async () => {
    const running = together;
    together = [];
    await Promise.all(running);
  };
  let rejected: string | undefined;
  let stops = false;
  for (const open of calls) {
    const tool = chat.tools().find(({ name }) => name === open.call.name);
    const reads = tool !== undefined && readsOnly(tool);
    // What a plan says of a call may depend on what was read before.
    if (!reads || together.length === atOnce) await endReading();
    const refusal = refusalOf(open, batch) ?? rejected;
    const ready = refusal === undefined ? await prepare(chat, open, batch) : failed(refusal);
    if (!('checked' in ready)) {
      await finish(batch, open.call, ready);
    } else if (reads && ready.verdict.effect === 'allow') {
      const running = makeCall(batch, ready, 'once');
      // How it fails is told where it is awaited.
      running.catch(() => undefined);
      together.push(running);
    } else {
      await endReading();
      const answer = await answerFor(batch, ready);
      if (typeof answer === 'string') stops = (await makeCall(batch, ready, answer)) || stops;
      else {
        await finish(batch, open.call, answer);
        rejected = 'Not run: the person rejected a call before it.';
        stops ||= answer.stops === true;
      }
    }
    stops ||= guard.refused > 1;
    if (stops) rejected ??= 'Not run: the turn ends here.';
  }
  await Promise.all(together);
  const text = 'The model makes the same call again and again: the turn ends here.';
  if (guard.refused > 1) await emit({ type: 'warning', text });
  return stops || signal.aborted ? 'stop' : 'go_on';
}

/**
 * Tells whether a tool only reads, as far as it is believed. Our own tools talk to the person: one at a time.
 */
const readsOnly = ({ annotations, builtIn, trusted }: ClientTool): boolean =>
  trusted && annotations.readOnlyHint === true && !builtIn;

/** The reason why a call cannot be made at all; undefined when it can. */
function refusalOf({ state, isCut }: UnfinishedCall, { signal }: CallBatch): string | undefined {
  if (state === 'started')
    return 'The program ended while this call ran: it may or may not have taken effect. It was not repeated.';
  if (isCut)
    return (
      'The answer was cut at its length limit, so that the arguments may be incomplete. ' +
      'The call was not run.'
    );
  return signal.aborted ? 'Not run: the turn was interrupted.' : undefined;
}

async function answerFor(
  { chat, signal }: CallBatch,
  { checked, verdict }: DecidedCall,
): Promise<CallConsent | ToolReply> {
  const { person } = chat;
  if (verdict.effect === 'allow' || !person) return 'once';
  const tools = chat.tools();
  const question = approvalOf(checked, verdict.why, person);
  const answer = await person.ask({ ...question, signal });
  // The person knows why: it is no failure to them.
  const no = (text: string) => ({ ...failed(text), shown: 'not run' });
  if (answer === undefined)
    return { ...no('The person rejected this call and stopped the turn.'), stops: true };
  if (answer === 'no') return no('The person rejected this call.');
  if (answer === 'always' || answer === 'trust') return answer;
  if (typeof answer === 'object')
    return no(`The person did not allow this call, and says: ${answer.instead}`);
  if (answer !== 'once') chat.remember(answer, checked, tools);
  return 'yes';
}

/** Makes a call; returns whether the turn is to end with it. */
async function makeCall(
  batch: CallBatch,
  { call, checked, notes }: DecidedCall,
  consent: CallConsent,
): Promise<boolean> {
  const { chat, signal, emit } = batch;
  const { tool, args, plan } = checked;
  chat.session.append({ type: 'tool', callId: call.id, name: call.name, state: 'started' });
  await emit({ type: 'call_started', call, tool, seen: consent !== 'once' && plan?.preview !== undefined });
  const startedAt = performance.now();
  const meta = plan?.ticket ? { 'toolcrib/ticket': plan.ticket, 'toolcrib/said': consent } : undefined;
  const progress = (message: string) => {
    void emit({ type: 'call_progress', call, message });
  };
  const reply = await tool
    .call(args, { signal, progress, meta })
    .catch((error: unknown) => failed(error instanceof Error ? error.message : String(error)));
  const ms = performance.now() - startedAt;
  const { text, isError } = reply;
  const after = await runHooks(chat, 'after', { call: checked, result: { text, isError }, signal });
  const hooked = [...notes, ...after.notes].map((note) => `\n[hook] ${note}`).join('');
  await finish(batch, call, { ...reply, text: text + hooked }, ms);
  return reply.stops === true;
}

async function finish({ chat, emit }: CallBatch, call: ToolCall, reply: ToolReply, ms = 0): Promise<void> {
  const images = reply.images.map((image, at) => ({ name: `${call.name} ${at + 1}`, ...image }));
  chat.session.append({
    type: 'tool',
    callId: call.id,
    name: call.name,
    state: 'done',
    text: shortened(reply.text, Math.min(mostChars, chat.model.capabilities.contextWindow)),
    isError: reply.isError,
    ms: Math.round(ms),
    ...(images.length > 0 ? { images } : {}),
  });
  await emit({ type: 'call_ended', call, reply, ms });
}
