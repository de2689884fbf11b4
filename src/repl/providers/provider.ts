import { ChatError, type ChatErrorCode } from '../errors.ts';
import type { AssistantMessage, Message } from '../message.ts';
import type { JsonObject } from '../text/json.ts';

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, `type: object` at its root. */
  readonly inputSchema: JsonObject;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  /** Sorted by name by whoever asks, so that prompt caches hold. */
  readonly tools: readonly ToolDefinition[];
  /** The most tokens of an answer; without it the model's own limit. */
  readonly maxTokens?: number;
  /** False switches thinking off where the wire can say so; true asks for it; undefined leaves it to the model. */
  readonly thinking?: boolean | undefined;
  /** JSON Schema that the answer is asked to fit. */
  readonly schema?: JsonObject;
}

export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A call has begun to arrive: shown while its arguments stream. */
  | { readonly type: 'call_begun'; readonly name: string }
  /** The request is made again. `discard`: what has streamed so far does not count. */
  | { readonly type: 'retry'; readonly reason: string; readonly inMs: number; readonly discard: boolean }
  /** The last event, always, unless the stream throws. */
  | { readonly type: 'end'; readonly message: AssistantMessage };

/**
 * A model behind a wire. Throws ProviderFailure. An abort never throws: it ends with a message whose `stop` is
 * `aborted` and which holds no calls.
 */
export interface Provider {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** Loads what the first request will need. */
  warm?(): void;
}

interface FailureFacts {
  readonly status?: number | undefined;
  /** Worth another try, without any change. */
  readonly retryable?: boolean | undefined;
  /** What the provider asked us to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** A request that a provider did not answer. */
export class ProviderFailure extends ChatError {
  readonly facts: FailureFacts;

  constructor(code: ChatErrorCode, message: string, facts: FailureFacts = {}, options?: ErrorOptions) {
    super(code, message, options);
    this.name = 'ProviderFailure';
    this.facts = facts;
  }
}
