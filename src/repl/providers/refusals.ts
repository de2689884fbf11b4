import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../files/private-file.ts';
import type { Wire } from '../message.ts';
import type { Model } from '../models/model.ts';
import { listOf, objectOf } from '../text/json.ts';
import type { Body, ProviderFailure } from './provider.ts';

/** Something of a request that an endpoint does not take: a field of the body, or one of the special ones. */
export type Refusal =
  | keyof typeof optional
  | 'cache_control'
  /** anthropic: older models want a budget for their thoughts, newer ones refuse it. */
  | 'adaptive'
  /** chat: OpenAI's newer models take tools only with an effort of `none`. */
  | 'effort_with_tools';

/** Fields that a request is as good as without, and how endpoints speak of them; the first that fits counts. */
const optional = {
  stream_options: /\bstream_options\b/,
  stream: /\bstream(?:ing|ed)?\b/i,
  max_completion_tokens: /\bmax_completion_tokens\b/,
  max_tokens: /\bmax_tokens\b/,
  max_output_tokens: /\bmax_output_tokens\b/,
  response_format: /response_format|json_schema|structured output/i,
  output_config: /output_config|json_schema|structured output/i,
  text: /text\.format|json_schema|structured output/i,
  include: /\binclude\b|encrypted/i,
  thinking: /\bthinking\b/,
  enable_thinking: /\benable_thinking\b/,
  reasoning_effort: /\breasoning_effort\b/,
  reasoning: /\breasoning\b/,
  temperature: /\btemperature\b/,
  top_p: /\btop_p\b/,
};
/** What an endpoint says of a field it does not know, as opposed to one whose value is wrong. */
const unknown = [
  /support|recogni[sz]e|unknown|unexpected|unavailable|extra (?:inputs|fields)|permitted|deprecated/i,
  /not (?:allowed|available|implemented)|must be verified/i,
];
const statuses = [400, 404, 405, 415, 422, 501];

/** What the failure says the endpoint does not take of what it was sent; undefined when it is about something else. */
export function refusalIn(
  { message, facts, code }: ProviderFailure,
  body: Body,
  wire: Wire,
): Refusal | undefined {
  if (code !== 'MODEL_REFUSED' && facts.status !== 501) return undefined;
  if (!statuses.includes(facts.status ?? 0) || !unknown.some((words) => words.test(message)))
    return undefined;
  if ('tools' in body && /reasoning_effort/.test(message) && /tools/i.test(message))
    return 'effort_with_tools';
  if (/cache_control/.test(message)) return 'cache_control';
  const fields = Object.keys(optional) as (keyof typeof optional)[];
  // Anthropic is the one wire that cannot do without max_tokens.
  const needed = wire === 'anthropic' ? 'max_tokens' : undefined;
  const found = fields.find((field) => field in body && field !== needed && optional[field].test(message));
  return found === 'thinking' && objectOf(body['thinking'])['type'] === 'adaptive' ? 'adaptive' : found;
}

/** The body without the fields that are refused, or not set. */
export function without(body: Body, refused: ReadonlySet<Refusal>): Body {
  // `stream_options` is refused by itself where there is no stream.
  const left = (name: string) =>
    refused.has(name as Refusal) || (name === 'stream_options' && refused.has('stream'));
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== undefined && !left(name)),
  );
}

/** What endpoints do not take, by model. */
export interface KnownRefusals {
  of(model: Model): ReadonlySet<Refusal>;
  add(model: Model, refusal: Refusal): void;
}

/** So many endpoints and models are kept; the oldest go. */
const most = 200;

/**
 * Kept in `<folder>/refusals.json`, so that each endpoint is asked in vain only once; without a folder for as long as
 * the program runs. Never throws.
 */
export function knownRefusals(folder: string | undefined): KnownRefusals {
  const file = folder === undefined ? undefined : join(folder, 'refusals.json');
  const read = (): Record<string, unknown> => {
    try {
      return { ...objectOf(JSON.parse((file && readPrivateFile(file)) ?? '{}')) };
    } catch {
      // Damaged: they are found out again.
      return {};
    }
  };
  let known: Record<string, unknown> | undefined;
  const nameOf = ({ endpoint, id }: Model) => `${endpoint.baseUrl} ${id}`;
  const of = (model: Model) => new Set(listOf((known ??= read())[nameOf(model)]) as Refusal[]);
  return {
    of,
    add(model, refusal) {
      const refused = [...of(model), refusal];
      const all = { ...known, ...(file && read()), [nameOf(model)]: refused };
      known = Object.fromEntries(Object.entries(all).slice(-most));
      try {
        if (file) writePrivateFile(file, JSON.stringify(known));
      } catch {
        // Known until the program ends.
      }
    },
  };
}
