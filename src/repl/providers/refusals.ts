import type { Model } from '../models/model.ts';
import type { Body, ProviderFailure } from './provider.ts';

/** No request can do without these; of `max_tokens`, that is so on Anthropic's wire alone. */
const needed = ['model', 'messages', 'input', 'tools', 'system', 'instructions', 'store'];
/** Other words for some of the rest. */
const aliases: Readonly<Record<string, RegExp>> = {
  stream: /\bstream(?:ing|ed)\b/i,
  include: /\bencrypted\b/i,
};
/** What an endpoint says of a field it does not know, as opposed to one whose value is wrong. */
const unknown = [
  /support|recogni[sz]e|unknown|unexpected|unavailable|extra (?:inputs|fields)|permitted|deprecated/i,
  /not (?:allowed|available|implemented)|must be verified/i,
];
const statuses = [400, 404, 405, 415, 422, 501];

/**
 * The field of the body that an endpoint says it does not take, as far as its failure says so; `effort_with_tools`
 * where it takes tools only with an effort of `none`, as OpenAI's newer models on the chat wire.
 */
export function refusalIn(
  { message, facts }: ProviderFailure,
  body: Body,
  { endpoint }: Model,
): string | undefined {
  if (!statuses.includes(facts.status ?? 0) || !unknown.some((words) => words.test(message)))
    return undefined;
  if ('tools' in body && /reasoning_effort/.test(message) && /tools/i.test(message))
    return 'effort_with_tools';
  const kept = endpoint.wire === 'anthropic' ? [...needed, 'max_tokens'] : needed;
  return Object.keys(body).find(
    (field) =>
      !kept.includes(field) &&
      (new RegExp(`\\b${field}\\b`).test(message) || aliases[field]?.test(message) === true),
  );
}

/** The body without the fields that are refused, or not set. */
export function without(body: Body, refused: ReadonlySet<string>): Body {
  // `stream_options` is refused by itself where there is no stream.
  const isLeft = (name: string) =>
    !refused.has(name) && !(name === 'stream_options' && refused.has('stream'));
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== undefined && isLeft(name)),
  );
}
