import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, leave, openChat, runChat, type ChatPlace } from '../support/chat.ts';
import { call, calls, misbehave, say, type FakeRequest } from '../support/fake-model.ts';
import { enter } from './enter.ts';
import { messagesOf } from './messages.ts';

// Several starts of the program each, on a machine that may be busy.

type Request = FakeRequest | undefined;
const words = (request: Request): string => JSON.stringify(messagesOf(request));
/** What was said, without the system prompt. */
const said = (request: Request): string => JSON.stringify(messagesOf(request).slice(1));
const systemOf = (request: Request): string => JSON.stringify(messagesOf(request)[0]);

/** An editor that puts a text in place of what it is given. */
function editorThat(place: ChatPlace, script: string): void {
  const file = join(place.home, 'editor.mjs');
  writeFileSync(
    file,
    `import { readFileSync, writeFileSync } from 'node:fs';\nconst file = process.argv.at(-1);\nconst text = readFileSync(file, 'utf8');\nwriteFileSync(file, ${script});\n`,
  );
  place.env['EDITOR'] = `"${process.execPath}" "${file}"`;
}

it('goes on with a session: with its mode, model, folders, to-dos and system prompt', async () => {
  const place = await chatPlace();
  const { model } = place;
  model.otherwise(() => say('Well.'));
  mkdirSync(join(place.home, 'other'));
  writeFileSync(join(place.home, 'other', 'AGENTS.md'), 'Other folder: speak softly.\n');
  editorThat(place, "'You are a parrot.'");
  const chat = openChat(place);
  const todos = [{ text: 'water the plants', status: 'pending' }];
  model.script(call('write_todos', { todos }), say('Planned.'));
  await enter(chat, 'plan it');
  await enter(chat, 'first message');
  await enter(chat, '/mode auto');
  await enter(chat, '/model fake/second');
  expect(await enter(chat, `/roots add ~/other`)).toContain('other');
  await enter(chat, '/system edit');
  expect(await enter(chat, '/system')).toBe('You are a parrot.');
  await enter(chat, '/name the parrot');
  await leave(chat);

  const next = openChat(place, ['--continue']);
  await next.sees('mode auto · the parrot');
  await next.sees('> first message\nWell.');
  expect(await enter(next, '/status')).toMatch(
    /fake\/second\nmode +auto\nsession +the parrot[^]*roots .*other/,
  );
  expect(await enter(next, '/todo')).toContain('water the plants');
  await enter(next, 'second message');
  const request = model.requests.at(-1);
  expect(request?.body.model).toBe('second');
  expect(systemOf(request)).toContain('You are a parrot.');
  expect(said(request)).toMatch(/first message.*Mode auto.*other.*second message/);
  expect(words(request)).toContain('speak softly');

  // A new session keeps what was set, but not what is of the other session.
  await enter(next, '/new');
  await enter(next, 'third message');
  expect(model.requests.at(-1)?.body.model).toBe('second');
  expect(systemOf(model.requests.at(-1))).not.toContain('parrot');
  expect(said(model.requests.at(-1))).toMatch(/Mode auto.*third message/);
  expect(said(model.requests.at(-1))).not.toContain('first message');
  await enter(next, '/mode ask');
  await enter(next, '/model test');
  await leave(next);

  const named = openChat(place, ['--resume', 'the par']);
  await named.sees('mode auto · the parrot');
  // In the same window, another session brings its own settings along.
  expect(await enter(named, '/resume third message')).toContain('third message');
  expect(await enter(named, '/status')).toMatch(/fake\/fake-model\nmode +ask/);
  expect(await enter(named, '/resume the parrot')).toContain('session the parrot');
  expect(await enter(named, '/status')).toMatch(/fake\/second\nmode +auto/);
  expect(await enter(named, '/resume the parrot')).toContain('That is the session you are in');
  await leave(named);

  const picked = openChat(place, ['--resume']);
  await picked.sees(/1 {2}third message .*\n +2 {2}the parrot .*\nwhich one\?.*$/);
  picked.type('7\r');
  await picked.sees(/There is no session "7" in this list\.\nwhich one\?.*$/);
  picked.type('1\r');
  await picked.sees('> third message');
  picked.type('/resume remove the parrot\r');
  await picked.sees(/Remove "the parrot" for good\?.*$/);
  picked.type('y\r');
  expect(await enter(picked, '/resume the parrot')).toContain('There is no session');
  expect(await enter(picked, '/resume remove third message')).toContain('That is the session you are in');
  await leave(picked);
});

it('goes on with a session whose folders and model are gone, and says so', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('Well.'));
  mkdirSync(join(place.home, 'other'));
  const chat = openChat(place, ['--no-toolcrib', '--model', 'fake/second']);
  await enter(chat, '/roots add ~/other');
  await enter(chat, 'first message');
  await leave(chat);
  rmSync(join(place.home, 'other'), { recursive: true });
  const config = join(place.home, '.config', 'toolcrib', 'chat.yaml');
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll('fake', 'fresh'));
  const next = openChat(place, ['--no-toolcrib', '-c']);
  await next.sees('! There is no endpoint "fake".');
  await next.sees('fresh/fresh-model goes on with this session.');
  await next.sees(/! No longer there, and left out: .*other/);
  await enter(next, 'second message');
  expect(said(place.model.requests.at(-1))).toMatch(/first message.*second message/);
  expect(said(place.model.requests.at(-1)).split('second message')[0]?.split('Today')[2]).not.toContain(
    'other',
  );
  await leave(next);
});

