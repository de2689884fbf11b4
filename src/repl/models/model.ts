import type { Wire } from '../message.ts';

/** Where requests go. */
export interface Endpoint {
  /** `openai`, `ollama`, or the name the person gave it in the configuration. */
  readonly name: string;
  readonly wire: Wire;
  readonly baseUrl: string;
  /** Environment variables that may hold the key, best first; empty: none is needed. */
  readonly keyVariables: readonly string[];
  /** A program that prints the key, as a list of arguments. */
  readonly keyCommand?: readonly string[];
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** No key and no cost: a server on this machine. */
  readonly local: boolean;
  /** Sends the older Anthropic headers (`x-api-key`, 2023-06-01), which compatible endpoints of others still want. */
  readonly oldAnthropicHeaders?: boolean;
}

/** What is known of a model: from the configuration, the table, or a guess that errs on the small side. */
export interface Capabilities {
  /** Tokens. */
  readonly contextWindow: number;
  readonly maxOutput: number;
  /** False: calls are asked for as XML in the text. */
  readonly tools: boolean;
  readonly images: boolean;
  readonly thinking: boolean;
  /** Thinks, or calls tools, but not both in one request. */
  readonly thinkingOrTools: boolean;
  /**
   * Whether `reasoning_content` has to be sent back: `calls`: with every message that has calls, even when it is
   * empty.
   */
  readonly echoReasoning: 'never' | 'if_sent' | 'calls';
  /** How the model chooses its words; its own way otherwise. */
  readonly temperature?: number;
  readonly topP?: number;
  /** Price for a million tokens, only from the person's own configuration. */
  readonly price?: { readonly input: number; readonly output: number; readonly cacheRead?: number };
}

export interface Model {
  readonly endpoint: Endpoint;
  /** As the endpoint calls it. */
  readonly id: string;
  readonly capabilities: Capabilities;
  /** Those of them that the person has configured: nobody knows better. */
  readonly configured?: Partial<Capabilities>;
}

/** `endpoint/id`, as a person writes it. */
export const nameOf = ({ endpoint, id }: Model): string => `${endpoint.name}/${id}`;
