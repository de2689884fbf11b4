import { decide } from '../approval/decide.ts';
import type { ToolCall } from '../message.ts';
import { approvalOf } from '../person/approve.ts';
import type { UnfinishedCall } from '../session/unfinished.ts';
import { shortened } from '../text/shortened.ts';
import { failed, type Tool, type ToolReply } from '../toolbox/tool.ts';
import type { Agent } from './agent.ts';
import { createChannel, merged } from './channel.ts';
import { afterCall } from './hooks.ts';
import { prepare, type Ready, type Said } from './prepare-call.ts';
import { repetition, type Guard } from './repetition.ts';
import type { TurnEvent } from './turn-event.ts';

/** Calls that only read run side by side, as many as this at a time. */
const atOnce = 6;

/** Of a result, as other hosts have it: some 25,000 tokens; and a quarter of what a small model can hold. */
const mostChars = 100_000;

interface Batch {
  readonly calls: readonly UnfinishedCall[];
  readonly guard: Guard;
  readonly signal: AbortSignal;
  /** The answer was cut, so that the arguments may be as well. */
  readonly cut?: boolean;
}

/** Why a call is not made, for the model. */
interface Rejection {
  readonly reply: ToolReply;
  /** The calls of this answer that were not run yet are not run either. */
  readonly rejects?: boolean;
  readonly stops?: boolean;
}

/**
 * Gives every call of one answer its result. Those that only read and need no question run side by side, the others one
 * after the other; a no rejects the ones still waiting. Says `stop` when the person wants the turn to end.
 */
export async function* runCalls(agent: Agent, batch: Batch): AsyncGenerator<TurnEvent, 'go_on' | 'stop'> {
  const { signal, guard } = batch;
  for (const { call, state } of batch.calls)
    if (state === 'none')
      agent.session.append({ type: 'tool', callId: call.id, name: call.name, state: 'proposed' });
  const together: Ready[] = [];
  const flush = () => runTogether(agent, together.splice(0), signal);
  let rejected: string | undefined;
  let stops = false;
  for (const open of batch.calls) {
    const { call } = open;
    const tool = agent.tools().find(({ name }) => name === call.name);
    const reads = tool !== undefined && readsOnly(tool);
    // What a plan says of a call may depend on what was read before.
    if (!reads) yield* flush();
    const refusal = refusalOf(open, batch) ?? rejected;
    if (refusal !== undefined) {
      yield* finish(agent, call, failed(refusal), 0);
      continue;
    }
    const ready = await prepare(agent, open, signal);
    const repeated = await repetition(agent, call, ready, batch);
    if (reads && 'checked' in ready && ready.verdict.effect === 'allow' && !repeated) {
      together.push(ready);
      continue;
    }
    yield* flush();
    const answer =
      repeated ?? ('checked' in ready ? await answerFor(agent, ready, signal) : { reply: ready });
    if (typeof answer !== 'string') {
      yield* finish(agent, call, answer.reply, 0);
      if (answer.rejects) rejected = 'Not run: the person rejected a call before it.';
      stops ||= answer.stops === true;
    } else if ('checked' in ready)
      stops = (yield* runOne(agent, { ...ready, said: answer }, signal)) || stops;
    if (stops) rejected ??= 'Not run: the turn ends here.';
  }
  yield* flush();
  if (guard.refused)
    yield { type: 'warning', text: 'The model makes the same call again and again: the turn ends here.' };
  return stops || signal.aborted ? 'stop' : 'go_on';
}

/** As far as it is believed. Our own tools talk to the person: one at a time. */
const readsOnly = ({ annotations, own, trusted }: Tool): boolean =>
  trusted && annotations.readOnlyHint === true && !own;

/** Why a call cannot be made at all; undefined when it can. */
function refusalOf({ state }: UnfinishedCall, { cut, signal }: Batch): string | undefined {
  if (state === 'started')
    return 'The program ended while this call ran: it may or may not have taken effect. It was not repeated.';
  if (cut)
    return 'The answer was cut at its length limit, so that the arguments may be incomplete. The call was not run.';
  return signal.aborted ? 'Not run: the turn was interrupted.' : undefined;
}

async function answerFor(agent: Agent, ready: Ready, signal: AbortSignal): Promise<Said | Rejection> {
  const { checked } = ready;
  if (ready.verdict.effect === 'allow') return 'once';
  // An answer to an earlier call of the batch may have settled this one.
  const verdict = decide(checked, { mode: agent.mode, rules: agent.rules(), interactive: true });
  if (verdict.effect === 'allow') return 'once';
  const { person } = agent;
  if (verdict.effect === 'deny' || !person) return { reply: failed(`Refused: ${verdict.why}`) };
  const tools = agent.tools();
  const question = approvalOf(checked, verdict.why, person.terminal);
  const answer = (await person.ask({ ...question, signal })) ?? { answer: 'stop' };
  // The person knows why: it is no failure to them.
  const no = (text: string) => ({ reply: { ...failed(text), shown: 'not run' } });
  switch (answer.answer) {
    case 'once':
      return 'yes';
    case 'always':
      return 'always';
    case 'feedback':
      return no(`The person did not allow this call, and says: ${answer.text}`);
    case 'no':
      return { ...no('The person rejected this call.'), rejects: true };
    case 'stop':
      return { ...no('The person rejected this call and stopped the turn.'), rejects: true, stops: true };
    default:
      agent.remember(answer.answer, checked, tools);
      return 'yes';
  }
}

async function* runTogether(
  agent: Agent,
  calls: readonly Ready[],
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  for (let at = 0; at < calls.length; at += atOnce)
    yield* merged(calls.slice(at, at + atOnce).map((ready) => runOne(agent, ready, signal)));
}

/** Makes a call; returns whether the turn is to end with it. */
async function* runOne(
  agent: Agent,
  { call, checked, notes, said = 'once' }: Ready,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, boolean> {
  const { tool, args, plan } = checked;
  agent.session.append({ type: 'tool', callId: call.id, name: call.name, state: 'started' });
  const seen = said !== 'once' && plan?.preview !== undefined;
  yield { type: 'call_started', call, tool, seen };
  const startedAt = performance.now();
  const progress = createChannel<string>();
  const meta = plan?.ticket && { 'toolcrib/ticket': plan.ticket, 'toolcrib/said': said };
  const reply = tool
    .call(args, { signal, progress: progress.push, ...(meta && { meta }) })
    .catch((error: unknown) => failed(error instanceof Error ? error.message : String(error)))
    .finally(progress.end);
  for await (const message of progress) yield { type: 'call_progress', call, message };
  const result = await reply;
  const ms = performance.now() - startedAt;
  yield* finish(agent, call, await afterCall(agent, checked, { notes, reply: result }, signal), ms);
  return result.stops === true;
}

async function* finish(
  agent: Agent,
  call: ToolCall,
  reply: ToolReply,
  ms: number,
): AsyncGenerator<TurnEvent> {
  const images = reply.images.map((image, at) => agent.keep(image, `${call.name} ${at + 1}`));
  agent.session.append({
    type: 'tool',
    callId: call.id,
    name: call.name,
    state: 'done',
    text: shortened(reply.text, Math.min(mostChars, agent.model.capabilities.contextWindow)),
    isError: reply.isError,
    ms: Math.round(ms),
    ...(images.length > 0 ? { images } : {}),
  });
  yield { type: 'call_ended', call, reply, ms };
}
