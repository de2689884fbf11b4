import type { Chat } from '../chat.ts';
import { shorten } from '../context/compaction.ts';
import { viewOf } from '../context/view.ts';
import { ChatError } from '../errors.ts';
import type { AssistantMessage, ContentPart } from '../message.ts';
import { readAttachments } from '../prompt/attachments.ts';
import type { ModelRequest } from '../providers/provider.ts';
import { live } from '../terminal/paste.ts';
import { runCalls } from './calls.ts';
import { runHooks } from './hooks.ts';
import { availableTools, type LoopGuard } from './prepare-call.ts';
import { unlessAborted } from './event-stream.ts';
import type { TurnEnd, TurnEvent } from './turn-event.ts';

export interface UserInput {
  /** The text, in which what is not the person's own is `inert`. */
  readonly text: string;
  readonly more?: readonly ContentPart[];
}

/** Appends what the person said, with what it refers to and what has changed around it, and runs the turn. */
export async function* send(
  chat: Chat,
  { text, more = [] }: UserInput,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  await untilConnected(chat, signal);
  // A server may take its time with what is wanted of it: then it is said without.
  const attached = await unlessAborted(readAttachments(text, chat), signal);
  yield* attached?.notices ?? [];
  const content = [
    ...(await chat.contextUpdates.nextParts(chat.instructionLocations, chat.mode, chat.session)),
    ...(attached?.content ?? [{ type: 'text' as const, text: live(text) }]),
    ...more,
  ];
  chat.session.append({ type: 'user', content, typed: text });
  yield* turn(chat, signal);
}

/** A turn on what the session holds, and what is to be done after it. Throws as runTurn does. */
export async function* turn(chat: Chat, signal: AbortSignal): AsyncGenerator<TurnEvent> {
  await untilConnected(chat, signal);
  yield* runTurn(chat, signal);
  await runHooks(chat, 'end', { signal });
}

/** Waits for the servers, until the person is tired of it: then never again. */
export async function untilConnected(chat: Chat, signal: AbortSignal): Promise<void> {
  await unlessAborted(chat.connected, signal);
  if (signal.aborted) chat.connected = Promise.resolve();
}

type TurnEvents<T> = AsyncGenerator<TurnEvent, T>;

/**
 * Asks the model, runs what it calls, tells it the results, until it answers in prose. What has to be said
 * has been appended to the session; so is all that happens here, before it takes effect, so that whatever
 * ends this process leaves a session that can go on. Calls that an earlier process left open are asked again,
 * or reported, first. The last event is `ended`. Throws ChatError when the model cannot be reached; the
 * session is valid then, too.
 */
export async function* runTurn(chat: Chat, signal: AbortSignal): TurnEvents<void> {
  yield { type: 'ended', reason: yield* iterate(chat, signal) };
}

async function* iterate(chat: Chat, signal: AbortSignal): TurnEvents<TurnEnd> {
  const guard: LoopGuard = { counts: new Map(), refused: 0 };
  const stopped = () => (signal.aborted ? 'interrupted' : 'stopped');
  const progress = { iterations: 0, recovered: false, retried: false };
  for (let allowed = chat.maxIterations; ;) {
    if ((yield* runCalls(chat, { guard, signal })) === 'stop') return stopped();
    if (signal.aborted) return 'interrupted';
    if (progress.iterations === allowed) {
      const question = `The model has answered ${allowed} times in this turn. Go on?`;
      const goOn = chat.person ? await chat.person.confirm(question, { signal }) : false;
      if (!goOn) return goOn === false ? 'rounds' : stopped();
      allowed += chat.maxIterations;
    }
    if (chat.environment.config.compaction.auto) yield* shorten(chat, { signal, why: 'auto' });
    const message = yield* answer(chat, signal, progress);
    if (!message) continue;
    progress.iterations++;
    const { stop, text } = message;
    if (stop === 'aborted' || signal.aborted) return 'interrupted';
    if (message.calls.length > 0) continue;
    if (stop === 'length' || stop === 'filtered') return stop;
    if (text.trim() !== '' || progress.retried) return text.trim() === '' ? 'empty' : 'done';
    // Some models end a turn with their thoughts alone; asked once more, they answer.
    progress.retried = true;
    const content = [{ type: 'text' as const, text: 'Please go on: give your answer.' }];
    chat.session.append({ type: 'user', content, typed: '' });
  }
}

/**
 * One answer of the model, appended to the session. Nothing, once, when the conversation did not fit the
 * model and was shortened: an answer that was silently cut to fit counts as that, too.
 */
async function* answer(
  chat: Chat,
  signal: AbortSignal,
  progress: { recovered: boolean },
): TurnEvents<AssistantMessage | undefined> {
  try {
    for await (const event of chat.provider.stream(requestOf(chat), signal)) {
      if (event.type !== 'end') {
        yield event;
        continue;
      }
      const { message } = event;
      // Once shortened, it is the window that is said to be smaller than it is.
      if (!progress.recovered && overflowedSilently(message, chat.model.capabilities.contextWindow))
        throw new ChatError('MODEL_OVERFLOW', 'The model was sent more than its context window holds.');
      chat.session.append({ type: 'assistant', message });
      yield { type: 'answer', message };
      return message;
    }
    throw new ChatError('MODEL_UNREACHABLE', 'The model ended without an answer.');
  } catch (error) {
    if (!(error instanceof ChatError) || error.code !== 'MODEL_OVERFLOW') throw error;
    const text = 'The conversation does not fit the model. What came of this answer does not count.';
    yield { type: 'warning', text };
    const way = `${error.message} Begin anew (/new), or choose a model with a larger window (/model).`;
    if (progress.recovered || !(yield* shorten(chat, { signal, why: 'overflow' })))
      throw new ChatError('MODEL_OVERFLOW', way);
    progress.recovered = true;
    return undefined;
  }
}

function requestOf(chat: Chat): ModelRequest {
  const tools = availableTools(chat);
  const thinking = chat.model.capabilities.thinkingOrTools && tools.length > 0 ? false : chat.thinking;
  return {
    system: chat.system(),
    messages: viewOf(chat.session.path()).items.map(({ message }) => message),
    tools,
    ...(thinking === undefined ? {} : { thinking }),
    ...(chat.schema ? { schema: chat.schema } : {}),
  };
}

/**
 * Some servers cut what does not fit and say nothing: more was read than fits, or nothing could be written.
 */
function overflowedSilently(
  { usage, stop, text, calls, reasoning }: AssistantMessage,
  window: number,
): boolean {
  const read = usage.input + usage.cacheRead + usage.cacheWrite;
  const nothing = stop === 'length' && text === '' && reasoning === '' && calls.length === 0;
  return !usage.estimated && read > (nothing ? window / 2 : window);
}
