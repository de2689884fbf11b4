import type { Usage } from '../message.ts';
import type { Model } from '../models/model.ts';
import type { JsonObject } from '../text/json.ts';
import type { ModelRequest } from './provider.ts';

/** One way to talk to models. Both functions only translate; what streams is gathered by Answer. */
export interface WireFormat {
  readonly path: string;
  /** What is not the same on all wires, of a request as `sendable` makes it. What is empty or undefined is left out. */
  body(request: ModelRequest, model: Model): JsonObject;
  /** What an event says, or an answer that came whole. Throws what a provider says of a failure. */
  read(event: JsonObject): Iterable<Delta>;
}

/** What is new in an answer. */
export interface Delta {
  readonly text?: unknown;
  readonly reasoning?: unknown;
  readonly call?: CallDelta;
  /** Of what goes back word for word: with a key, it is joined to the part that has the same one. */
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
  /** What else has to come back with the call. */
  readonly extra?: unknown;
}

/** What a provider says inside a stream, for failureOf. */
export const failedWith = (error: unknown): Error =>
  Object.assign(new Error('the answer is an error'), { error });
