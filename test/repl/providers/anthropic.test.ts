import { afterEach, beforeEach, expect, it } from 'vitest';
import { ask, asking, said, user } from '../support/asking.ts';
import {
  answer,
  call,
  misbehave,
  say,
  startFakeModel,
  think,
  type FakeModel,
} from '../support/fake-model.ts';

let fake: FakeModel;
beforeEach(async () => {
  fake = await startFakeModel();
});
afterEach(() => fake.close());

const result = (callId: string, isError = false) => ({
  role: 'tool' as const,
  callId,
  name: 'lookup',
  text: 'A thing.',
  images: [],
  isError,
});
const two = answer(
  think('Hm.'),
  say('I look.'),
  call('lookup', { word: 'a' }, { id: 'toolu_1' }),
  call('lookup', {}, { id: 'toolu_2' }),
);
const cached = { cache_control: { type: 'ephemeral' } };

it('sends its own answers back word for word, and all results in one message', async () => {
  fake.script(two, say('Done.'));
  const model = fake.model('anthropic');
  const { message } = await ask(model);
  const messages = [user('Hello?'), message!, result('toolu_1'), result('toolu_2', true), user('And?')];
  await ask(model, asking(messages));
  expect(fake.requests[1]!.body).toMatchObject({
    max_tokens: 8000,
    system: [{ type: 'text', text: 'Be brief.', ...cached }],
  });
  expect(fake.requests[1]!.body['messages']).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Hello?' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'SIG==' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: { word: 'a' } },
        { type: 'tool_use', id: 'toolu_2', name: 'lookup', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'A thing.' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'A thing.', is_error: true },
        { type: 'text', text: 'And?', ...cached },
      ],
    },
  ]);
});

it('sends the answers of another model as text and calls', async () => {
  fake.script(two, say('Done.'));
  const { message } = await ask(fake.model('anthropic'));
  const messages = [user('Hello?'), message!, result('toolu_1'), result('toolu_2')];
  await ask({ ...fake.model('anthropic'), id: 'another' }, asking(messages));
  expect(fake.requests[1]!.text).not.toContain('"thinking"');
  expect(fake.requests[1]!.text).toContain('"tool_use"');
});

it('never begins with an answer', async () => {
  fake.script(say('Hello.'));
  await ask(fake.model('anthropic'), asking([said('I was saying …'), user('Yes?')]));
  const sent = fake.requests[0]!.body['messages'] as { role: string }[];
  expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
});

it('goes without marks for the cache where they are refused', async () => {
  fake.script(misbehave('cache_control_refused'));
  const { message } = await ask(fake.model('anthropic'));
  expect(message!.text).toBe('Hello.');
  expect(fake.requests[1]!.text).not.toContain('cache_control');
});

it('lets the model think, by a budget where it is an older one', async () => {
  fake.script(misbehave('adaptive_refused'), say('Again.'));
  const model = fake.model('anthropic', { thinking: true });
  const { message } = await ask(model, asking(undefined, { thinking: true }));
  expect(message!.text).toBe('Hello.');
  expect(fake.requests.map(({ body }) => body['thinking'])).toEqual([
    { type: 'adaptive', display: 'summarized' },
    { type: 'enabled', budget_tokens: 4000 },
  ]);
  await ask(model, asking(undefined, { thinking: false }));
  expect(fake.requests[2]!.body['thinking']).toEqual({ type: 'disabled' });
});

it('does not ask for thoughts about results that were asked for without any', async () => {
  fake.script(say('Done.'));
  const asked = said('', { calls: [{ id: 'call_1', name: 'lookup', arguments: '' }], stop: 'calls' });
  const request = asking([user('Hello?'), asked, result('call_1')], { thinking: true });
  await ask(fake.model('anthropic', { thinking: true }), request);
  expect(fake.requests[0]!.body).not.toHaveProperty('thinking');
});

it('calls it an overflow when the answer fills the window', async () => {
  fake.script(misbehave('window_exceeded'));
  expect((await ask(fake.model('anthropic'))).failure).toMatchObject({ code: 'MODEL_OVERFLOW' });
});

it('sends the headers of before to endpoints that want them', async () => {
  fake.script(say('Hello.'));
  const model = fake.model('anthropic');
  await ask({
    ...model,
    endpoint: { ...model.endpoint, baseUrl: `${fake.url}/v1`, oldAnthropicHeaders: true },
  });
  const { headers, path } = fake.requests[0]!;
  expect(headers).toMatchObject({ 'x-api-key': 'sk-test', 'anthropic-version': '2023-06-01' });
  expect(headers.authorization).toBeUndefined();
  expect(path).toBe('/v1/messages');
});
