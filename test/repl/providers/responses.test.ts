import { afterEach, beforeEach, expect, it } from 'vitest';
import { ask, asking, user } from '../support/asking.ts';
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

const result = {
  role: 'tool' as const,
  callId: 'call_1',
  name: 'lookup',
  text: 'A thing.',
  images: [],
  isError: false,
};
const asked = answer(think('Hm.'), say('I look.'), call('lookup', { word: 'a' }, { id: 'call_1' }));

it('stores nothing, and sends the items of its own answers back in order', async () => {
  fake.script(asked, say('Done.'));
  const model = fake.model('responses', { thinking: true });
  const { message } = await ask(model);
  await ask(model, asking([user('Hello?'), message!, result]));
  const { body } = fake.requests[1]!;
  expect(body).toMatchObject({
    store: false,
    include: ['reasoning.encrypted_content'],
    instructions: 'Be brief.',
  });
  expect(body['input']).toMatchObject([
    { role: 'user', content: [{ type: 'input_text', text: 'Hello?' }] },
    { type: 'reasoning', encrypted_content: 'ENC' },
    { type: 'message', content: [{ text: 'I look.' }] },
    { type: 'function_call', call_id: 'call_1', arguments: '{"word":"a"}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'A thing.' },
  ]);
});

it('sends the answers of another model as plain text and calls', async () => {
  fake.script(asked, say('Done.'));
  const { message } = await ask(fake.model('responses'));
  await ask({ ...fake.model('responses'), id: 'another' }, asking([user('Hello?'), message!, result]));
  expect(fake.requests[1]!.body['input']).toEqual([
    { role: 'user', content: [{ type: 'input_text', text: 'Hello?' }] },
    { role: 'assistant', content: 'I look.' },
    { type: 'function_call', call_id: 'call_1', name: 'lookup', arguments: '{"word":"a"}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'A thing.' },
  ]);
});

it('leaves thoughts out that nobody could decrypt, and the ids that would miss them', async () => {
  fake.script(asked, say('Done.'));
  const model = fake.model('responses');
  const { message } = await ask(model);
  const native = (message!.native as object[]).map((item) => ({ ...item, encrypted_content: undefined }));
  await ask(model, asking([user('Hello?'), { ...message!, native }, result]));
  const input = fake.requests[1]!.body['input'] as object[];
  expect(input.map((item) => ('type' in item ? item.type : 'user'))).toEqual([
    'user',
    'message',
    'function_call',
    'function_call_output',
  ]);
  expect(input[2]).not.toHaveProperty('id');
});

it('sends an answer that was cut back as text', async () => {
  fake.script(misbehave('max_tokens_in_call'));
  const { message } = await ask(fake.model('responses'));
  expect(message!.stop).toBe('length');
  expect(message!.native).toBeUndefined();
});

it('asks for no encrypted thoughts where there are none', async () => {
  fake.script(misbehave('encrypted_refused'));
  const { message } = await ask(fake.model('responses', { thinking: true }));
  expect(message!.text).toBe('Hello.');
  expect(fake.requests[1]!.body).not.toHaveProperty('include');
});
