import type { Agent } from './agent.ts';
import type { Answer, CheckedCall } from '../approval/approval.ts';
import { decide } from '../approval/decide.ts';
import { createChannel, merged } from './channel.ts';
import { afterCall } from './hooks.ts';
import type { ToolCall } from '../message.ts';
import { approvalOf } from '../person/approve.ts';
import { argumentsObject } from '../providers/request-parts.ts';
import { fingerprint } from '../toolbox/fingerprints.ts';
import { failed, shownName, type Tool, type ToolReply } from '../toolbox/tool.ts';
import { prepare, type OpenCall, type Ready, type Said } from './prepare-call.ts';
import type { TurnEvent } from './turn-event.ts';

/** Calls that only read run side by side, as many as this at a time. */
const atOnce = 6;
/** Calls of one answer that are made; a model that has lost its way writes thousands. */
const mostCalls = 64;
/**
 * The same call with the same arguments, so often in one turn, is asked about; with so many refusals, the turn
 * ends.
 */
const repeats = 3;
const refusals = 2;

/** What a turn remembers of repeated calls. */
export interface Guard {
  /** How often each call was made. */
  readonly counts: Map<string, number>;
  /** How often one was refused as a repetition. */
  refused: number;
}

interface Batch {
  readonly calls: readonly OpenCall[];
  readonly guard: Guard;
  readonly signal: AbortSignal;
  /** The answer was cut, so that the arguments may be as well. */
  readonly cut?: boolean;
}

/**
 * Gives every call of one answer its result. Those that only read and need no question run side by side, the others one
 * after the other; a no rejects the ones still waiting. Says `stop` when the person wants the turn to end.
 */
export async function* runCalls(agent: Agent, batch: Batch): AsyncGenerator<TurnEvent, 'go_on' | 'stop'> {
  const { session } = agent;
  for (const { call, state } of batch.calls) {
    if (state === 'none')
      session.append({ type: 'tool', callId: call.id, name: call.name, state: 'proposed' });
  }
  const together: Ready[] = [];
  const flush = () => runTogether(agent, together.splice(0), batch.signal);
  let rejected: string | undefined;
  let stop = false;
  for (const [at, open] of batch.calls.entries()) {
    const { call } = open;
    const called = agent.tools().find(({ name }) => name === call.name);
    // What a plan of it says may depend on what was read before.
    if (called && !readsOnly(called)) yield* flush();
    const refusal = refusalOf(open, batch, at) ?? rejected;
    if (refusal === undefined) countIn(batch.guard, call);
    const ready = refusal === undefined ? await prepare(agent, open, batch.signal) : failed(refusal);
    if (!('checked' in ready)) {
      yield* finish(agent, call, ready, 0);
      if (refusal !== undefined || !isRepeated(call, batch)) continue;
      refuse(batch.guard, call);
      stop ||= batch.guard.refused >= refusals;
      if (stop) rejected = turnEnds;
      continue;
    }
    if (ready.verdict.effect === 'allow' && readsOnly(ready.checked.tool) && !isRepeated(call, batch)) {
      together.push(ready);
      continue;
    }
    yield* flush();
    const answer = await answerFor(agent, ready, batch);
    if (typeof answer === 'string') {
      const stops = yield* runOne(agent, { ...ready, said: answer }, batch.signal);
      if (stops) [stop, rejected] = [true, turnEnds];
      continue;
    }
    // The person knows why: it is no failure to them.
    const shown = answer.said ? { shown: 'not run' } : {};
    yield* finish(agent, call, { ...failed(answer.text), ...shown }, 0);
    if (answer.rejects) rejected = 'Not run: the person rejected a call before it.';
    else if (answer.stops) rejected = turnEnds;
    stop ||= answer.stops;
  }
  yield* flush();
  if (batch.guard.refused >= refusals)
    yield { type: 'warning', text: 'The model makes the same call again and again: the turn ends here.' };
  return stop || batch.signal.aborted ? 'stop' : 'go_on';
}

/** As far as it is believed. Our own tools talk to the person: one at a time. */
const readsOnly = ({ annotations, own, trusted }: Tool): boolean =>
  trusted && annotations.readOnlyHint === true && !own;

const turnEnds = 'Not run: the turn ends here.';

/** Why a call cannot be made at all; undefined when it can. */
function refusalOf({ state }: OpenCall, { cut, signal }: Batch, at: number): string | undefined {
  if (state === 'started')
    return 'The program ended while this call ran: it may or may not have taken effect. It was not repeated.';
  if (cut)
    return 'The answer was cut at its length limit, so that the arguments may be incomplete. The call was not run.';
  if (signal.aborted) return 'Not run: the turn was interrupted.';
  if (at >= mostCalls)
    return `Not run: of one answer, ${mostCalls} calls are made at most. Make those again that are still needed.`;
  return undefined;
}

