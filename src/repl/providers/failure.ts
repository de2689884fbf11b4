import type { ChatErrorCode } from '../errors.ts';
import type { Endpoint } from '../models/model.ts';
import { objectOf, textOf } from '../text/json.ts';
import { ProviderFailure } from './provider.ts';

/** What the errors of both SDKs, of fetch and of streams have in common. */
interface Raw {
  readonly name?: string;
  readonly message?: string;
  readonly status?: number;
  readonly headers?: { get?(name: string): string | null };
  /** The body, or the part of it that tells of the error. */
  readonly error?: unknown;
  readonly cause?: unknown;
}

interface Told {
  readonly message: string;
  readonly code: string;
  readonly type: string;
}

/** There is no common code for a conversation that is too long: these are the words of many servers. */
const overflow = [
  /context[ _]length[ _]exceeded|maximum context length|context[ _]window/i,
  /prompt is too long|prompt (?:has|contains) too many tokens|prompt too long/i,
  /exceeds? the (?:available|maximum|model'?s)? ?(?:context|input|prompt|token)/i,
  /(?:input|prompt) (?:token count|tokens|length|is) .{0,60}exceeds?|input is too long|too large for model/i,
  /reduce the length of the (?:messages|prompt|input)/i,
  /maximum (?:prompt|input|allowed) (?:length|tokens?|input)|(?:larger|greater|longer) than the (?:context|maximum)/i,
  /exceeded model token limit|token limit exceeded|request_too_large/i,
];
/** The same words, said of a rate. */
const rate = /rate.?limit|too many (?:requests|tokens, please wait)|per (?:minute|day|hour)|throttl/i;
const quota =
  /insufficient[_ ](?:quota|balance|credits?)|credit balance|billing|payment required|out of credits?/i;
const busy = /overloaded|unavailable|internal|server_error|api_error|timeout|rate_limit|try again/i;

/** As much of what a provider says as is shown. */
const mostMessage = 1000;

/** An answer whose stream ended before the model said so, as those of a server do that was stopped. */
export const unfinished = (): ProviderFailure =>
  new ProviderFailure('MODEL_UNREACHABLE', 'The answer ended before it was complete.', { retryable: true });

/**
 * Any error of a request as a ProviderFailure: what it is, whether it is worth another try, and how long the
 * provider asks us to wait. Errors that are ProviderFailures already stay what they are.
 */
export function failureOf(error: unknown, endpoint: Endpoint, key?: string): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  const raw = (typeof error === 'object' && error !== null ? error : { message: String(error) }) as Raw;
  if (raw.cause instanceof ProviderFailure) return raw.cause;
  const told = toldBy(raw);
  const status = raw.status ?? statusOf(told.code);
  const retryAfterMs = waitOf(raw, told.message);
  const code = codeOf(told, { status, network: isNetwork(raw), waits: retryAfterMs !== undefined });
  // Some echo what they were sent.
  const message = key === undefined || key === '' ? told.message : told.message.replaceAll(key, '***');
  const said = `${endpoint.name}: ${status === undefined ? '' : `${status} `}${message}`;
  const should = raw.headers?.get?.('x-should-retry');
  // Where nothing listens on this machine, nothing will in some seconds.
  const absent = endpoint.local && /\bECONNREFUSED\b/.test(told.message);
  const retryable =
    (code === 'MODEL_UNREACHABLE' && !absent) || (code === 'MODEL_BUSY' && should !== 'false');
  const facts = { status, retryable, retryAfterMs };
  return new ProviderFailure(code, `${said}${wayOut(code, endpoint)}`, facts, { cause: error });
}

