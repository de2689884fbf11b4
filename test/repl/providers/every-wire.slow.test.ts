import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Wire } from '../../../src/repl/message.ts';
import { ask, asking, lookup, said, user } from '../support/asking.ts';
import {
  answer,
  call,
  calls,
  gate,
  misbehave,
  say,
  startFakeModel,
  think,
  wait,
  type FakeModel,
  type Misbehaviour,
} from '../support/fake-model.ts';
import { until } from '../../support/until.ts';

let fake: FakeModel;
beforeEach(async () => {
  fake = await startFakeModel();
});
afterEach(() => fake.close());

const wires: Wire[] = ['chat', 'responses', 'anthropic'];

describe.each(wires)('over %s', (wire) => {
  it('streams thoughts, text and calls, and puts them together', async () => {
    const given = answer(think('Let me see.'), say('I look 文件 👩‍👩‍👧 up.'), call('lookup', { word: '文' }));
    fake.script(given);
    const { message, shown, thought, events } = await ask(fake.model(wire));
    expect(message).toMatchObject({ text: 'I look 文件 👩‍👩‍👧 up.', reasoning: 'Let me see.', stop: 'calls' });
    expect([shown, thought]).toEqual([message!.text, message!.reasoning]);
    expect(message!.calls).toEqual([{ id: expect.any(String), name: 'lookup', arguments: '{"word":"文"}' }]);
    expect(events.filter(({ type }) => type === 'call_begun')).toEqual([
      { type: 'call_begun', name: 'lookup' },
    ]);
    expect(message).toMatchObject({ provider: 'fake', model: 'fake-model', wire });
  });

  it('leaves no listener behind on the signal of a turn', async () => {
    const { signal } = new AbortController();
    fake.script(misbehave('500_then_ok'));
    await ask(fake.model(wire), asking(), { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each([1, 3, 7])('understands a stream cut into pieces of %i bytes', async (bytes) => {
    fake.script(answer(say('Größe: 文件 👩‍👩‍👧 "\\n"'), call('lookup', { word: 'ß\n"' }), { bytes, delta: 1 }));
    const { message } = await ask(fake.model(wire));
    expect(message!.text).toBe('Größe: 文件 👩‍👩‍👧 "\\n"');
    expect(message!.calls[0]!.arguments).toBe('{"word":"ß\\n\\""}');
  });

  it('keeps several calls in order', async () => {
    const words = ['one', 'two', 'three'].map((word) => ({ name: 'lookup', args: { word } }));
    fake.script(calls(words));
    const { message } = await ask(fake.model(wire));
    expect(message!.calls.map((each) => each.arguments)).toEqual(
      words.map(({ args }) => JSON.stringify(args)),
    );
    expect(new Set(message!.calls.map(({ id }) => id)).size).toBe(3);
  });

  it('takes a call without arguments', async () => {
    fake.script(call('lookup'));
    const { message } = await ask(fake.model(wire));
    expect(message!.calls[0]).toMatchObject({ name: 'lookup' });
    expect(['', '{}']).toContain(message!.calls[0]!.arguments);
  });

  it('shows text as it arrives, and ends with what there was when it is interrupted', async () => {
    const { opened } = gate();
    fake.script(answer(say('Once upon'), wait(opened), say(' a time')));
    const controller = new AbortController();
    const seen = (event: { type: string }) => void (event.type === 'text' && controller.abort());
    const { message, failure } = await ask(fake.model(wire), asking(), { signal: controller.signal, seen });
    expect(failure).toBeUndefined();
    expect(message).toMatchObject({ stop: 'aborted', calls: [], text: 'Once u' });
    expect(message!.native).toBeUndefined();
    await until(() => fake.requests[0]!.aborted);
  });

  it('ends when it is interrupted before anything has come', async () => {
    fake.script(answer(wait(gate().opened), say('late')));
    const controller = new AbortController();
    const asked = ask(fake.model(wire), asking(), { signal: controller.signal });
    await until(() => fake.requests.length === 1);
    controller.abort();
    const { message, events } = await asked;
    expect(events).toHaveLength(1);
    expect(message).toMatchObject({ stop: 'aborted', text: '' });
  });

  it('does not ask when it was interrupted before it began', async () => {
    const { message } = await ask(fake.model(wire), asking(), { signal: AbortSignal.abort() });
    expect(message!.stop).toBe('aborted');
    expect(fake.requests).toEqual([]);
  });

  it('counts tokens as the provider does', async () => {
    fake.script(say('Hello.', { usage: { input: 120, output: 30, cached: 100 } }));
    const { message } = await ask(fake.model(wire));
    expect(message!.usage).toEqual({
      input: 20,
      output: 30,
      cacheRead: 100,
      cacheWrite: 0,
      estimated: false,
    });
  });

  it('estimates tokens that the provider does not count', async () => {
    fake.script(misbehave('missing_usage'));
    const { usage } = (await ask(fake.model(wire))).message!;
    expect(usage.estimated).toBe(true);
    expect(usage.input).toBeGreaterThan(20);
    expect(usage.output).toBe(2);
  });

  it.each<Misbehaviour>(['no_finish_reason', 'cut_socket', 'error_in_stream', 'broken_event', 'cut_at_once'])(
    'asks again after %s, and discards what had come',
    async (kind) => {
      const half = answer(think('Hm, hm, hm.'), say('A long way'), say(' to go.'), { misbehave: kind });
      fake.script(half, say('All is well.'));
      const { message, shown, events, failure, waits } = await ask(fake.model(wire));
      expect(failure).toBeUndefined();
      expect([message!.text, shown]).toEqual(['All is well.', 'All is well.']);
      expect(message!.reasoning).toBe('');
      expect(events.find(({ type }) => type === 'retry')).toMatchObject({ discard: kind !== 'cut_at_once' });
      expect(waits).toEqual([1000]);
    },
  );

  it.each<Misbehaviour>(['500', '529', '429', 'html_502'])(
    'asks five times in all after %s',
    async (kind) => {
      fake.otherwise(() => misbehave(kind));
      const { failure, waits } = await ask(fake.model(wire));
      expect(failure).toMatchObject({ code: 'MODEL_BUSY', name: 'ProviderFailure' });
      expect(fake.requests).toHaveLength(5);
      expect(waits).toEqual([1000, 2000, 4000, 8000]);
    },
  );

  it.each<Misbehaviour>(['500_then_ok', '429_then_ok'])(
    'goes on when the server is well again: %s',
    async (kind) => {
      fake.script(misbehave(kind));
      const { message, waits } = await ask(fake.model(wire));
      expect([message!.text, waits]).toEqual(['Hello.', [1000]]);
    },
  );

  it('never asks sooner than retry-after says, nor sooner than its own waits', async () => {
    fake.script(
      misbehave('429_retry_after', { retryAfter: 30 }),
      misbehave('429_retry_after', { retryAfter: 0 }),
      say('Hello.'),
    );
    const { message, waits } = await ask(fake.model(wire));
    expect(message!.text).toBe('Hello.');
    expect(waits).toEqual([30_000, 2000]);
  });

  it('does not wait for more than two minutes', async () => {
    fake.script(misbehave('429_retry_after', { retryAfter: 600 }));
    const { failure, waits } = await ask(fake.model(wire));
    expect(failure!.message).toMatch(/wait 10 minutes, until \d{4}-/);
    expect(waits).toEqual([]);
  });

  it('can be interrupted while it waits', async () => {
    fake.otherwise(() => misbehave('500'));
    const controller = new AbortController();
    const seen = (event: { type: string }) => void (event.type === 'retry' && controller.abort());
    const { message, failure } = await ask(fake.model(wire), asking(), {
      sleep: (ms, signal) => pause(ms, undefined, { signal }),
      signal: controller.signal,
      seen,
    });
    expect(failure).toBeUndefined();
    expect(message!.stop).toBe('aborted');
    expect(fake.requests).toHaveLength(1);
  });

  it.each<[Misbehaviour, string]>([
    ['insufficient_quota', 'MODEL_QUOTA'],
    ['key_refused', 'MODEL_KEY_REFUSED'],
    ['overflow_400', 'MODEL_OVERFLOW'],
    ['overflow_413', 'MODEL_OVERFLOW'],
    ['not_found', 'MODEL_REFUSED'],
  ])('does not ask again after %s', async (kind, code) => {
    fake.otherwise(() => misbehave(kind));
    const { failure } = await ask(fake.model(wire));
    expect(failure).toMatchObject({ code });
    expect(failure!.message).toMatch(/^fake: \d{3} \w/);
    expect(fake.requests).toHaveLength(1);
  });

  it('says that nobody listens where the server should be', async () => {
    await fake.close();
    const { failure, waits } = await ask(fake.model(wire));
    expect(failure).toMatchObject({ code: 'MODEL_UNREACHABLE' });
    expect(failure!.message).toContain('ECONNREFUSED');
    expect(failure!.message).toContain('running?');
    // Nothing will in some seconds, either: on this machine that is not waited for.
    expect(waits).toEqual([]);
    fake = await startFakeModel();
  });

  it('hands on arguments that are no JSON, as they came', async () => {
    fake.script(misbehave('malformed_json'));
    const { message } = await ask(fake.model(wire));
    expect(message).toMatchObject({ stop: 'calls', calls: [{ arguments: '{"word":"tool"' }] });
  });

  it('keeps a call that was cut, and says that the answer was', async () => {
    fake.script(misbehave('max_tokens_in_call'));
    const { message } = await ask(fake.model(wire));
    expect(message).toMatchObject({ stop: 'length', calls: [{ name: 'lookup', arguments: '{"word":' }] });
  });

  it('hands on an answer of thoughts alone', async () => {
    fake.script(misbehave('only_reasoning'));
    const { message } = await ask(fake.model(wire));
    expect(message).toMatchObject({ stop: 'done', text: '', reasoning: 'Let me see.', calls: [] });
  });

  it('says when an answer was filtered', async () => {
    fake.script(misbehave('filtered'));
    expect((await ask(fake.model(wire))).message!.stop).toBe('filtered');
  });

  it.each<Misbehaviour>(['overflow_silent', 'overflow_length'])('hands on the counts of %s', async (kind) => {
    fake.script(misbehave(kind));
    expect((await ask(fake.model(wire))).message!.usage.input).toBeGreaterThan(100_000);
  });

  it('goes without streaming where it is refused, and remembers', async () => {
    const scripted = answer(think('Hm.'), say('Hello.'), call('lookup', { word: 'a' }));
    fake.script(
      { ...scripted, misbehave: 'streaming_refused' },
      say('Again.', { misbehave: 'streaming_refused' }),
    );
    const known = new Map();
    const remembered = {
      get: (name: string) => known.get(name) ?? [],
      set: (name: string, refused: unknown) => void known.set(name, refused),
    };
    const first = await ask(fake.model(wire), asking(), { remembered });
    expect(first.message).toMatchObject({ text: 'Hello.', reasoning: 'Hm.', stop: 'calls' });
    expect(first.message!.calls).toMatchObject([{ name: 'lookup', arguments: '{"word":"a"}' }]);
    expect(first.waits).toEqual([]);
    const second = await ask(fake.model(wire), asking(), { remembered });
    expect(second.message!.text).toBe('Again.');
    expect(fake.requests.map(({ body }) => body.stream === true)).toEqual([true, false, false]);
    expect([...known.values()]).toEqual([['stream']]);
  });

  it('does not ask for a stream where the model is known to have none', async () => {
    fake.script(say('Hello.'));
    const { message } = await ask(fake.model(wire, { streaming: false }));
    expect(message!.text).toBe('Hello.');
    expect(fake.requests[0]!.body.stream).not.toBe(true);
  });

  it('takes a whole answer where it asked for a stream', async () => {
    fake.script(
      answer(say('Hello.'), call('lookup', { word: 'a' }), { misbehave: 'json_instead_of_stream' }),
    );
    const { message } = await ask(fake.model(wire));
    expect(message).toMatchObject({ text: 'Hello.', stop: 'calls', calls: [{ arguments: '{"word":"a"}' }] });
  });

  it('goes without thinking where it is refused', async () => {
    fake.script(misbehave('thinking_refused'));
    const request = asking(undefined, { thinking: true });
    const { message } = await ask(fake.model(wire, { thinking: true }), request);
    expect(message!.text).toBe('Hello.');
    expect(fake.requests.at(-1)!.body).not.toHaveProperty('thinking');
  });

  it('asks for a schema in words where it cannot be asked for otherwise', async () => {
    fake.script(misbehave('schema_refused'));
    const schema = { type: 'object', properties: { total: { type: 'number' } } };
    const { message } = await ask(fake.model(wire), asking(undefined, { schema, tools: [] }));
    expect(message!.text).toBe('Hello.');
    expect(fake.requests).toHaveLength(2);
    expect(fake.requests[0]!.text).toContain('json_schema');
    expect(fake.requests[1]!.text).not.toContain('json_schema');
    expect(fake.requests[1]!.text).toContain('fits this JSON Schema');
  });

  it('gives up on a server that is silent for too long', async () => {
    fake.otherwise(() => answer(say('Once upon a'), wait(gate().opened)));
    const { failure, shown } = await ask(fake.model(wire), asking(), { idleMs: 1000, most: 1 });
    expect(failure).toMatchObject({ code: 'MODEL_UNREACHABLE' });
    expect(failure!.message).toContain('Nothing came for 1 seconds');
    expect(failure!.facts.retryable).toBe(true);
    expect(shown).not.toBe('');
  });

  it('sends no key to a server that wants none', async () => {
    fake.script(say('Hello.'));
    await ask(fake.model(wire), asking(), { key: async () => undefined });
    expect(fake.requests[0]!.headers.authorization).toBeUndefined();
    expect(fake.requests[0]!.headers['x-api-key']).toBeUndefined();
  });

  it('sends the headers of the endpoint', async () => {
    fake.script(say('Hello.'));
    const model = fake.model(wire);
    await ask({ ...model, endpoint: { ...model.endpoint, headers: { 'x-team': 'blue' } } });
    expect(fake.requests[0]!.headers).toMatchObject({ 'x-team': 'blue', authorization: 'Bearer sk-test' });
  });

  it('sends nothing empty, nothing twice in a row, and no half characters', async () => {
    fake.script(say('Hello.'));
    await ask(fake.model(wire), asking([user('one'), user(''), said(''), user('two \ud83d!')]));
    const { body, text } = fake.requests[0]!;
    const sent = (body['messages'] ?? body['input']) as { role: string }[];
    expect(sent.filter(({ role }) => role === 'user')).toHaveLength(1);
    expect(text).toContain('two \ufffd!');
    expect(text).not.toContain('\\ud83d');
    expect(text).not.toContain('"text":""');
  });

  it('tells a model that takes no images that there was one', async () => {
    fake.script(say('Hello.'), say('Hello.'));
    const image = { type: 'image' as const, mimeType: 'image/png', data: 'aGVsbG8=' };
    const request = asking([{ role: 'user', content: [{ type: 'text', text: 'Look:' }, image] }]);
    await ask(fake.model(wire, { images: false }), request);
    await ask(fake.model(wire), request);
    expect(fake.requests[0]!.text).toContain('[an image (image/png) is left out');
    expect(fake.requests[0]!.text).not.toContain('aGVsbG8=');
    expect(fake.requests[1]!.text).toContain('aGVsbG8=');
  });

  it('hands the images of a result to the model', async () => {
    fake.script(say('Hello.'));
    const image = { type: 'image' as const, mimeType: 'image/png', data: 'aGVsbG8=' };
    const one = { id: 'call_1', name: 'lookup', arguments: '{"word":"a"}' };
    const two = { id: 'call_2', name: 'lookup', arguments: '{"word":"b"}' };
    const result = { role: 'tool' as const, name: 'lookup', text: '', images: [image], isError: false };
    const messages = [
      user('Look.'),
      said('', { calls: [one, two], stop: 'calls' }),
      { ...result, callId: 'call_1' },
      { ...result, callId: 'call_2', text: 'none', images: [] },
    ];
    await ask(fake.model(wire), asking(messages));
    expect(fake.requests[0]!.text).toContain('aGVsbG8=');
    const sent = (fake.requests[0]!.body['messages'] ?? fake.requests[0]!.body['input']) as object[];
    expect(JSON.stringify(sent.at(-1))).toContain(wire === 'anthropic' ? 'tool_result' : 'Shown by lookup');
  });

  it('reads calls from the text of a model that cannot call tools', async () => {
    const xml = '<tool_call><name>lookup</name><arguments>{"word": "tool"}</arguments></tool_call>';
    fake.script(say(`I look.\n${xml}`, { delta: 3 }), say('Done.'));
    const model = fake.model(wire, { tools: false });
    const first = await ask(model);
    expect(fake.requests[0]!.body).not.toHaveProperty('tools');
    expect(fake.requests[0]!.text).toContain('Looks a word up.');
    expect(first.shown).not.toContain('tool_call');
    expect(first.message).toMatchObject({ stop: 'calls', calls: [{ name: lookup.name }] });
    expect(JSON.parse(first.message!.calls[0]!.arguments)).toEqual({ word: 'tool' });
    expect(first.message!.native).toBeUndefined();
    const result = {
      role: 'tool' as const,
      callId: first.message!.calls[0]!.id,
      name: 'lookup',
      text: 'A thing.',
    };
    await ask(model, asking([user('Hello?'), first.message!, { ...result, images: [], isError: false }]));
    expect(fake.requests[1]!.text).toContain('A thing.');
    expect(fake.requests[1]!.text).not.toContain('"role":"tool"');
  });

  it('says the same again, word for word, so that caches hold', async () => {
    const one = answer(think('Hm.'), say('I look.'), call('lookup', { word: 'a' }));
    fake.script(one, say('Done.'), say('Bye.'));
    const model = fake.model(wire, { thinking: true });
    const first = await ask(model);
    const result = {
      role: 'tool' as const,
      callId: first.message!.calls[0]!.id,
      name: 'lookup',
      text: 'A thing.',
    };
    const messages = [user('Hello?'), first.message!, { ...result, images: [], isError: false }];
    const second = await ask(model, asking(messages));
    await ask(model, asking([...messages, second.message!, user('Bye.')]));
    const sent = fake.requests.map(({ body }) => {
      const list = (body['messages'] ?? body['input']) as object[];
      return JSON.stringify(list).replaceAll(',"cache_control":{"type":"ephemeral"}', '').slice(0, -1);
    });
    expect(sent[1]!.startsWith(sent[0]!)).toBe(true);
    expect(sent[2]!.startsWith(sent[1]!)).toBe(true);
  });
});
