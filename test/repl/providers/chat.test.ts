import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ToolMessage } from '../../../src/repl/message.ts';
import { ask, asking, said, user } from '../support/asking.ts';
import {
  answer,
  call,
  calls,
  misbehave,
  say,
  startFakeModel,
  think,
  type FakeModel,
  type Misbehaviour,
} from '../support/fake-model.ts';

let fake: FakeModel;
beforeEach(async () => {
  fake = await startFakeModel();
});
afterEach(() => fake.close());

const result = (callId: string): ToolMessage => ({
  role: 'tool',
  callId,
  name: 'lookup',
  text: 'A thing.',
  images: [],
  isError: false,
});

it.each<Misbehaviour>(['missing_index', 'same_index', 'interleaved'])(
  'tells calls apart: %s',
  async (kind) => {
    fake.script(misbehave(kind));
    const { message } = await ask(fake.model('chat'));
    expect(message!.stop).toBe('calls');
    expect(message!.calls).toEqual([
      { id: 'call_one', name: 'lookup', arguments: '{"word":"one"}' },
      { id: 'call_two', name: 'lookup', arguments: '{"word":"two"}' },
    ]);
  },
);

it.each<Misbehaviour>(['arguments_object', 'finish_stop', 'missing_id'])('understands %s', async (kind) => {
  fake.script(misbehave(kind));
  const { message } = await ask(fake.model('chat'));
  expect(message).toMatchObject({ stop: 'calls', calls: [{ name: 'lookup', arguments: '{"word":"tool"}' }] });
  expect(message!.calls[0]!.id).toMatch(/^call_/);
});

it('gives a call another id when an earlier one has the same', async () => {
  const same = calls([{ name: 'lookup', id: 'call_0' }]);
  fake.script(same);
  const earlier = said('', { calls: [{ id: 'call_0', name: 'lookup', arguments: '' }], stop: 'calls' });
  const { message } = await ask(fake.model('chat'), asking([user('Hello?'), earlier, result('call_0')]));
  expect(message!.calls[0]!.id).not.toBe('call_0');
});

it('reads thoughts between tags, however they are cut', async () => {
  for (const delta of [1, 2, 5, 100]) {
    fake.script(say('<think>Let me see.</think>\n\nHello.', { delta }));
    const { message, shown, thought } = await ask(fake.model('chat'));
    expect(message).toMatchObject({ text: 'Hello.', reasoning: 'Let me see.' });
    expect([shown, thought]).toEqual(['Hello.', 'Let me see.']);
  }
});

it('sends thoughts back under the name the server has for them', async () => {
  const one = answer(think('Hm.'), call('lookup', {}, { id: 'call_1' }), { reasoningField: 'reasoning' });
  fake.script(one, say('Done.'));
  const { message } = await ask(fake.model('chat'));
  await ask(fake.model('chat'), asking([user('Hello?'), message!, result('call_1')]));
  expect(fake.requests[1]!.body['messages']).toMatchObject([
    {},
    {},
    { role: 'assistant', content: null, reasoning: 'Hm.', tool_calls: [{ id: 'call_1' }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'A thing.' },
  ]);
});

it('sends no thoughts to another model, nor where they are never wanted', async () => {
  fake.script(answer(think('Hm.'), say('Hello.')), say('Bye.'), say('Bye.'));
  const { message } = await ask(fake.model('chat'));
  const messages = [user('Hello?'), message!, user('Bye?')];
  await ask({ ...fake.model('chat'), id: 'another' }, asking(messages));
  await ask(fake.model('chat', { echoReasoning: 'never' }), asking(messages));
  expect(fake.requests[1]!.text + fake.requests[2]!.text).not.toContain('Hm.');
});

it('sends empty thoughts with every call where they must not be missing', async () => {
  fake.script(say('Done.'));
  const asked = said('', { calls: [{ id: 'call_1', name: 'lookup', arguments: '{}' }], stop: 'calls' });
  const messages = [user('Hello?'), asked, result('call_1'), said('Done.'), user('Bye?')];
  await ask(fake.model('chat', { echoReasoning: 'calls' }), asking(messages));
  const sent = fake.requests[0]!.body['messages'] as object[];
  expect(sent[2]).toHaveProperty('reasoning_content', '');
  expect(sent[4]).not.toHaveProperty('reasoning_content');
});

it('asks for no usage where that is refused', async () => {
  fake.script(misbehave('stream_options_refused'));
  const { message } = await ask(fake.model('chat'));
  expect(message).toMatchObject({ text: 'Hello.', usage: { estimated: true } });
  expect(fake.requests[1]!.body).toMatchObject({ stream: true });
});

it('finds the name the endpoint has for the limit of an answer', async () => {
  fake.script(misbehave('max_tokens_refused'));
  await ask(fake.model('chat'), asking(undefined, { maxTokens: 99 }));
  expect(fake.requests.map(({ body }) => [body['max_tokens'], body['max_completion_tokens']])).toEqual([
    [99, undefined],
    [undefined, 99],
  ]);
});

it('asks for no effort where tools are refused with it', async () => {
  fake.script(misbehave('effort_with_tools_refused'));
  const { message } = await ask(fake.model('chat'));
  expect(message!.text).toBe('Hello.');
  expect(fake.requests[1]!.body).toMatchObject({ reasoning_effort: 'none' });
});

it('remembers several refusals of one endpoint', async () => {
  fake.script(
    misbehave('stream_options_refused'),
    misbehave('max_tokens_refused'),
    misbehave('streaming_refused'),
  );
  const known = new Map();
  const remembered = {
    get: (name: string) => known.get(name) ?? [],
    set: (name: string, refused: unknown) => void known.set(name, refused),
  };
  const request = asking(undefined, { maxTokens: 99 });
  for (let n = 0; n < 3; n++) await ask(fake.model('chat'), request, { remembered });
  expect(fake.left()).toBe(0);
  expect([...known.values()]).toEqual([['stream_options', 'max_tokens', 'stream']]);
  expect(fake.requests).toHaveLength(6);
});

it('sends back what every server can take: ids, names and arguments of another model', async () => {
  fake.script(say('Done.'));
  const id = `toolu|${'x'.repeat(60)}`;
  const asked = said('', { calls: [{ id, name: 'no such tool!', arguments: '{"a":' }], stop: 'calls' });
  await ask(fake.model('chat'), asking([user('Hello?'), asked, result(id)]));
  const [, , sent, told] = fake.requests[0]!.body['messages'] as {
    tool_calls?: { id: string; function: object }[];
    tool_call_id?: string;
  }[];
  expect(sent!.tool_calls![0]).toMatchObject({ function: { name: 'no_such_tool_', arguments: '{}' } });
  expect(sent!.tool_calls![0]!.id).toMatch(/^[\w-]{1,40}$/);
  expect(told!.tool_call_id).toBe(sent!.tool_calls![0]!.id);
});
