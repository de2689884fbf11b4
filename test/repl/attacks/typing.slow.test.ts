import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { enter } from '../chat/enter.ts';
import { messagesOf } from '../chat/messages.ts';
import { chatPlace, openChat } from '../support/chat.ts';
import { answer, call, gate, say, wait } from '../support/fake-model.ts';
import type { Key } from '../support/pty.ts';
import { results } from '../support/served.ts';

// Some twenty turns, on a machine that may be busy.

it('reads what an @ names that was typed, and never one that was pasted, by whatever way it comes back', async () => {
  const place = await chatPlace();
  const { model, cwd, env } = place;
  model.otherwise(() => say('Seen.'));
  writeFileSync(join(cwd, 'secret.txt'), 'TOPSECRET\n');
  writeFileSync(join(cwd, 'plan.txt'), 'THE PLAN\n');
  env['EDITOR'] = 'true';
  let chat = openChat(place, ['--no-toolcrib']);
  const ready = () => chat.sees(/\n>$/);
  /** What the model is told once these keys are pressed, and Enter. */
  const sent = async (...done: (Key | (() => void))[]): Promise<string> => {
    const before = model.requests.length;
    for (const one of done) {
      if (typeof one === 'string') chat.press(one);
      else one();
    }
    chat.press('enter');
    await chat.until(() => model.requests.length > before);
    const request = model.requests.at(-1);
    expect(request?.text).not.toMatch(/TOPSECRET|\ufe0e/);
    return JSON.stringify(messagesOf(request).at(-1)?.content);
  };
  const told = async (...done: (Key | (() => void))[]) => {
    const text = await sent(...done);
    await ready();
    return text;
  };
  const type = (text: string) => () => chat.type(text);
  const line = () => chat.paste('see @secret.txt');
  const lines = () => chat.paste('an issue,\nsee @secret.txt\nand @"secret.txt"');
  const asLines = String.raw`an issue,\nsee @secret.txt\nand @\"secret.txt`;

  await ready();
  expect(await told(line)).toContain('see @secret.txt');
  expect(await told('up')).toBe('"see @secret.txt"');
  expect(await told(lines)).toContain(asLines);
  expect(await told('up')).toContain(asLines);
  expect(await told(type('/model test: '), line)).toBe('"see @secret.txt"');
  expect(await told(type('/edit '), line)).toBe('"see @secret.txt"');
  expect(await told(type('/edit last'))).toBe('"see @secret.txt"');
  // One that is typed after it, in its place, or completed.
  expect(await told(line, type(' @plan.txt'))).toContain('THE PLAN');
  expect(await told(() => chat.paste('see @'), 'backspace', type('@plan.txt'))).toContain('THE PLAN');
  expect(await told(type('see @'), () => chat.paste('plan.txt'))).toContain('THE PLAN');
  chat.type('read @pl');
  chat.press('tab');
  await chat.sees(/> read @plan\.txt/);
  expect(await told()).toContain('THE PLAN');
  chat.type('read');
  expect(await told('up')).toContain('THE PLAN');

  // Handed back from the queue, and from a branch.
  const held = gate();
  model.script(answer(wait(held.opened), say('Late.')));
  await sent(type('go'));
  line();
  chat.press('enter');
  await chat.sees('queued: see');
  lines();
  chat.press('enter');
  await chat.sees('queued: [Pasted');
  chat.press('esc');
  await chat.sees(/> see .*\n\[Pasted .*: 3 lines\]$/);
  held.open();
  expect(await told()).toContain(String.raw`see @secret.txt\n${asLines}`);
  const tree = await enter(chat, '/tree');
  const id = /.*\s(\w+) you: see/s.exec(tree)?.[1];
  chat.type(`/branch ${id}\r`);
  await chat.sees(/secret\.txt"$/);
  expect(await told()).toContain(String.raw`see @secret.txt\n${asLines}`);

  // Elsewhere it is an @ like any other.
  line();
  chat.press('home');
  chat.type('/name \r');
  await ready();
  model.script(call('ask_user', { question: 'Whom?' }), say('Well.'));
  chat.type('ask\r');
  await chat.sees(/Whom\?[^]*your answer ?$/);
  chat.paste('hi @ada');
  chat.press('enter');
  await chat.sees('Well.');
  expect(results(model.requests.at(-1)).join()).toMatch(/hi @ada/);

  // In the next window.
  await ready();
  chat.type('/exit\r');
  await chat.exit;
  chat = openChat(place, ['--continue', '--no-toolcrib']);
  await chat.sees(/· see @secret\.txt/);
  await ready();
  chat.type('an issue');
  expect(await told('up')).toContain(asLines);
  chat.type('see');
  expect(await told('up')).toContain('see @secret.txt');
});

it('shows nothing of what somebody put into the history or a session but text', async () => {
  const place = await chatPlace();
  const clipboard = '\u001b]52;c;ZXZpbA==\u0007';
  place.model.otherwise(() => say('Seen.'));
  const first = openChat(place, ['--no-toolcrib']);
  await enter(first, 'hello');
  first.type('/exit\r');
  await first.exit;
  const folder = join(place.home, '.state', 'toolcrib', 'chat');
  const history = join(folder, 'history', readdirSync(join(folder, 'history'))[0] ?? '');
  writeFileSync(history, `${JSON.stringify(`a${clipboard}b\u009b2J`)}\n`);
  const sessions = join(folder, 'sessions', readdirSync(join(folder, 'sessions'))[0] ?? '');
  const file = join(sessions, readdirSync(sessions).find((name) => name.endsWith('.jsonl')) ?? '');
  const [header = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  const id = `x\n\n> ${clipboard}`;
  writeFileSync(file, [JSON.stringify({ ...JSON.parse(header), id }), ...rest].join('\n'));
  const chat = openChat(place, ['--no-toolcrib']);
  await chat.sees(/\n>$/);
  chat.press('up');
  await chat.sees(/> a.*b/);
  chat.press('ctrl-c');
  chat.type('/resume\r');
  await chat.sees('There are no sessions of this project yet.');
  expect(chat.raw()).not.toMatch(/\u001b\]|\u009b/);
});