const countIn = ({ counts }: Guard, call: ToolCall): unknown =>
  counts.set(keyOf(call), (counts.get(keyOf(call)) ?? 0) + 1);

/** The repetition is not counted: it is asked about whenever it comes again. */
function refuse(guard: Guard, call: ToolCall): void {
  guard.counts.set(keyOf(call), (guard.counts.get(keyOf(call)) ?? 1) - 1);
  guard.refused++;
}

/** Neither blanks nor the order of the arguments make another call of it. */
const keyOf = (call: ToolCall): string => `${call.name} ${fingerprint(argumentsObject(call.arguments))}`;

const timesOf = (call: ToolCall, { guard }: Batch): number => guard.counts.get(keyOf(call)) ?? 0;

const isRepeated = (call: ToolCall, batch: Batch): boolean => {
  const often = timesOf(call, batch);
  return often > 0 && often % repeats === 0;
};

interface Rejection {
  readonly text: string;
  /** The person said so. */
  readonly said?: boolean;
  /** The calls of this answer that were not run yet are not run either. */
  readonly rejects: boolean;
  readonly stops: boolean;
}

type Outcome = Said | Rejection;

async function answerFor(agent: Agent, ready: Ready, batch: Batch): Promise<Outcome> {
  const { guard, signal } = batch;
  const { call, checked } = ready;
  const often = timesOf(call, batch);
  const isAsked = ready.verdict.effect === 'ask' && agent.person !== undefined;
  // What is asked about anyway is not asked about twice.
  if (isRepeated(call, batch) && !isAsked) {
    const name = shownName(checked.tool);
    const time = often === 3 ? 'third' : `${often}th`;
    const question = `${name} is called for the ${time} time with the same arguments. Run it?`;
    const again = agent.person ? await agent.person.confirm(question, signal) : false;
    if (!again) {
      if (again === false) refuse(guard, call);
      return {
        text: `This very call was made ${often} times in this turn, and not run again. Do something else.`,
        rejects: again === undefined,
        stops: again === undefined || guard.refused >= refusals,
      };
    }
  }
  if (ready.verdict.effect === 'allow') return 'once';
  // An answer to an earlier call of the batch may have settled this one.
  const verdict = decide(checked, { mode: agent.mode, rules: agent.rules(), interactive: true });
  if (verdict.effect === 'allow') return 'once';
  if (verdict.effect === 'deny' || !agent.person)
    return { text: `Refused: ${verdict.why}`, rejects: false, stops: false };
  const tools = agent.tools();
  const { person } = agent;
  const question = approvalOf(checked, verdict.told ?? verdict.why, person.terminal);
  const answer = await person.ask({ ...question, signal });
  return outcomeOf(answer ?? { answer: 'stop' }, agent, checked, tools);
}

function outcomeOf(answer: Answer, agent: Agent, checked: CheckedCall, tools: readonly Tool[]): Outcome {
  const no = (text: string, rejects: boolean, stops = false) => ({ text, said: true, rejects, stops });
  switch (answer.answer) {
    case 'once':
      return 'yes';
    case 'session':
    case 'tool':
    case 'server':
      agent.remember(answer.answer, checked, tools);
      return 'yes';
    case 'always':
      return 'always';
    case 'feedback':
      return no(`The person did not allow this call, and says: ${answer.text}`, false);
    case 'no':
      return no('The person rejected this call.', true);
    case 'stop':
      return no('The person rejected this call and stopped the turn.', true, true);
  }
}

async function* runTogether(
  agent: Agent,
  calls: readonly Ready[],
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  for (let at = 0; at < calls.length; at += atOnce) {
    yield* merged(calls.slice(at, at + atOnce).map((ready) => runOne(agent, ready, signal)));
  }
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
  const text = limited(reply.text, agent.model.capabilities.contextWindow);
  agent.session.append({
    type: 'tool',
    callId: call.id,
    name: call.name,
    state: 'done',
    text,
    isError: reply.isError,
    ms: Math.round(ms),
    ...(images.length > 0 ? { images } : {}),
  });
  yield { type: 'call_ended', call, reply, ms };
}

/** As other hosts have it, some 25,000 tokens; and a quarter of what a small model can hold. */
const mostChars = 100_000;

/** The text as the model gets it: its head and its tail when it is long, with a line that says how much is missing. */
function limited(text: string, contextWindow: number): string {
  const most = Math.min(mostChars, contextWindow);
  if (text.length <= most) return text.toWellFormed();
  const head = text.slice(0, Math.ceil(most * 0.7));
  const tail = text.slice(-Math.floor(most * 0.3));
  const missing = text.length - head.length - tail.length;
  return `${head}\n[… ${missing} characters left out; ask for a part of it …]\n${tail}`.toWellFormed();
}
