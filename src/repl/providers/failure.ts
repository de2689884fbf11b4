import { ChatError, type ChatErrorCode } from '../errors.ts';
import type { Endpoint } from '../models/model.ts';
import { objectOf, textOf, type JsonObject } from '../text/json.ts';

/** The words of many servers for a conversation that is too long: there is no common code. */
const overflow = new RegExp(
  [
    'context[ _]length[ _]exceeded|maximum context length|context[ _]window|request[ _]too[ _]large',
    'prompt is too long|prompt (has|contains) too many tokens|prompt too long|input is too long|too ' +
      'large for model',
    "exceeds? the (available|maximum|model'?s)? ?(context|input|prompt|token)|reduce the length of the",
    '(input|prompt) (token count|tokens|length|is) .{0,60}exceeds?|token limit exceeded|exceeded ' +
      'model token limit',
    'maximum (prompt|input|allowed) (length|tokens?|input)|(larger|greater|longer) than the ' +
      '(context|maximum)',
  ].join('|'),
  'i',
);
/** The words that look alike and are about a rate. */
const rate = /rate.?limit|too many (?:requests|tokens, please wait)|per (?:minute|day|hour)|throttl/i;
const quota =
  /insufficient[_ ](?:quota|balance|credits?)|credit balance|billing|payment required|out of credits?/i;
const busy = /overloaded|unavailable|internal|server_error|api_error|timeout|rate_limit|try again/i;

/** The characters of a provider's message that are shown. */
const mostMessage = 1000;

/**
 * Any error of a request as a ChatError: what it is, whether it is worth another try, and how long the
 * provider asks us to wait. Our own stay what they are.
 */
export function failureOf(error: unknown, endpoint: Endpoint, key?: string): ChatError {
  // What the errors of both SDKs, of fetch and of streams have in common.
  const raw = objectOf(error);
  const own = [error, raw['cause']].find((one) => one instanceof ChatError);
  if (own) return own;
  const { words, message } = wordsOf(error, raw);
  // Routers give the status of what is behind them as the code of an error inside a stream.
  const status = Number(raw['status'] ?? /^[45]\d\d(?= )/.exec(words)?.[0] ?? 0);
  const retryAfterMs = waitOf(raw, message);
  const code = codeOf(raw, words, status, retryAfterMs);
  // Some echo what they were sent.
  const shown = key ? message.replaceAll(key, '***') : message;
  // Where nothing listens on this machine, nothing will in some seconds.
  const absent = endpoint.local && /\bECONNREFUSED\b/.test(message);
  const retryable = code === 'MODEL_BUSY' || (code === 'MODEL_UNREACHABLE' && !absent);
  const said = `${endpoint.name}: ${status === 0 ? '' : `${status} `}${shown}${wayOut(code, endpoint)}`;
  return new ChatError(code, said, { status: status || undefined, retryable, retryAfterMs, cause: error });
}

/** Code, type and message of an error as `words`; the message alone as a sentence. */
function wordsOf(error: unknown, raw: JsonObject): { readonly words: string; readonly message: string } {
  const body = objectOf(raw['error'])['error'] ?? raw['error'];
  const { code = '', type = '', message } = objectOf(body);
  // fetch hides the reason two errors deep.
  const inner = objectOf(objectOf(raw['cause'])['cause'] ?? raw['cause']);
  const cause = textOf(inner['code']) ?? textOf(inner['message']);
  const own = String(raw['message'] ?? error).replace(/^\d{3} (?=\S)/, '');
  const given = textOf(message) ?? textOf(body) ?? own;
  const said = /<html|<!doctype/i.test(given) ? 'a web page instead of an answer' : given;
  const whole = (cause === undefined ? said : `${said.replace(/\.$/, '')} (${cause})`).slice(0, mostMessage);
  const sentence = whole.toWellFormed().replace(/[^.!?]$/, '$&.');
  return { words: `${String(code)} ${String(type)} ${sentence}`, message: sentence };
}

/** Errors without a status are said inside a stream, or are of the connection. */
function codeOf(raw: JsonObject, words: string, status: number, retryAfterMs?: number): ChatErrorCode {
  if (status === 402 || /\binsufficient_quota\b/.test(words)) return 'MODEL_QUOTA';
  const limited = status === 429 || rate.test(words);
  // OpenAI's limit by the minute can be smaller than one request: waiting does not help then.
  const isTooLarge = status === 413 || /request too large/i.test(words) || (!limited && overflow.test(words));
  if (isTooLarge) return 'MODEL_OVERFLOW';
  // Gemini speaks of plans and billing for a limit by the minute, too, but then says when to come back.
  if (quota.test(words) && retryAfterMs === undefined && status < 500) return 'MODEL_QUOTA';
  if (limited) return 'MODEL_BUSY';
  if (status === 401 || status === 403) return 'MODEL_KEY_REFUSED';
  if (status === 0 && isNetwork(raw)) return 'MODEL_UNREACHABLE';
  const isBusy = status >= 500 || [408, 409, 425].includes(status) || (status === 0 && busy.test(words));
  return isBusy ? 'MODEL_BUSY' : 'MODEL_REFUSED';
}

/**
 * A connection that failed, or a stream that was cut or garbled. The SDKs' connection errors are the ones
 * without headers and body; their names do not survive a minifier.
 */
const isNetwork = (raw: JsonObject): boolean =>
  ('headers' in raw && raw['headers'] === undefined && raw['error'] === undefined) ||
  raw['name'] === 'SyntaxError' ||
  /^(?:terminated|fetch failed)/.test(String(raw['message'])) ||
  textOf(objectOf(raw['cause'])['code']) !== undefined;

/** Milliseconds, from the headers or, as some say it only there, from the words. */
function waitOf({ headers }: JsonObject, message: string): number | undefined {
  const header = headers instanceof Headers ? headers.get('retry-after') : null;
  const seconds = Number(header ?? /(?:try again|retry) in (\d+(?:\.\d+)?) ?s/i.exec(message)?.[1] ?? NaN);
  const wait = Number.isNaN(seconds) ? Date.parse(header ?? '') - Date.now() : Math.ceil(seconds * 1000);
  return wait >= 0 ? wait : undefined;
}

function wayOut(code: ChatErrorCode, { name, baseUrl, keyVariables, local }: Endpoint): string {
  if (code === 'MODEL_UNREACHABLE')
    return local ? ` Is the server at ${baseUrl} running?` : ` Can ${baseUrl} be reached from here?`;
  if (code === 'MODEL_QUOTA')
    return ` The account at ${name} has to be topped up; /model chooses another model.`;
  return code === 'MODEL_KEY_REFUSED' && keyVariables[0]
    ? ` Check ${keyVariables[0]}, or the key command of ${name}.`
    : '';
}

/** The fields that a request can do without; most endpoints call it by its name. */
const spared =
  'stream_options|include|cache_control|reasoning_effort|reasoning|enable_thinking|thinking|' +
  'temperature|top_p|max_tokens|stream';
const otherwise: Readonly<Record<string, RegExp>> = {
  include: /\binclude\b|\bencrypted/i,
  // OpenAI's newer models want its newer name.
  max_tokens: /\bmax_completion_tokens\b/,
  stream: /\bstream(?:ing|ed)?\b/i,
};

/**
 * The field of the body that an endpoint says it does not take, among those that a request can do without.
 */
export const refusedField = ({ code, message }: ChatError, body: JsonObject): string | undefined =>
  code === 'MODEL_REFUSED'
    ? spared
        .split('|')
        .find((name) => name in body && (otherwise[name] ?? new RegExp(`\\b${name}\\b`)).test(message))
    : undefined;
