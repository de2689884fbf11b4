import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, openChat } from '../support/chat.ts';
import { answer, call, gate, say, wait } from '../support/fake-model.ts';
import { isBack } from '../support/interrupted.ts';
import { answerTo } from '../support/served.ts';
import { lastMessage } from './messages.ts';

const preload = { NODE_OPTIONS: `--require=${join(import.meta.dirname, '../fixtures/other-readline.cjs')}` };

it('lets a person type, edit, recall and submit where Node has no readline that it knows the insides of', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('Well.'));
  const chat = openChat({ ...place, env: { ...place.env, ...preload } }, ['--no-toolcrib']);
  await isBack(chat);
  expect(chat.screen()).toContain('has another readline');
  chat.type('hxllo');
  chat.press('left', 'left', 'left', 'backspace');
  chat.type('e');
  await chat.sees(/> hello$/);
  chat.press('enter');
  await chat.sees('Well.');
  await isBack(chat);
  expect(lastMessage(place.model.requests.at(-1))).toMatch(/hello"$/);
  chat.press('up');
  await chat.sees(/> hello$/);
  chat.press('ctrl-c');
  await chat.sees(/>$/);
  // Nobody can tell what was pasted: no file is read.
  chat.type('@/etc/hostname is it\r');
  await chat.until(() => place.model.requests.length === 2);
  await isBack(chat);
  expect(lastMessage(place.model.requests.at(-1))).toBe('"@/etc/hostname is it"');
  expect(chat.scrollback()).not.toContain('hostname:');
  chat.press('ctrl-c');
  await chat.sees('Press Ctrl-C again to leave.');
  chat.press('ctrl-c');
  expect(await chat.exit).toBe(0);
});

it('asks its questions in a plain line, and gives back what was being typed', async () => {
  const place = await chatPlace();
  const open = gate();
  place.model.script(
    answer(wait(open.opened), call('ask_user', { question: 'Which colour?' })),
    say('Blue it is.'),
    say('Well.'),
  );
  const chat = openChat({ ...place, env: { ...place.env, ...preload } }, ['--no-toolcrib'], { cols: 40 });
  await isBack(chat);
  chat.type('paint\r');
  await chat.until(() => place.model.requests.length === 1);
  // Longer than a row: nothing above it may be erased.
  const next = `next ${'n'.repeat(50)}`;
  chat.type(next);
  open.open();
  await answerTo(chat, 'Which colour?', 'blue');
  await chat.sees('Blue it is.');
  await chat.sees(/> next n+\nn+$/);
  chat.press('enter');
  await chat.sees('Well.');
  await isBack(chat);
  expect(lastMessage(place.model.requests.at(-1))).toContain(next);
  for (const text of ['> paint', 'Which colour?', 'blue', 'Blue it is.'])
    expect(chat.scrollback()).toContain(text);
  // An answer is not in the history.
  chat.press('up', 'up');
  await chat.sees(/> paint$/);
});
