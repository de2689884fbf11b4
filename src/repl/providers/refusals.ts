import type { Wire } from '../message.ts';
import { objectOf } from '../text/json.ts';
import type { ProviderFailure } from './provider.ts';
import type { Body } from './wire.ts';

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
};

/** What an endpoint says of a field it does not know, as opposed to one whose value is wrong. */
const unknown =
  /support|recogni[sz]e|unknown|unexpected|unavailable|extra (?:inputs|fields)|permitted|not (?:allowed|available|implemented)|must be verified|deprecated|unsupported/i;

const statuses = [400, 404, 405, 415, 422, 501];

/** What the failure says the endpoint does not take of what it was sent; undefined when it is about something else. */
export function refusalIn(
  { message, facts, code }: ProviderFailure,
  body: Body,
  wire: Wire,
): Refusal | undefined {
  if (code !== 'MODEL_REFUSED' && facts.status !== 501) return undefined;
  if (!statuses.includes(facts.status ?? 0) || !unknown.test(message)) return undefined;
  if ('tools' in body && /reasoning_effort/.test(message) && /tools/i.test(message))
    return 'effort_with_tools';
  if (/cache_control/.test(message)) return 'cache_control';
  const fields = Object.keys(optional) as (keyof typeof optional)[];
  const found = fields.find(
    (field) =>
      field in body &&
      // The one wire that cannot do without it.
      !(field === 'max_tokens' && wire === 'anthropic') &&
      optional[field].test(message),
  );
  const { type } = objectOf(body['thinking']);
  return found === 'thinking' && type === 'adaptive' ? 'adaptive' : found;
}

/** The body without the fields that are refused, or not set. */
export function without(body: Body, refused: ReadonlySet<Refusal>): Body {
  const fields = Object.entries(body).filter(
    ([name, value]) => value !== undefined && !refused.has(name as Refusal),
  );
  // `stream_options` is refused by itself where there is no stream.
  const kept = refused.has('stream') ? fields.filter(([name]) => name !== 'stream_options') : fields;
  return Object.fromEntries(kept);
}
