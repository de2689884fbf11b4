import type { Wire } from '../../../src/repl/message.ts';
import type { Misbehaviour, Step } from './fake-answer.ts';
import type { FakeRequest } from './fake-model.ts';

interface FakeFailure {
  /** 0: the connection is cut. */
  readonly status: number;
  readonly type: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** What the next request is answered with. */
  readonly next?: Step;
}

/** What a server says that does not know a field, and whether a request has it. */
const refusals: Partial<Record<Misbehaviour, { message: string; asked(request: FakeRequest): boolean }>> = {
  streaming_refused: {
    message: 'Streaming is not supported for this model.',
    asked: ({ body }) => body.stream === true,
  },
  stream_options_refused: {
    message: 'Unrecognized request argument supplied: stream_options',
    asked: ({ body }) => 'stream_options' in body,
  },
  max_tokens_refused: {
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    asked: ({ body }) => 'max_tokens' in body,
  },
  thinking_refused: {
    message: 'Unknown name: thinking, reasoning, reasoning_effort: this model does not think.',
    asked: ({ body }) => 'thinking' in body || 'reasoning' in body || 'reasoning_effort' in body,
  },
  cache_control_refused: {
    message: 'messages.0.content.0.cache_control: Extra inputs are not permitted',
    asked: ({ text }) => text.includes('"cache_control"'),
  },
  encrypted_refused: {
    message: 'Encrypted content is not supported with this model.',
    asked: ({ body }) => 'include' in body,
  },
};

type Facts = [status: number, type: string, message: string, code?: string | null];

const failures: Partial<Record<Misbehaviour, Facts>> = {
  overflow_413: [413, 'request_too_large', 'Request exceeds the maximum size'],
  '429_retry_after': [429, 'rate_limit_error', 'Rate limit reached', 'rate_limit_exceeded'],
  '429_then_ok': [429, 'rate_limit_error', 'Rate limit reached', 'rate_limit_exceeded'],
  '500_then_ok': [500, 'api_error', 'Internal server error'],
  '529': [529, 'overloaded_error', 'Overloaded'],
  insufficient_quota: [
    429,
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
    'insufficient_quota',
  ],
  key_refused: [401, 'authentication_error', 'Incorrect API key provided', 'invalid_api_key'],
  not_found: [404, 'not_found_error', 'The model `fake-model` does not exist', 'model_not_found'],
};

const overflow: Record<Wire, Facts> = {
  chat: [
    400,
    'invalid_request_error',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    'context_length_exceeded',
  ],
  responses: [
    400,
    'invalid_request_error',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    'context_length_exceeded',
  ],
  anthropic: [400, 'invalid_request_error', 'prompt is too long: 213462 tokens > 200000 maximum'],
};

/** The failure with which a step meets a request; undefined when it is answered. */
export function failureFor(step: Step, request: FakeRequest): FakeFailure | undefined {
  const kind = step.misbehave;
  if (!kind) return undefined;
  if (kind === 'cut_at_once') return { status: 0, type: '', headers: {}, body: '' };
  if (kind === 'html_502' || kind === 'html_200') {
    const status = Number(kind.slice(5));
    return { status, type: 'text/html', headers: {}, body: '<html><body>Bad Gateway</body></html>' };
  }
  const refusal = refusals[kind];
  if (refusal) {
    if (!refusal.asked(request)) return undefined;
    return failure(request.wire, [400, 'invalid_request_error', refusal.message], { next: step });
  }
  const facts = kind === 'overflow_400' ? overflow[request.wire] : failures[kind];
  if (!facts) return undefined;
  const { misbehave: _, ...well } = step;
  return failure(request.wire, facts, {
    ...(kind.endsWith('_then_ok') ? { next: well } : {}),
    ...(kind === '429_retry_after' ? { headers: { 'retry-after': String(step.retryAfter ?? 1) } } : {}),
  });
}

function failure(
  wire: Wire,
  [status, type, message, code = null]: Facts,
  more: { next?: Step; headers?: Record<string, string> },
): FakeFailure {
  const error = wire === 'anthropic' ? { type, message } : { message, type, param: null, code };
  const body = JSON.stringify(wire === 'anthropic' ? { type: 'error', error } : { error });
  return {
    status,
    type: 'application/json',
    headers: more.headers ?? {},
    body,
    ...(more.next ? { next: more.next } : {}),
  };
}
