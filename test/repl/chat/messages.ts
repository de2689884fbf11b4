import type { FakeRequest } from '../support/fake-model.ts';

/** What a model was sent over the chat wire; nothing when it was sent nothing. */
export const messagesOf = (request: FakeRequest | undefined): readonly { readonly content?: unknown }[] =>
  (request?.body.messages ?? []) as { content?: unknown }[];
