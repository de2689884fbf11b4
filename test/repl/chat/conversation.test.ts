import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { call, say } from '../support/fake-model.ts';
import { chatPlace, leave, openChat } from '../support/chat.ts';

it('answers, calls a tool that only reads without asking, and says what it cost', async () => {
  const place = await chatPlace();
  writeFileSync(join(place.cwd, 'a.txt'), 'the content of a\n');
  const chat = openChat(place);
  await chat.sees('/help');
  place.model.script(call('mcp__toolcrib__read_file', { path: 'a.txt' }), say('It says **the content**.'));
  chat.type('what is in a.txt?\r');
  await chat.sees('It says the content.');
  await chat.sees(/in .* out/);
  expect(place.model.requests[1]?.text).toContain('the content of a');
  await leave(chat);
});

it('sends a message that begins with a path', async () => {
  const place = await chatPlace();
  place.model.script(say('a table of names'));
  const chat = openChat(place, ['--no-toolcrib']);
  await chat.sees('/help');
  chat.type('/etc/hosts is what?\r');
  await chat.sees('a table of names');
  expect(place.model.requests[0]?.text).toContain('/etc/hosts is what?');
});
