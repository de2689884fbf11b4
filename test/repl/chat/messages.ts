import type { FakeRequest } from '../support/fake-model.ts';

type Request = FakeRequest | undefined;

/** What a model was sent over the chat wire; nothing when it was sent nothing. */
export const messagesOf = (request: Request): readonly { readonly content?: unknown }[] =>
  (request?.body.messages ?? []) as { content?: unknown }[];

/** The content of the last message, as JSON. */
export const lastMessage = (request: Request): string => JSON.stringify(messagesOf(request).at(-1)?.content);

/** The system prompt, as JSON. */
export const systemOf = (request: Request): string => JSON.stringify(messagesOf(request)[0]?.content);
