import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AssistantMessage } from '../../../src/repl/message.ts';
import {
  ProviderFailure,
  type ModelEvent,
  type ModelRequest,
  type Provider,
} from '../../../src/repl/providers/provider.ts';
import { recording, replaying } from '../../../src/repl/providers/recording.ts';

const file = () => join(mkdtempSync(join(tmpdir(), 'chat-recording-')), 'r.jsonl');
const never = new AbortController().signal;

const request = (text: string, system = 's'): ModelRequest => ({
  system,
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  tools: [],
});
const message = (text: string): AssistantMessage => ({
  role: 'assistant',
  text,
  reasoning: '',
  calls: [{ id: '1', name: 't', arguments: '{' }],
  stop: 'calls',
  usage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, estimated: false },
  provider: 'p',
  model: 'm',
  wire: 'chat',
  native: { kept: true },
});
const events = (text: string): ModelEvent[] => [
  { type: 'retry', reason: 'busy', inMs: 1, discard: false },
  { type: 'text', text: text.slice(0, 2) },
  { type: 'text', text: text.slice(2) },
  { type: 'end', message: message(text) },
];

/** Answers with what it is given, one list of events a request; a failure ends one. */
function scripted(...answers: (ModelEvent | ProviderFailure)[][]): Provider {
  return {
    async *stream() {
      for (const event of answers.shift() ?? []) {
        if (event instanceof ProviderFailure) throw event;
        yield event;
      }
    },
  };
}

async function all(provider: Provider, asked: ModelRequest, signal = never): Promise<ModelEvent[]> {
  const found: ModelEvent[] = [];
  for await (const event of provider.stream(asked, signal)) found.push(event);
  return found;
}

describe('a recording', () => {
  it('is replayed event by event, failures included', async () => {
    const path = file();
    const failure = new ProviderFailure('MODEL_BUSY', 'too many', { status: 429, retryAfterMs: 5 });
    const recorder = recording(
      scripted(events('hello'), [events('half')[1]!, failure], events('again')),
      path,
    );
    expect(await all(recorder, request('a'))).toEqual(events('hello'));
    await expect(all(recorder, request('b'))).rejects.toBe(failure);
    expect(await all(recorder, request('c'))).toEqual(events('again'));
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);

    const replay = replaying(path);
    expect(await all(replay, request('a'))).toEqual(events('hello'));
    await expect(all(replay, request('b'))).rejects.toMatchObject({
      code: 'MODEL_BUSY',
      facts: failure.facts,
    });
    expect(await all(replay, request('something else'))).toEqual(events('again'));
  });

  it('holds nothing of what was asked', async () => {
    const path = file();
    await all(recording(scripted(events('hello')), path), request('my s3cret'));
    expect(readFileSync(path, 'utf8')).not.toContain('s3cret');
  });

  it('keeps the order in which requests were made, not the one in which they ended', async () => {
    const path = file();
    const recorder = recording(scripted(events('first'), events('second')), path);
    const slow = recorder.stream(request('a'), never)[Symbol.asyncIterator]();
    await slow.next();
    await all(recorder, request('b'));
    while (!(await slow.next()).done);
    const replay = replaying(path);
    expect(await all(replay, request('a'))).toEqual(events('first'));
    expect(await all(replay, request('b'))).toEqual(events('second'));
  });

  it('keeps what came of an answer that nobody read to its end', async () => {
    const path = file();
    for await (const event of recording(scripted(events('hello')), path).stream(request('a'), never))
      if (event.type === 'text') break;
    expect(await all(replaying(path), request('a'))).toEqual(events('hello').slice(0, 2));
  });

  it('says which request was another when it has no more answers', async () => {
    const path = file();
    await all(recording(scripted(events('hello')), path), request('a'));
    const same = replaying(path);
    await all(same, request('a'));
    await expect(all(same, request('b'))).rejects.toThrow(
      /has 1 answers, and this is request 2\. All requests before it/,
    );
    const other = replaying(path);
    await all(other, request('a', 'another system prompt'));
    await expect(all(other, request('b'))).rejects.toThrow(
      /Request 1 was the first .*: the system prompt\.$/,
    );
    const third = replaying(path);
    await all(third, request('x'));
    await expect(all(third, request('b'))).rejects.toMatchObject({
      message: expect.stringMatching(/message 1 of 1 \(user\)\.$/),
      facts: { retryable: false },
    });
  });

  it('ends an answer that is interrupted as a provider does', async () => {
    const path = file();
    await all(recording(scripted(events('hello')), path), request('a'));
    const stop = new AbortController();
    const found: ModelEvent[] = [];
    for await (const event of replaying(path).stream(request('a'), stop.signal)) {
      found.push(event);
      if (event.type === 'text') stop.abort();
    }
    expect(found.at(-1)).toMatchObject({
      type: 'end',
      message: { text: 'he', calls: [], stop: 'aborted', provider: 'p', model: 'm' },
    });
    expect(found).toHaveLength(3);
  });

  it('that is none is refused with its line', () => {
    const path = file();
    expect(() => replaying(path)).toThrow(/cannot be read/);
    writeFileSync(path, '\n{"v":1}\n');
    expect(() => replaying(path)).toThrow(/r\.jsonl:2: this is no line of a recording/);
    writeFileSync(path, 'nonsense\n');
    expect(() => replaying(path)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});
