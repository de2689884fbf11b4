import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../src/repl/providers/failure.ts';

const endpoint = {
  name: 'fake',
  wire: 'chat' as const,
  baseUrl: 'http://127.0.0.1:1/v1',
  keyVariables: ['FAKE_KEY'],
  local: false,
};
const failed = (status: number | undefined, message: string, more: object = {}) =>
  failureOf({ status, message, headers: new Headers(), error: { message }, ...more }, endpoint);

describe('what does not fit', () => {
  it.each([
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    'prompt is too long: 213462 tokens > 200000 maximum',
    'request (6018 tokens) exceeds the available context size (2048 tokens), try increasing it',
    'Your input exceeds the context window of this model.',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'Please reduce the length of the messages or completion.',
    'The number of tokens to keep from the initial prompt is greater than the context length',
    'invalid params, context window exceeds limit (2013)',
    'prompt too long; exceeded max context length by 4 tokens',
    'Prompt contains 90000 tokens, too large for model with 32768 maximum context length',
    'Your request exceeded model token limit: 131072 (requested: 149134)',
  ])('is an overflow: %s', (message) => {
    expect(failed(400, message)).toMatchObject({ code: 'MODEL_OVERFLOW' });
    expect(failed(400, message).facts.retryable).toBe(false);
  });

  it('is none when it is said of a rate', () => {
    const failure = failed(429, 'Too many tokens, please wait before trying again.');
    expect(failure).toMatchObject({ code: 'MODEL_BUSY', facts: { retryable: true } });
  });

  it('is one when a single request is more than a minute allows', () => {
    const message = 'Request too large for gpt on tokens per min (TPM): Limit 30000, Requested 40000.';
    expect(failed(429, message).code).toBe('MODEL_OVERFLOW');
  });
});

it.each([
  ['Your credit balance is too low to access the API.', 400],
  ['Insufficient Balance', 402],
])('never asks again where money is missing: %s', (message, status) => {
  expect(failed(status, message)).toMatchObject({ code: 'MODEL_QUOTA' });
});

it('asks again where a quota is one by the minute', () => {
  const message =
    'You exceeded your current quota, please check your plan and billing. Please retry in 12.5s.';
  expect(failed(429, message)).toMatchObject({ code: 'MODEL_BUSY', facts: { retryAfterMs: 12_500 } });
});

it('believes insufficient_quota whatever else is said', () => {
  const error = { message: 'Please retry in 1s.', code: 'insufficient_quota' };
  expect(failed(429, error.message, { error }).code).toBe('MODEL_QUOTA');
});

it.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after-ms': '250' }, 250],
])('reads how long to wait from %o', (headers, ms) => {
  expect(failed(429, 'Slow down', { headers: new Headers(headers) }).facts.retryAfterMs).toBe(ms);
});

it('reads a date in retry-after', () => {
  const headers = new Headers({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
  const wait = failed(503, 'Down', { headers }).facts.retryAfterMs!;
  expect(wait).toBeGreaterThan(50_000);
  expect(wait).toBeLessThanOrEqual(60_000);
});

it('takes the code of an error in a stream for its status', () => {
  const failure = failureOf({ message: 'x', error: { message: 'Bad gateway', code: 502 } }, endpoint);
  expect(failure).toMatchObject({ code: 'MODEL_BUSY', message: 'fake: 502 Bad gateway.' });
});

it('does not ask again where the server says that it is no use', () => {
  const headers = new Headers({ 'x-should-retry': 'false' });
  expect(failed(500, 'Broken', { headers }).facts.retryable).toBe(false);
});

it('says where the key comes from that was refused', () => {
  expect(failed(401, 'Incorrect API key provided').message).toContain('FAKE_KEY');
});

it('does not take a mistake of our own for a bad connection', () => {
  const failure = failureOf(new TypeError('x is not a function'), endpoint);
  expect(failure.facts.retryable).toBe(false);
  expect(failure.cause).toBeInstanceOf(TypeError);
});
