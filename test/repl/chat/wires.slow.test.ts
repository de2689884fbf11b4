import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../support/until.ts';
import { expect, it } from 'vitest';
import type { Wire } from '../../../src/repl/message.ts';
import { chatPlace, leave, openChat, type ChatPlace } from '../support/chat.ts';
import type { Pty } from '../support/pty.ts';
import { answer, call, calls, misbehave, say, think, type Misbehaviour } from '../support/fake-model.ts';
import { sessionFiles } from '../support/interrupted.ts';
import { enter } from '../support/served.ts';

// Each runs the program several times: quick, unless much else runs.

const wires: readonly Wire[] = ['chat', 'responses', 'anthropic'];

/** The fake model over all three wires, `a-chat` and so on, and whatever else is known of it. */
function configure(
  place: ChatPlace,
  wire: Wire,
  known = 'contextWindow: 100000, images: true, thinking: true',
): void {
  const { url } = place.model;
  const endpoints = wires.map(
    (each) =>
      `  a-${each}: { wire: ${each}, baseUrl: "${url}${each === 'anthropic' ? '' : '/v1'}", local: true }`,
  );
  const models = wires.map((each) => `  by-${each}: { model: a-${each}/fake-model, ${known} }`);
  const lines = ['endpoints:', ...endpoints, 'models:', ...models, `model: by-${wire}`, ''];
  writeFileSync(join(place.home, '.config', 'toolcrib', 'chat.yaml'), lines.join('\n'));
}

async function open(place: ChatPlace, args: readonly string[] = []): Promise<Pty> {
  const chat = openChat(place, ['--toolsets', 'files', ...args]);
  await chat.sees('/help');
  return chat;
}

/** The newest session, as it is on the disk. */
const sessionOf = (place: ChatPlace): string => {
  const file = sessionFiles(place).at(-1);
  return file === undefined ? '' : readFileSync(file, 'utf8');
};

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const read = (path: string) => ({ name: 'mcp__toolcrib__read_file', args: { path } });

it.each(wires)('talks over the %s wire: thoughts, parallel calls, images', async (wire) => {
  const place = await chatPlace();
  configure(place, wire);
  writeFileSync(join(place.cwd, 'a.txt'), 'inside a\n');
  writeFileSync(join(place.cwd, 'b.txt'), 'inside b\n');
  writeFileSync(join(place.cwd, 'dot.png'), Buffer.from(pixel, 'base64'));
  const chat = await open(place);
  const { requests, script } = place.model;
  const last = () => requests.at(-1)?.text ?? '';
  const thoughtful = think('I had better read both of them.');
  script(answer(thoughtful, say('Two files.'), calls([read('a.txt'), read('b.txt')])), say('Both read.'));
  enter(chat, 'read a.txt and b.txt');
  await chat.sees('Both read.');
  expect(chat.scrollback().match(/● .*read_file/g)).toHaveLength(2);
  expect(last().indexOf('inside a')).toBeGreaterThan(0);
  expect(last().indexOf('inside b')).toBeGreaterThan(last().indexOf('inside a'));
  // What a wire wants back word for word.
  const native = { chat: 'had better read', responses: 'ENC', anthropic: 'SIG==' };
  expect(last()).toContain(native[wire]);
  script(answer(call(read('dot.png').name, read('dot.png').args)), say('A dot.'));
  enter(chat, 'look at @dot.png');
  await chat.sees('A dot.');
  // Once from the person, once from the tool.
  expect(last().split(pixel)).toHaveLength(3);

  // Another wire is told what was said, and nothing that is not its own.
  const other = wires[(wires.indexOf(wire) + 1) % wires.length] ?? 'chat';
  enter(chat, `/model by-${other}`);
  await chat.sees(`model a-${other}/fake-model`);
  script(say('Another one speaks.'));
  enter(chat, 'and you?');
  await chat.sees('Another one speaks.');
  expect(requests.at(-1)?.wire).toBe(other);
  for (const said of ['Both read.', 'inside b', 'A dot.', pixel]) expect(last()).toContain(said);
  for (const each of Object.values(native)) expect(last()).not.toContain(each);
  await leave(chat);
});

