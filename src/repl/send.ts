import type { Chat } from './chat.ts';
import type { Part } from './message.ts';
import { readAttachments } from './prompt/attachments.ts';
import type { EntryBody } from './session/entry.ts';
import { afterTurn } from './hooked.ts';
import { runTurn } from './turn.ts';
import type { TurnEvent } from './turn-event.ts';

type UserEntry = Extract<EntryBody, { type: 'user' }>;

export interface Said {
  readonly text: string;
  readonly more?: readonly Part[];
  /** The part of it in which an @ counts: what the person typed. Without it, all of it. */
  readonly named?: string;
}

/** A quarter of the window for what a message brings along: the rest is for the work. */
const attachmentsShare = 0.25;

/** Appends what the person said, with what it refers to and what has changed around it, and runs the turn. */
export async function* send(
  chat: Chat,
  { text, more = [], named }: Said,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  await before(chat.connected, signal);
  const { contextWindow, images } = chat.model.capabilities;
  const { toolbox } = chat.world;
  const attached = await readAttachments(text, {
    cwd: chat.roots[0] ?? chat.world.options.cwd,
    budgetTokens: Math.floor(contextWindow * attachmentsShare),
    images,
    ...(named === undefined ? {} : { named }),
    readResource: async (server, uri) =>
      toolbox.servers().some(({ name }) => name === server) ? toolbox.readResource(server, uri) : undefined,
  });
  for (const note of attached.notes) yield { type: 'warning', text: note };
  const news = await chat.news();
  const content: UserEntry['content'] = [
    ...(news === undefined ? [] : [{ type: 'text' as const, text: news }]),
    ...attached.content,
    ...more,
  ].map((part) => (part.type === 'image' ? chat.keep(part, attached.nameOf(part) ?? 'image') : part));
  chat.session.append({ type: 'user', content, typed: text });
  yield* turn(chat, signal);
}

/** A turn on what the session holds, and what is to be done after it. Throws as runTurn does. */
export async function* turn(chat: Chat, signal: AbortSignal): AsyncGenerator<TurnEvent> {
  await before(chat.connected, signal);
  yield* runTurn(chat, signal);
  await afterTurn(chat, signal);
}

/** Waits for something, until the person is tired of it. */
async function before(ready: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await Promise.race([
    ready,
    new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
  ]);
}
