import type { ImagePart, Part, Stop, ToolMessage, Usage } from '../message.ts';
import type { Model } from '../models/model.ts';
import type { JsonObject } from '../text/json.ts';
import type { Body, ModelRequest } from './provider.ts';

/** One way to talk to models. Both functions only translate; what streams is gathered by Answer. */
export interface WireFormat {
  readonly path: string;
  /** Where the images of a tool's result may stand: in it, or else in a message of the person's side. */
  readonly imagesInResults: boolean;
  /** What is not the same on all wires. Fields that are undefined are left out. */
  body(conversation: Conversation, model: Model): Body;
  /** What an event says, or an answer that came whole. Throws what a provider says of a failure. */
  read(event: JsonObject): Iterable<Delta>;
}

/** A request as every wire can say it. `tools` is undefined when there are none. */
export interface Conversation {
  readonly system: string | undefined;
  readonly messages: readonly SentMessage[];
  readonly tools: ModelRequest['tools'] | undefined;
  readonly maxTokens: number | undefined;
  /** Undefined also where the model does not think. */
  readonly thinking: boolean | undefined;
}

/** A message with ids and names that every wire takes. */
export type SentMessage =
  | { readonly role: 'user'; readonly content: readonly Part[] }
  | SentAnswer
  | (Pick<ToolMessage, 'role' | 'text' | 'isError'> & {
      readonly id: string;
      readonly images: readonly ImagePart[];
    });

export interface SentAnswer {
  readonly role: 'assistant';
  readonly text: string;
  readonly stop: Stop;
  /** `json`: the arguments word for word. */
  readonly calls: readonly { readonly id: string; readonly name: string; input: object; json: string }[];
  /** What the answer holds for its own model alone; empty for any other. */
  readonly native: readonly JsonObject[];
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
