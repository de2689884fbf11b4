import type { Chat } from '../chat.ts';
import { live } from '../text/inert.ts';
import type { Part } from '../message.ts';
import { readAttachments } from '../prompt/attachments.ts';
import { runHooks } from './hooks.ts';
import { before } from './told.ts';
import { runTurn } from './turn.ts';
import type { TurnEvent } from './turn-event.ts';

export interface Said {
  /** What of it is not the person's own is `inert`. */
  readonly text: string;
  readonly more?: readonly Part[];
}

/** A quarter of the window for what a message brings along: the rest is for the work. */
const attachmentsShare = 0.25;

/** Appends what the person said, with what it refers to and what has changed around it, and runs the turn. */
export async function* send(
  chat: Chat,
  { text, more = [] }: Said,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  await untilConnected(chat, signal);
  const { contextWindow, images } = chat.model.capabilities;
  const { toolbox } = chat.world;
  // A server may take its time with what is wanted of it: then it is said without.
  const reading = readAttachments(text, {
    cwd: chat.roots[0] ?? chat.world.options.cwd,
    budgetTokens: Math.floor(contextWindow * attachmentsShare),
    images,
    readResource: async (server, uri) =>
      toolbox.servers().some(({ name }) => name === server) ? toolbox.readResource(server, uri) : undefined,
  });
  const attached = await before(reading, signal);
  yield* attached?.told ?? [];
  const typed = live(text);
  const news = await chat.news.next(chat.places, chat.mode, chat.session);
  const content = [
    ...(news === undefined ? [] : [{ type: 'text' as const, text: news }]),
    ...(attached?.content ?? [{ type: 'text' as const, text: typed }]),
    ...more,
  ];
  chat.session.append({ type: 'user', content, typed, ...(typed === text ? {} : { line: text }) });
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
  await before(chat.connected, signal);
  if (signal.aborted) chat.connected = Promise.resolve();
}