it('branches: by /retry, /edit last, /branch and /fork, also where calls ran side by side', async () => {
  const place = await chatPlace();
  const { model } = place;
  for (const name of ['a', 'b']) writeFileSync(join(place.cwd, `${name}.txt`), `content of ${name}\n`);
  const reads = ['a', 'b'].map((name) => ({
    name: 'mcp__toolcrib__read_file',
    args: { path: `${name}.txt` },
  }));
  editorThat(place, "text.replace('now', 'next')");
  const chat = openChat(place);
  model.script(calls(reads), say('Both read.'));
  await enter(chat, 'read both');
  model.script(say('First answer.'));
  await enter(chat, 'what now?');
  model.script(say('Second answer.'));
  expect(await enter(chat, '/retry')).toContain('Second answer.');
  expect(said(model.requests.at(-1))).toMatch(/content of a.*content of b.*Both read.*what now\?"\}\]$/);
  expect(await enter(chat, '/tree')).toMatch(/answer: First answer\.\n\* .*answer: Second answer\./);
  model.script(say('Third answer.'));
  expect(await enter(chat, '/edit last')).toContain('Third answer.');
  expect(said(model.requests.at(-1))).toMatch(/Both read.*what next\?"\}\]$/);
  const tree = await enter(chat, '/tree');
  expect(tree).toMatch(
    /you: what now\?\n[^]*First answer[^]*Second answer[^]*you: what next\?\n\* .*Third answer/,
  );

  const idOf = (label: string) => new RegExp(`(\\w{8}) ${label}`).exec(tree)?.[1] ?? '';
  const back = await enter(chat, `/branch ${idOf('answer: First answer').slice(0, 6)}`);
  expect(back).toBe('> what now?\nFirst answer.');
  model.script(say('Fourth answer.'));
  await enter(chat, 'and then?');
  expect(said(model.requests.at(-1))).toMatch(/what now\?.*First answer.*and then\?/);
  expect(said(model.requests.at(-1))).not.toContain('what next');

  // The first message is put into the line, to be changed.
  chat.type(`/branch ${idOf('you: read both')}\r`);
  await chat.sees(/> read both$/);
  chat.press('ctrl-u');
  model.script(say('Fresh.'));
  await enter(chat, 'something else');
  // All of it begins anew: what the model has to know of its surroundings is said again.
  expect(said(model.requests.at(-1))).toMatch(/^\[\{[^{}]*Today is .*Mode ask.*something else"\}\]$/);

  const copy = /a copy of the session: (\w+)/.exec(await enter(chat, '/fork'))?.[1];
  expect(copy).toMatch(/^\w{8}$/);
  model.script(say('In the copy.'));
  await enter(chat, 'more');
  expect(await enter(chat, '/tree')).not.toContain('read both');
  expect(await enter(chat, '/export copy.md')).toContain('copy.md');
  expect(readFileSync(join(place.cwd, 'copy.md'), 'utf8')).toMatch(
    /something else[^]*Fresh\.[^]*In the copy\./,
  );
  expect(await enter(chat, '/export copy.md')).toContain('is there already');
  await leave(chat);
});

it('forgets the conversation with /clear, and tells the model anew where it is', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('Well.'));
  const chat = openChat(place, ['--no-toolcrib']);
  await enter(chat, 'one');
  await enter(chat, '/mode plan');
  await enter(chat, 'two');
  await enter(chat, '/clear');
  await enter(chat, 'three');
  expect(said(place.model.requests.at(-1))).toMatch(/^\[\{[^{}]*Today is .*Plan mode.*three"\}\]$/);
  await enter(chat, 'four');
  expect(said(place.model.requests.at(-1)).split('Today is')).toHaveLength(2);
  await leave(chat);
  const next = openChat(place, ['-c', '--no-toolcrib']);
  await next.sees('mode plan');
  await leave(next);
});

it('finds what was said in earlier sessions: the person by /search, the model by a tool', async () => {
  const place = await chatPlace();
  const { model } = place;
  const chat = openChat(place);
  model.script(say('The password is kept in a **tin**.'));
  await enter(chat, 'where is the secret kept?');
  await enter(chat, '/new');
  expect(await enter(chat, '/search secret kept')).toMatch(
    /where is the secret kept\?.* you\n {2}.*secret kept/,
  );
  expect(await enter(chat, '/search --all kept')).toMatch(/^.* answer\n {2}The password.*$/);
  model.script(call('search_sessions', { query: 'tin' }), say('It is in a tin.'));
  await enter(chat, 'look it up');
  expect(words(model.requests.at(-1))).toContain('The password is kept in a');
  await leave(chat);
});

it('shortens the conversation: when it is asked to, when the window is nearly full, and without the model', async () => {
  const place = await chatPlace({ window: 24_000 });
  const { model } = place;
  const chat = openChat(place, ['--no-toolcrib']);
  const long = (word: string) => `${word} `.repeat(1500);
  for (const word of ['alpha', 'beta', 'gamma']) {
    model.script(
      say(`About ${word}: ${long(word)}`, { delta: 4000, usage: { input: 12_000, output: 3000 } }),
    );
    await enter(chat, `tell of ${word}`);
  }
  expect(await enter(chat, '/status')).toMatch(
    /context +15000 of 24000 tokens \(63 %\), 4200 more until it is shortened/,
  );
  model.script(say('SUMMARY ONE', { misbehave: 'max_tokens_refused' }));
  expect(await enter(chat, '/compact the letters')).toMatch(/✂ shortened \(model\): 15000 → \d+ tokens/);
  expect(words(model.requests.at(-1))).toContain('the letters');
  model.script(say('Still here.', { usage: { input: 20_000, output: 10 } }));
  const full = await enter(chat, 'are you there?');
  expect(words(model.requests.at(-1))).toContain('SUMMARY ONE');
  // What the model was told of its surroundings went with the rest: it is told again.
  expect(said(model.requests.at(-1))).toMatch(/Mode ask.*are you there\?"\}\]$/);
  expect(full).toContain('83% of 24k');
  model.script(say('SUMMARY TWO'), say('Going on.', { usage: { input: 9000, output: 10 } }));
  expect(await enter(chat, `go on ${long('delta').slice(0, 3000)}`)).toMatch(
    /✂ shortened \(model\)[^]*Going on\./,
  );
  expect(words(model.requests.at(-1))).toMatch(/SUMMARY TWO/);
  expect(words(model.requests.at(-1))).not.toContain('SUMMARY ONE');

  // Without the model, what was said is kept as far as it fits; then nothing is summarised by itself.
  model.script(say(`Epsilon: ${long('epsilon')}`, { usage: { input: 15_000, output: 3000 } }));
  await enter(chat, 'one more');
  model.script(misbehave('429_retry_after', { retryAfter: 3600 }));
  expect(await enter(chat, '/compact')).toContain('MODEL_BUSY');
  model.otherwise(() => misbehave('not_found'));
  expect(await enter(chat, '/compact')).toMatch(/✂ shortened \(fallback\)/);
  model.script(say('And on.'));
  expect(await enter(chat, 'now?')).toContain('And on.');
  expect(words(model.requests.at(-1))).toMatch(/Summary unavailable.*now\?/);
  await leave(chat);
});

it('keeps nothing with --no-session, also after /new', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('Well.'));
  const chat = openChat(place, ['--no-session', '--no-toolcrib']);
  await enter(chat, 'one');
  expect(await enter(chat, '/fork')).toContain('is not kept (--no-session)');
  await enter(chat, '/new');
  await enter(chat, 'two');
  expect(said(place.model.requests.at(-1))).not.toContain('one');
  expect(await enter(chat, '/status')).toContain('not kept');
  await leave(chat);
  expect(await runChat(place, ['-p', 'hello', '--resume', 'one', '--no-toolcrib'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no session "one" in this project; .*toolcrib chat --resume, lists them/),
  });
});

it('goes on in a copy of a session that is open elsewhere, and cleans up what nobody uses', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('Well.'));
  writeFileSync(join(place.cwd, 'dot.gif'), Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAAC', 'base64'));
  const chat = openChat(place, ['--no-toolcrib', '--model', 'fake/gpt-4o']);
  await enter(chat, 'see @dot.gif');
  const other = openChat(place, ['--no-toolcrib', '-c']);
  await other.sees('open in another window: this is a copy of it');
  await enter(other, 'in the copy');
  expect(said(place.model.requests.at(-1))).toMatch(/data:image.*in the copy/);
  await leave(other);
  expect(await enter(chat, '/tree')).not.toContain('in the copy');
  const folder = join(place.home, '.state', 'toolcrib', 'chat', 'attachments');
  expect(readdirSync(folder)).toHaveLength(1);
  expect(await enter(chat, '/clean')).toMatch(/^0 attachments/);
  await enter(chat, '/new');
  for (const name of ['see @dot.gif', 'see @dot.gif']) {
    const before = chat.scrollback().length;
    chat.type(`/resume remove ${name}\r`);
    await chat.until(() => /for good\?.*$/.test(chat.scrollback().slice(before)));
    chat.type('y\r');
    await chat.until(() => /for good\?.*\n>$/.test(chat.scrollback().slice(before)));
  }
  // What is young may be of a message that is just being said.
  expect(await enter(chat, '/clean')).toMatch(/^0 attachments/);
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), 1, 1);
  expect(await enter(chat, '/clean')).toMatch(/^1 attachments/);
  await leave(chat);
});
