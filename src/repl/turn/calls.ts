import type { Agent, Person } from './agent.ts';
import type { Answer, CheckedCall, Verdict } from '../approval/approval.ts';
import { decide } from '../approval/decide.ts';
import { createChannel, merged } from './channel.ts';
import { afterCall, beforeCall } from './tell-hooks.ts';
import type { ToolCall } from '../message.ts';
import { argumentsObject } from '../providers/request-parts.ts';
import type { CallState } from '../session/entry.ts';
import { checkArguments } from '../toolbox/check-arguments.ts';
import { fingerprint } from '../toolbox/fingerprints.ts';
import { failed, shownName, type Tool, type ToolReply } from '../toolbox/tool.ts';
import { limited } from './cut-result.ts';
import { offeredTools } from './offered-tools.ts';
import type { TurnEvent } from './turn-event.ts';

/** Calls that only read run side by side, as many as this at a time. */
const atOnce = 6;
/** Calls of one answer that are made; a model that has lost its way writes thousands. */
const mostCalls = 64;
/** The same call with the same arguments, so often in one turn, is asked about; with so many refusals, the turn ends. */
const repeats = 3;
const refusals = 2;

/** What a turn remembers of repeated calls. */
export interface Guard {
  /** How often each call was made. */
  readonly counts: Map<string, number>;
  /** How often one was refused as a repetition. */
  refused: number;
}

interface OpenCall {
  readonly call: ToolCall;
  /** How far an earlier process got with it. */
  readonly state: 'none' | Exclude<CallState, 'done'>;
}

interface Batch {
  readonly calls: readonly OpenCall[];
  readonly guard: Guard;
  readonly signal: AbortSignal;
  /** The answer was cut, so that the arguments may be as well. */
  readonly cut?: boolean;
}

type Ready = {
  readonly call: ToolCall;
  readonly checked: CheckedCall;
  readonly notes: readonly string[];
  readonly verdict: Verdict;
  /** The person has seen what it changes. */
  readonly seen?: boolean;
  /** An earlier process had asked about it. */
  readonly again?: boolean;
};

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
  let together: Ready[] = [];
  let rejected: string | undefined;
  let stop = false;
  for (const [at, open] of batch.calls.entries()) {
    const { call } = open;
    const refusal = refusalOf(open, batch, at) ?? rejected;
    if (refusal === undefined) countIn(batch.guard, call);
    const ready = refusal === undefined ? await prepare(agent, call, batch) : failed(refusal);
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
    yield* runTogether(agent, together, batch.signal);
    together = [];
    const answer = await answerFor(agent, { ...ready, again: open.state !== 'none' }, batch);
    if ('seen' in answer) {
      const stops = yield* runOne(agent, { ...ready, seen: answer.seen }, batch.signal);
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
  yield* runTogether(agent, together, batch.signal);
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
    return 'The program ended while this call ran: no result was recorded; it may or may not have taken effect. It was not repeated.';
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

/** The call with its tool, its arguments and what is to be done with it; a reply when it cannot be made. */
async function prepare(agent: Agent, call: ToolCall, { signal }: Batch): Promise<Ready | ToolReply> {
  const tool = agent.tools().find(({ name }) => name === call.name);
  if (!tool) {
    const offered = offeredTools(agent);
    // People say it without the server's name, and models repeat it.
    const meant = offered.filter((one) => one.tool === call.name).map(({ name }) => name);
    const names = meant.length > 0 ? meant : offered.map(({ name }) => name);
    return failed(
      `There is no tool named ${call.name}. ${meant.length > 0 ? 'You may mean' : 'The tools are'} ${names.join(', ')}.`,
    );
  }
  const found = await checkArguments(tool, call.arguments);
  if ('problem' in found) return failed(`${found.problem} The call was not run.`);
  const checked: CheckedCall = { tool, args: found.args };
  const verdict = decide(checked, {
    mode: agent.mode,
    rules: agent.rules(),
    interactive: agent.person !== undefined,
  });
  if (verdict.effect === 'deny') return failed(`Refused: ${verdict.why}`);
  const before = await beforeCall(agent, checked, signal);
  if (before.refused !== undefined) return failed(`Refused by a hook: ${before.refused}`);
  return { call, checked, verdict, notes: before.notes };
}

interface Rejection {
  readonly text: string;
  /** The person said so. */
  readonly said?: boolean;
  /** The calls of this answer that were not run yet are not run either. */
  readonly rejects: boolean;
  readonly stops: boolean;
}

type Outcome = { readonly seen: boolean } | Rejection;
const unseen = { seen: false };

async function answerFor(agent: Agent, ready: Ready, batch: Batch): Promise<Outcome> {
  const { guard, signal } = batch;
  const { call, checked } = ready;
  if (isRepeated(call, batch)) {
    const often = timesOf(call, batch);
    const name = shownName(checked.tool);
    const question = `${name} is called for the ${often === 3 ? 'third' : `${often}th`} time with the same arguments. Run it?`;
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
  if (ready.verdict.effect === 'allow') return unseen;
  // An answer to an earlier call of the batch may have settled this one.
  const verdict = decide(checked, { mode: agent.mode, rules: agent.rules(), interactive: true });
  if (verdict.effect === 'allow') return unseen;
  if (verdict.effect === 'deny' || !agent.person)
    return { text: `Refused: ${verdict.why}`, rejects: false, stops: false };
  const tools = agent.tools();
  const answer = await agent.person.approve(checked, verdict.told ?? verdict.why, signal, ready.again);
  return outcomeOf(answer, agent.person, { checked, tools });
}

function outcomeOf(
  answer: Answer,
  person: Person,
  { checked, tools }: { readonly checked: CheckedCall; readonly tools: readonly Tool[] },
): Outcome {
  switch (answer.answer) {
    case 'once':
      return { seen: answer.seen === true };
    case 'session':
    case 'tool':
    case 'server':
      person.remember(answer.answer, checked, tools);
      return { seen: answer.seen === true };
    case 'failed':
      return { text: answer.text, rejects: false, stops: false };
    case 'feedback':
      return {
        text: `The person did not allow this call, and says: ${answer.text}`,
        said: true,
        rejects: false,
        stops: false,
      };
    case 'no':
      return { text: 'The person rejected this call.', said: true, rejects: true, stops: false };
    case 'stop':
      return {
        text: 'The person rejected this call and stopped the turn.',
        said: true,
        rejects: true,
        stops: true,
      };
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
  { call, checked, notes, seen = false }: Ready,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, boolean> {
  const { tool, args } = checked;
  agent.session.append({ type: 'tool', callId: call.id, name: call.name, state: 'started' });
  yield { type: 'call_started', call, tool, seen };
  const startedAt = performance.now();
  const progress = createChannel<string>();
  const reply = tool
    .call(args, { signal, progress: progress.push })
    .catch((error: unknown) => failed(error instanceof Error ? error.message : String(error)))
    .finally(progress.end);
  for await (const message of progress) yield { type: 'call_progress', call, message };
  const result = await reply;
  const ms = performance.now() - startedAt;
  yield* finish(agent, call, await afterCall(agent, { checked, notes, reply: result, signal }), ms);
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
