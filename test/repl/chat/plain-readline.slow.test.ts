import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, openChat } from '../support/chat.ts';
import { answer, call, gate, say, wait } from '../support/fake-model.ts';
import { isBack } from '../support/interrupted.ts';
import { answerTo } from '../support/served.ts';
import { lastMessage } from './messages.ts';

const preload = { NODE_OPTIONS: `--require=${join(import.meta.dirname, '../fixtures/other-readline.cjs')}` };

/** A chat in which every message is answered, and how to read what the model was sent. */
async function conversation(size?: { cols: number; rows: number }) {
  const place = await chatPlace();
  place.model.otherwise(() => say('Well.'));
  const chat = openChat({ ...place, env: { ...place.env, ...preload } }, ['--no-toolcrib'], size);
  await isBack(chat);
  let before = 0;
  return {
    place,
    chat,
    /** Presses Enter, and returns what was sent as JSON, once the prompt is there again. */
    async sent(): Promise<string> {
      chat.press('enter');
      await chat.until(() => place.model.requests.length > before);
      before = place.model.requests.length;
      await isBack(chat);
      return lastMessage(place.model.requests.at(-1));
    },
  };
}

it('lets a person type, edit, recall and submit where Node has no readline that it knows the insides of', async () => {
  const { chat, sent } = await conversation();
  expect(chat.screen()).toContain('has another readline');
  chat.type('hxllo');
  chat.press('left', 'left', 'left', 'backspace');
  chat.type('e');
  await chat.sees(/> hello$/);
  expect(await sent()).toMatch(/hello"$/);
  chat.type('first');
  chat.press('up');
  await chat.sees(/> first$/);
  chat.press('ctrl-c');
  await isBack(chat);
  chat.press('up');
  await chat.sees(/> hello$/);
  chat.press('down');
  await isBack(chat);
  chat.type('gone');
  chat.press('ctrl-c');
  await isBack(chat);
  // A line end is a blank in a line that can have none.
  chat.type('one\\\rtwo');
  chat.press('alt-enter');
  chat.type('three');
  expect(await sent()).toBe('"one two three"');
  chat.press('ctrl-c');
  await chat.sees('Press Ctrl-C again to leave.');
  chat.press('ctrl-c');
  expect(await chat.exit).toBe(0);
  expect(chat.raw()).toMatch(/\x1b\[\?2004l$/);
});

it('edits a line of several rows in the middle, whatever arrives at once', async () => {
  const { chat, sent } = await conversation({ cols: 40, rows: 20 });
  chat.type('ac');
  chat.press('left');
  chat.type('bbb');
  chat.press('home');
  chat.type('漢');
  chat.press('end', 'backspace');
  expect(await sent()).toContain('漢abbb"');
  chat.type(`${'a'.repeat(37)}漢字`);
  await chat.sees(/aaa\n漢字$/);
  chat.press('left', 'left', 'left');
  chat.type('b');
  await chat.sees(/> a{36}ba\n漢字$/);
  for (const cols of [30, 100, 25]) {
    chat.resize(cols, 20);
    chat.type('x');
    await chat.until(() => chat.scrollback().includes('bx'));
  }
  expect(await sent()).toBe(`"${'a'.repeat(36)}bxxxa漢字"`);
  expect(chat.scrollback()).toContain('abbb');
});

it('takes a paste as one message, which is not sent by itself, and names no file', async () => {
  const { place, chat, sent } = await conversation();
  writeFileSync(join(place.cwd, 'note.txt'), 'BROUGHT ALONG\n');
  chat.type('see ');
  chat.paste('one\ntwo\tcolumns\n@note.txt\n');
  await chat.sees(/> see \[Pasted #1: 3 lines\]$/);
  chat.type('!');
  const message = await sent();
  expect(message).toMatch(/see one\\ntwo\\tcolumns\\n@.?note\.txt\\n!"$/u);
  expect(message).not.toContain('BROUGHT ALONG');
  expect(place.model.requests).toHaveLength(1);
  chat.press('up');
  await chat.sees(/> \[Pasted #2: 4 lines\]$/);
  chat.press('backspace');
  await isBack(chat);
  for (const piece of ['\x1b[200~a\nb', '\x1b[2', '01~']) chat.type(piece);
  await chat.sees(/> \[Pasted #3: 2 lines\]$/);
  expect(await sent()).toBe(String.raw`"a\nb"`);
  chat.paste('see @note.txt');
  expect(await sent()).toBe('"see @note.txt"');
  chat.press('up');
  expect(await sent()).toBe('"see @note.txt"');
});

it('completes a command and a file behind an @ with Tab, and reads the file that a person names', async () => {
  const { place, chat, sent } = await conversation();
  writeFileSync(join(place.cwd, 'note.txt'), 'BROUGHT ALONG\n');
  chat.type('/stat\t');
  await chat.sees(/> \/status$/);
  chat.press('ctrl-c');
  await isBack(chat);
  chat.type('read @no');
  chat.press('tab');
  await chat.sees(/> read @note\.txt$/);
  expect(await sent()).toContain('BROUGHT ALONG');
  expect(chat.raw()).not.toContain('Warning');
});

it('hands back what was queued when Escape interrupts, as one line with what is being typed', async () => {
  const { place, chat } = await conversation();
  place.model.script(answer(say('Begun.\n'), wait(gate().opened)));
  chat.type('begin\r');
  await chat.sees('Begun.');
  chat.type('queued\r');
  await chat.sees('queued: queued');
  chat.paste('p1\np2');
  chat.type('\rnext thinh');
  chat.press('backspace', 'esc');
  await chat.sees(/Interrupted\.[^]*> \[Pasted #2: 3 lines\] next thin$/);
  chat.press('left', 'ctrl-e');
  chat.type('g');
  expect(chat.raw()).not.toContain('thinh');
  chat.press('enter');
  await chat.until(() => place.model.requests.length === 2);
  expect(lastMessage(place.model.requests.at(-1))).toContain(String.raw`queued\np1\np2 next thing`);
  await isBack(chat);
  chat.press('ctrl-d');
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