it('understands answers that are not as they should be', async () => {
  const place = await chatPlace();
  writeFileSync(join(place.cwd, 'a.txt'), 'inside a\n');
  writeFileSync(join(place.cwd, 'b.txt'), 'inside b\n');
  const chat = await open(place);
  const { requests, script } = place.model;
  const last = () => requests.at(-1)?.text ?? '';
  const two = [
    { ...read('a.txt'), id: 'call_a' },
    { ...read('b.txt'), id: 'call_b' },
  ];

  script(say('No count.', { misbehave: 'missing_usage' }));
  enter(chat, 'hello');
  await chat.sees(/in ~\S+ · out ~\d+ · ~\d+%/);

  const sloppy: Misbehaviour[] = [
    'missing_index',
    'same_index',
    'interleaved',
    'missing_id',
    'arguments_object',
    'finish_stop',
  ];
  for (const kind of sloppy) {
    script(calls(two, { misbehave: kind }), say(`Well, ${kind}.`));
    enter(chat, `read both, ${kind}`);
    await chat.sees(`Well, ${kind}.`);
    const { messages = [] } = (requests.at(-1)?.body ?? {}) as { messages?: { content: string }[] };
    const results = messages.slice(-2);
    expect(results).toMatchObject([{ role: 'tool' }, { role: 'tool' }]);
    expect(results[0]?.content).toContain('inside a');
    expect(results[1]?.content).toContain('inside b');
  }

  const writing = { path: 'new.txt', content: 'text' };
  script(call('mcp__toolcrib__write_file', writing, { misbehave: 'malformed_json' }), say('I see.'));
  enter(chat, 'write it');
  await chat.sees('I see.');
  expect(last()).toContain('are not valid JSON');
  script(call('mcp__toolcrib__write_file', writing, { misbehave: 'max_tokens_in_call' }), say('I was cut.'));
  enter(chat, 'write it again');
  await chat.sees('I was cut.');
  expect(last()).toContain('cut at its length limit');
  expect(existsSync(join(place.cwd, 'new.txt'))).toBe(false);

  script(misbehave('only_reasoning'), say('Now I answer.'));
  enter(chat, 'think');
  await chat.sees('Now I answer.');
  expect(last()).toContain('give your answer');

  script(say('Half a poem', { misbehave: 'filtered' }), say('Good again.'));
  enter(chat, 'a poem');
  await chat.sees('withheld');
  enter(chat, 'something else');
  await chat.sees('Good again.');

  // A character, a tag and an escape that come in pieces.
  const text =
    '<think>\nquiet 思考\n</think>\nA **bold** 한국어 👍🏽 `\u001b[31mred\u001b]0;title\u0007`, done.';
  script(say(text, { bytes: 1, delta: 1 }));
  enter(chat, 'in pieces');
  await chat.sees('한국어');
  await chat.sees('done.');
  await chat.sees('quiet 思考');
  expect(chat.scrollback()).not.toContain('think>');
  expect(chat.raw()).not.toContain('\u001b[31mred');
  expect(chat.raw()).not.toContain('\u001b]0;title');
  // Written when the answer has ended, which may be after its last word was seen.
  await until(() => sessionOf(place).includes('A **bold** 한국어 👍🏽'));
  await leave(chat);
});

it('asks again when an answer breaks off: with a visible mark, and nothing twice in the session', async () => {
  const breaks: Misbehaviour[] = ['cut_socket', 'no_finish_reason'];
  await Promise.all(
    breaks.map(async (kind) => {
      const place = await chatPlace({ wire: kind === 'cut_socket' ? 'anthropic' : 'chat' });
      place.model.script(
        say('A first try that never ends well\nand goes on', { misbehave: kind }),
        say('A whole answer.'),
        say('The next one.'),
      );
      const chat = await open(place);
      enter(chat, 'go');
      await chat.sees('A whole answer.');
      await chat.sees(/↻ again in 1 s: .+[.?] What came so far does not count\./);
      enter(chat, 'on');
      await chat.sees('The next one.');
      expect(sessionOf(place)).not.toContain('first try');
      expect(place.model.requests[2]?.text).not.toContain('first try');
      expect(place.model.requests[2]?.text).toContain('A whole answer.');
    }),
  );
});