function toldBy(raw: Raw): Told {
  const body = objectOf(raw.error)['error'] ?? raw.error;
  const text = (name: string): string => {
    const value = objectOf(body)[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  // fetch hides the reason two errors deep.
  const { code, message: inner } = objectOf(objectOf(raw.cause)['cause'] ?? raw.cause);
  const cause = textOf(code) ?? textOf(inner);
  const own = (raw.message ?? 'no reason given').replace(/^\d{3} (?=\S)/, '');
  const message = text('message') || (typeof body === 'string' ? body : '') || own;
  const html = /<html|<!doctype/i.test(message) ? 'a web page instead of an answer' : undefined;
  const said = html ?? message;
  const whole = (cause === undefined ? said : `${said.replace(/\.$/, '')} (${cause})`).slice(0, mostMessage);
  const sentence = whole.toWellFormed().replace(/[^.!?]$/, '$&.');
  return { message: sentence, code: text('code'), type: text('type') };
}

/** Routers give the status of what is behind them as the code of an error inside a stream. */
const statusOf = (code: string): number | undefined => (/^[45]\d\d$/.test(code) ? Number(code) : undefined);

function codeOf(
  { message, code, type }: Told,
  { status, network, waits }: { status: number | undefined; network: boolean; waits: boolean },
): ChatErrorCode {
  const all = `${code} ${type} ${message}`;
  const limited = status === 429 || rate.test(all);
  if (/^insufficient_quota$/.test(code || type) || status === 402) return 'MODEL_QUOTA';
  // OpenAI's limit by the minute can be smaller than one request: waiting does not help then.
  const tooLong = !limited && overflow.some((words) => words.test(all));
  if (status === 413 || tooLong || /^request too large/i.test(message)) return 'MODEL_OVERFLOW';
  // Gemini speaks of plans and billing for a limit by the minute, too, but then says when to come back.
  if (quota.test(all) && !waits && (status === undefined || status < 500)) return 'MODEL_QUOTA';
  if (limited) return 'MODEL_BUSY';
  if (status === 401 || status === 403) return 'MODEL_KEY_REFUSED';
  if (status !== undefined) {
    return status >= 500 || [408, 409, 425].includes(status) ? 'MODEL_BUSY' : 'MODEL_REFUSED';
  }
  if (network) return 'MODEL_UNREACHABLE';
  return busy.test(all) ? 'MODEL_BUSY' : 'MODEL_REFUSED';
}

/**
 * A connection that failed, or a stream that was cut or garbled. The SDKs' connection errors are the ones without
 * headers and body; their names do not survive a minifier.
 */
const isNetwork = (raw: Raw): boolean =>
  ('headers' in raw && raw.headers === undefined && raw.error === undefined) ||
  raw.name === 'SyntaxError' ||
  /^(?:terminated|fetch failed)/.test(raw.message ?? '') ||
  textOf(objectOf(raw.cause)['code']) !== undefined;

/** Milliseconds, from the headers or, as some say it only there, from the words. */
function waitOf(raw: Raw, message: string): number | undefined {
  const header = (name: string) => raw.headers?.get?.(name) ?? undefined;
  const ms = Number(header('retry-after-ms') ?? NaN);
  if (ms >= 0) return ms;
  const after = header('retry-after');
  if (after !== undefined) {
    const seconds = Number(after);
    const wait = Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1000;
    if (wait >= 0) return wait;
  }
  const said = /(?:try again|retry) in (?:(\d+)m ?)?(\d+(?:\.\d+)?) ?(ms|s)/i.exec(message);
  if (!said) return undefined;
  const [, minutes = '0', count = '0', unit] = said;
  return Math.ceil(Number(minutes) * 60_000 + Number(count) * (unit?.toLowerCase() === 'ms' ? 1 : 1000));
}

function wayOut(code: ChatErrorCode, { name, baseUrl, keyVariables, local }: Endpoint): string {
  switch (code) {
    case 'MODEL_KEY_REFUSED':
      return keyVariables[0] ? ` Check ${keyVariables[0]}, or the key command of ${name}.` : '';
    case 'MODEL_UNREACHABLE':
      return local ? ` Is the server at ${baseUrl} running?` : ` Can ${baseUrl} be reached from here?`;
    case 'MODEL_QUOTA':
      return ` The account at ${name} has to be topped up; /model chooses another model.`;
    default:
      return '';
  }
}
