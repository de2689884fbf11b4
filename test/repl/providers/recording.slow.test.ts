import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Wire } from '../../../src/repl/message.ts';
import { createProvider } from '../../../src/repl/providers/create-provider.ts';
import type { ModelEvent, ModelRequest, ProviderFailure } from '../../../src/repl/providers/provider.ts';
import { recording, replaying } from '../../../src/repl/providers/recording.ts';
import { answer, call, gate, misbehave, say, startFakeModel, think, wait } from '../support/fake-model.ts';

const never = new AbortController().signal;
const key = 'sk-very/secret+key';
const request = (text: string): ModelRequest => ({
  system: 's',
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  tools: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }],
});

/** A model that answers as the script says, recorded; and the recording of it. */
async function recorded(wire: Wire = 'chat') {
  const file = join(mkdtempSync(join(tmpdir(), 'chat-recording-')), 'r.jsonl');
  const warnings: string[] = [];
  const model = await startFakeModel();
  onTestFinished(() => model.close());
  const asked = async (fetched: typeof fetch, text: string, signal = never) => {
    const sleep = async () => {};
    const provider = createProvider(model.model(wire), { key: async () => key, fetch: fetched, sleep });
    const events: ModelEvent[] = [];
    try {
      for await (const event of provider.stream(request(text), signal)) events.push(event);
    } catch (error) {
      const { code, message, facts } = error as ProviderFailure;
      return { events, error: { code, message, facts } };
    }
    return { events };
  };
  const warn = (text: string) => void warnings.push(text);
  const recorder = recording(fetch, file, warn);
  return {
    file,
    model,
    warnings,
    /** What a request gives while it is recorded. */
    ask: (text: string, signal?: AbortSignal) => asked(recorder, text, signal),
    /** The recording, to be asked the same. */
    replay() {
      const { fetch: replayed, wires } = replaying(file, warn);
      return { wires, ask: (text: string, signal?: AbortSignal) => asked(replayed, text, signal) };
    },
    lines: () =>
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

describe('a recording', () => {
  it.each(['chat', 'responses', 'anthropic'] as const)(
    'of %s is replayed byte by byte, failures and retries included',
    async (wire) => {
      const { file, model, warnings, ask, replay, lines } = await recorded(wire);
      model.script(
        answer(think('Hm.'), say('größer 🎉'), call('t', { a: 'ü' }), { bytes: 3 }),
        say('cut in the middle of it', { misbehave: 'cut_socket' }),
        say('well'),
        misbehave('key_refused'),
        misbehave('broken_event'),
        say('again'),
      );
      const live = [await ask('a'), await ask('b'), await ask('c'), await ask('d')];
      await model.close();
      if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(lines()[0]).toMatchObject({ method: 'POST', status: 200, end: 'whole' });
      expect(lines()[0].chunks.length).toBeGreaterThan(10);
      expect(lines()[1]).toMatchObject({ end: 'cut' });

      const again = replay();
      expect(again.wires).toContain(wire);
      expect([
        await again.ask('a'),
        await again.ask('b'),
        await again.ask('c'),
        await again.ask('d'),
      ]).toEqual(live);
      expect(live[1]?.events.map(({ type }) => type)).toContain('retry');
      expect(live[2]?.error).toMatchObject({ code: 'MODEL_KEY_REFUSED' });
      expect(warnings).toEqual([]);
    },
  );

  it('holds nothing of what was asked, nor the key, in whichever way an answer repeats it', async () => {
    const { file, model, lines } = await recorded();
    const url = `${model.url}/v1/chat/completions?key=${key}`;
    for (const text of [
      `no ${key}!`,
      JSON.stringify({ no: key }).replaceAll('/', '\\/'),
      `{"no":"${key.replace('+', '\\u002B')}"}`,
    ]) {
      const halves = [text.slice(0, 12), text.slice(12)].map((half) => new TextEncoder().encode(half));
      const fetched = recording(
        async () => new Response(ReadableStream.from(halves)),
        file,
        () => {},
      );
      const headers = { authorization: `Bearer ${key}` };
      expect(await (await fetched(url, { method: 'POST', headers, body: 'my s3cret' })).text()).toBe(text);
    }
    expect(lines()).toHaveLength(3);
    expect(lines()[0].chunks).toEqual([[expect.any(Number), 'no …!']]);
    expect(readFileSync(file, 'utf8')).not.toMatch(/s3cret|secret|127\.0\.0\.1/);
  });

  it('keeps the order in which requests were made, and finds a request that comes earlier', async () => {
    const { model, warnings, ask, replay } = await recorded();
    const slow = gate();
    model.script(answer(wait(slow.opened), say('first')), say('second'));
    const first = ask('a');
    await expect.poll(() => model.requests.length).toBe(1);
    const second = await ask('b');
    slow.open();
    const both = [await first, second];
    const straight = replay();
    expect([await straight.ask('a'), await straight.ask('b')]).toEqual(both);
    const other = replay();
    expect([await other.ask('b'), await other.ask('a')]).toEqual(both.toReversed());
    expect(warnings).toEqual([]);
    // In their order, when they are others.
    const strange = replay();
    expect([await strange.ask('x'), await strange.ask('y')].map(({ events }) => events.at(-1))).toMatchObject(
      [{ message: { text: 'first' } }, { message: { text: 'second' } }],
    );
    expect(warnings).toEqual([expect.stringMatching(/^Request 1 is not as it was recorded in .*r\.jsonl/)]);
    expect(await strange.ask('z')).toMatchObject({
      error: { message: expect.stringMatching(/has 2 answers, and this is request 3/) },
    });
  });

  it('says of an answer that it was interrupted, and is interrupted like one', async () => {
    const { model, ask, replay, lines } = await recorded();
    const stop = new AbortController();
    const slow = gate();
    model.script(answer(say('The beginning. '), wait(slow.opened)));
    const interrupted = ask('a', stop.signal);
    await expect.poll(() => model.requests.length).toBe(1);
    stop.abort();
    expect((await interrupted).events.at(-1)).toMatchObject({ type: 'end', message: { stop: 'aborted' } });
    expect(lines()).toMatchObject([{ end: 'aborted' }]);
    slow.open();
    expect(await replay().ask('a')).toMatchObject({ error: { code: 'INTERRUPTED' } });
    const stopped = new AbortController();
    stopped.abort();
    expect((await replay().ask('a', stopped.signal)).events.at(-1)).toMatchObject({ type: 'end' });
  });

  it('has what cannot be reached', async () => {
    const { model, ask, replay, lines } = await recorded();
    await model.close();
    const { error } = await ask('a');
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatchObject({ end: 'cut', code: 'ECONNREFUSED', chunks: [] });
    expect((await replay().ask('a')).error).toEqual(error);
  });

  it('that is none is refused with its line', async () => {
    const { file, warnings } = await recorded();
    const read = (name = file) => replaying(name, (text) => warnings.push(text));
    expect(() => read(`${file}.none`)).toThrow(/cannot be read/);
    writeFileSync(file, '\n{"v":1}\n');
    expect(() => read()).toThrow(/r\.jsonl:2: this is no line of a recording/);
    writeFileSync(file, 'nonsense\n');
    expect(() => read()).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});