it('waits when the provider is busy, as long as it wants, or until the person is tired of it', async () => {
  const place = await chatPlace();
  const chat = await open(place);
  const { requests, script } = place.model;
  script(say('Well.', { misbehave: '429_then_ok' }));
  enter(chat, 'first');
  await chat.sees(/↻ again in 1 s: .*\n/);
  await chat.sees('Well.');
  script(say('Here.', { misbehave: '500_then_ok' }));
  enter(chat, 'second');
  await chat.sees('Here.');
  expect((requests[3]?.at ?? 0) - (requests[2]?.at ?? 0)).toBeGreaterThan(990);
  script(misbehave('429_retry_after', { retryAfter: 50 }), say('Never mind.'));
  enter(chat, 'third');
  await chat.sees('again in 50 s');
  chat.press('ctrl-c');
  await chat.sees('Interrupted.');
  enter(chat, 'fourth');
  await chat.sees('Never mind.');
  expect(requests.at(-1)?.text).toContain('third');
  // Nobody is kept waiting for an hour.
  script(
    misbehave('429_retry_after', { retryAfter: 3600 }),
    misbehave('key_refused'),
    misbehave('insufficient_quota'),
  );
  enter(chat, 'fifth');
  await chat.sees(/MODEL_BUSY: .* to wait until .*\/model/);
  enter(chat, 'sixth');
  await chat.sees('MODEL_KEY_REFUSED');
  enter(chat, 'seventh');
  await chat.sees('MODEL_QUOTA');
  script(say('All is well.'));
  enter(chat, 'eighth');
  await chat.sees('All is well.');
  for (const word of ['fifth', 'sixth', 'seventh']) expect(requests.at(-1)?.text).toContain(word);
});

it('shortens a conversation that does not fit once, and says so when that does not help', async () => {
  const place = await chatPlace();
  const chat = await open(place);
  const { requests, script } = place.model;
  const talk = async (...words: string[]) => {
    for (const word of words) {
      const text = `About ${word}: ${'words '.repeat(300)}end of ${word}.`;
      script(say(text, { usage: { input: 30_000, output: 400 } }));
      enter(chat, `tell me about ${word}`);
      await chat.sees(`end of ${word}.`);
    }
  };
  await talk('one', 'two', 'three');
  script(
    misbehave('overflow_400'),
    say('SUMMARY of it all'),
    say('It fits now.', { usage: { input: 29_000, output: 4 } }),
  );
  enter(chat, 'and four?');
  await chat.sees('It fits now.');
  await chat.sees(/✂ shortened \(model\): \d+ → \d+ tokens/);
  expect(requests.at(-1)?.text).toContain('SUMMARY of it all');
  expect(requests.at(-1)?.text).not.toContain('end of one');
  expect(requests.at(-1)?.text).toContain('and four?');

  await talk('five', 'six', 'seven');
  script(
    misbehave('overflow_silent'),
    say('ANOTHER summary'),
    say('And now, too.', { usage: { input: 29_000, output: 4 } }),
  );
  enter(chat, 'more?');
  await chat.sees('And now, too.');
  expect(sessionOf(place)).not.toContain('"input":50000000');

  await talk('eight', 'nine', 'ten');
  script(misbehave('overflow_length'), say('A THIRD summary'), misbehave('overflow_400'));
  enter(chat, 'even more?');
  await chat.sees(/MODEL_OVERFLOW: .*\/new.*\/model/);
  expect(place.model.left()).toBe(0);
  script(say('Small talk.'));
  enter(chat, 'eleven');
  await chat.sees('Small talk.');
});
