import type { AssistantMessage, Message, Usage, ToolDeclaration } from '../message.ts';
import type { Model } from '../models/model.ts';
import type { JsonObject } from '../text/json.ts';

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  /** Sorted by name by whoever asks, so that prompt caches hold. */
  readonly tools: readonly ToolDeclaration[];
  /** The most tokens of an answer; without it the model's own limit. */
  readonly maxTokens?: number;
  /**
   * False switches thinking off where the wire can say so; true asks for it; undefined leaves it to the
   * model.
   */
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

/** One way to talk to models. Both functions only translate; what streams is gathered by Answer. */
export interface WireFormat {
  readonly path: string;
  /**
   * Builds the part of a request that is not the same on all wires; `sendable` makes the request. What is
   * empty or undefined is left out.
   */
  body(request: ModelRequest, model: Model): JsonObject;
  /** Reads an event, or an answer that came whole. Throws what a provider says of a failure. */
  read(event: JsonObject): Iterable<Delta>;
}

/** A piece of an answer. */
export interface Delta {
  readonly text?: unknown;
  readonly reasoning?: unknown;
  readonly call?: CallDelta;
  /** A part that goes back word for word: with a key, it is joined to the part that has the same one. */
  readonly native?: { readonly key?: unknown; readonly part: JsonObject };
  readonly usage?: Readonly<Partial<Record<keyof Omit<Usage, 'estimated'>, unknown>>>;
  /** The model's own word for its end. */
  readonly stop?: unknown;
}

/** A piece of a call; servers leave out any of it. */
export interface CallDelta {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  /** Text is added to what there is; anything else is the whole. */
  readonly arguments?: unknown;
  /** Data that has to come back with the call. */
  readonly extra?: unknown;
}

/** Wraps an error that a provider reports inside a stream, for failureOf. */
export const failedWith = (error: unknown): Error =>
  Object.assign(new Error('the answer is an error'), { error });
