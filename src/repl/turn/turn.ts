import type { Agent } from './agent.ts';
import { runCalls } from './calls.ts';
import type { Guard } from './repetition.ts';
import { ChatError } from '../errors.ts';
import type { AssistantMessage } from '../message.ts';
import { offeredTools } from './offered-tools.ts';
import { ProviderFailure, type ModelRequest } from '../providers/provider.ts';
import { unfinishedCalls } from '../session/unfinished.ts';
import { contextOf, shorten } from './shorten.ts';
import type { TurnEnd, TurnEvent } from './turn-event.ts';

type Turn<T = void> = AsyncGenerator<TurnEvent, T>;

/**
 * Asks the model, runs what it calls, tells it the results, until it answers in prose. What has to be said has been
 * appended to the session; so is all that happens here, before it takes effect, so that whatever ends this process
 * leaves a session that can go on. Calls that an earlier process left open are asked again, or reported, first. The
 * last event is `ended`. Throws ProviderFailure when the model cannot be reached; the session is valid then, too.
 */
export async function* runTurn(agent: Agent, signal: AbortSignal): Turn {
  const guard: Guard = { counts: new Map() };
  let recovered = false;
  let nudged = false;
  const path = agent.session.path();
  const left = unfinishedCalls(path);
  const last = path.findLast(({ type }) => type === 'assistant');
  const leftCut = last?.type === 'assistant' && last.message.stop === 'length';
  if (left.length > 0 && (yield* runCalls(agent, { calls: left, guard, signal, cut: leftCut })) === 'stop')
    return yield ended(signal.aborted ? 'interrupted' : 'stopped');

  let answers = 0;
  let allowed = agent.limits.rounds;
  for (;;) {
    if (signal.aborted) return yield ended('interrupted');
    if (answers === allowed) {
      const limit = await limitReached(agent, answers, signal);
      if (limit) return yield ended(limit);
      allowed += agent.limits.rounds;
    }
    if (agent.limits.autoCompact) yield* shorten(agent, { signal, why: 'auto' });
    let message: AssistantMessage;
    try {
      message = yield* answer(agent, signal, recovered);
    } catch (error) {
      if (!(error instanceof ProviderFailure) || error.code !== 'MODEL_OVERFLOW') throw error;
      const text = 'The conversation does not fit the model. What came of this answer does not count.';
      yield { type: 'warning', text };
      const way = `${error.message} Begin anew (/new), or choose a model with a larger window (/model).`;
      if (recovered || !(yield* shorten(agent, { signal, why: 'overflow' })))
        throw new ProviderFailure('MODEL_OVERFLOW', way, error.facts);
      recovered = true;
      continue;
    }
    answers++;
    if (message.stop === 'aborted' || signal.aborted) return yield ended('interrupted');
    if (message.calls.length === 0) {
      const silent = message.text.trim() === '' && message.stop === 'done';
      if (silent && nudged) return yield ended('empty');
      if (!silent) return yield ended(endOf(message));
      // Some models end a turn with their thoughts alone; asked once more, they answer.
      nudged = true;
      agent.session.append({
        type: 'user',
        content: [{ type: 'text', text: 'Please go on: give your answer.' }],
        typed: '',
      });
      continue;
    }
    const calls = message.calls.map((call) => ({ call, state: 'none' as const }));
    const cut = message.stop === 'length';
    if ((yield* runCalls(agent, { calls, guard, signal, cut })) === 'stop')
      return yield ended(signal.aborted ? 'interrupted' : 'stopped');
  }
}

/** One answer of the model, appended to the session. An answer that was silently cut to fit is an overflow, too. */
async function* answer(agent: Agent, signal: AbortSignal, recovered: boolean): Turn<AssistantMessage> {
  const { messages } = contextOf(agent);
  const tools = offeredTools(agent);
  const { capabilities } = agent.model;
  const thinking = capabilities.thinkingOrTools && tools.length > 0 ? false : agent.thinking;
  const request: ModelRequest = {
    system: agent.system(),
    messages: messages.map(({ message }) => message),
    tools,
    ...(thinking === undefined ? {} : { thinking }),
    ...(agent.schema ? { schema: agent.schema } : {}),
  };
  for await (const event of agent.provider.stream(request, signal)) {
    if (event.type !== 'end') {
      yield event;
      continue;
    }
    const { message } = event;
    // Once shortened, it is the window that is said to be smaller than it is.
    if (!recovered && overflowedSilently(message, capabilities.contextWindow)) {
      throw new ProviderFailure('MODEL_OVERFLOW', 'The model was sent more than its context window holds.');
    }
    agent.session.append({ type: 'assistant', message });
    yield { type: 'answer', message };
    return message;
  }
  throw new ChatError('MODEL_UNREACHABLE', 'The model ended without an answer.');
}

/** Some servers cut what does not fit and say nothing: more was read than fits, or nothing could be written. */
function overflowedSilently(
  { usage, stop, text, calls, reasoning }: AssistantMessage,
  window: number,
): boolean {
  if (usage.estimated) return false;
  const read = usage.input + usage.cacheRead + usage.cacheWrite;
  const nothing = text === '' && reasoning === '' && calls.length === 0;
  return read > window || (stop === 'length' && nothing && read > window / 2);
}

async function limitReached(
  { person }: Agent,
  rounds: number,
  signal: AbortSignal,
): Promise<TurnEnd | undefined> {
  if (!person) return 'rounds';
  const goOn = await person.confirm(`The model has answered ${rounds} times in this turn. Go on?`, signal);
  if (goOn === undefined) return signal.aborted ? 'interrupted' : 'stopped';
  return goOn ? undefined : 'rounds';
}

function endOf({ stop }: AssistantMessage): TurnEnd {
  return stop === 'length' || stop === 'filtered' ? stop : 'done';
}

const ended = (reason: TurnEnd): TurnEvent => ({ type: 'ended', reason });
