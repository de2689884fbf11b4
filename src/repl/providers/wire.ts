import type { Stop, ToolCall, Usage } from '../message.ts';
import type { Model } from '../models/model.ts';
import type { JsonObject } from '../text/json.ts';
import type { Body, ModelEvent, ModelRequest } from './provider.ts';

/** One way to talk to models: how a request is written, and how an answer is read. */
export interface WireFormat {
  readonly path: string;
  /** `refused`: what the endpoint is known not to take. Fields that are undefined are left out. */
  body(request: ModelRequest, model: Model, refused: ReadonlySet<string>): Body;
  reader(request: ModelRequest): AnswerReader;
  /** An answer that came whole, as the events it would have been. */
  asEvents(whole: JsonObject): readonly unknown[];
}

/** Gathers an answer from the raw events of an SDK. */
export interface AnswerReader {
  read(event: never): Iterable<ModelEvent>;
  /** What the events said of the whole; throws when the model has not said that it is done. */
  end(): AnswerEnd;
}

export interface AnswerEnd {
  readonly calls: readonly ToolCall[];
  readonly stop: Stop;
  /** Undefined where the provider did not count. */
  readonly usage: Omit<Usage, 'estimated'> | undefined;
  readonly native?: unknown;
}

/** A count of somebody else. */
export const countOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/**
 * What a model's own word for its end means. `stop` with calls is a slip of many servers; words that none of the wires
 * has mean that the model was done.
 */
export function stopOf(reason: string, calling: boolean): Stop {
  if (['length', 'max_tokens', 'max_output_tokens'].includes(reason)) return 'length';
  if (['content_filter', 'refusal'].includes(reason)) return 'filtered';
  return calling ? 'calls' : 'done';
}
