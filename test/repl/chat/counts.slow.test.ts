import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, leave, openChat, runChat } from '../support/chat.ts';
import { call, say } from '../support/fake-model.ts';
import { enter } from './enter.ts';

// Several starts of the program, on a machine that may be busy.

const bare = '--no-toolcrib';

it('counts what everybody took of models, tells when the context is nearly full, and exports what was said', async () => {
  const place = await chatPlace({
    config: '  dear: { model: fake/fake-model, contextWindow: 10000, price: { input: 100, output: 1000 } }\n',
  });
  const { model, cwd } = place;
  writeFileSync(join(cwd, 'a.txt'), 'inside a\n');
  const read = (input: number) => say('Well.', { usage: { input, output: 5 } });
  model.script(read(100));
  const chat = openChat(place, [bare, '--model', 'dear']);
  const said = await enter(chat, 'see @a.txt');
  expect(said).toMatch(/^a\.txt: 1 line$/m);
  await chat.until(() => model.left() === 0);
  model.script(call('run_agent', { task: 'count' }), say('Three.'), read(10));
  expect(await enter(chat, 'again')).not.toContain('% full');
  // Read: 100, then three times 10.
  expect(await enter(chat, '/status')).toMatch(
    /^model .*\n[^]*used so far +130 read, 0 from the cache, 20 written, cost 0\.0330 \(since the/,
  );

  const nearly =
    'The context is 75 % full: it will be shortened soon (/compact does it now, /new begins afresh)';
  model.script(read(7500), read(7550), read(3000), read(7500));
  expect(await enter(chat, 'more')).toContain(nearly);
  expect(await enter(chat, 'still more')).not.toContain('% full: it');
  expect(await enter(chat, 'less')).not.toContain('% full: it');
  expect(await enter(chat, 'more again')).toContain(nearly);

  await enter(chat, '/export talk.md');
  const text = readFileSync(join(cwd, 'talk.md'), 'utf8');
  expect(text).toContain('## You\n\n> see @a.txt\n');
  expect(text).not.toMatch(/environment|inside a/);
  await leave(chat);
});

it('goes on with what flags say now, and with what they said before', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('Well.'));
  for (const name of ['one', 'two']) mkdirSync(join(place.home, name));
  const [one, two] = [join(place.home, 'one'), join(place.home, 'two')];
  await runChat(place, ['-p', 'first', '--save', '--mode', 'plan', '--root', one, bare]);
  const chat = openChat(place, ['--continue', '--root', two, bare]);
  await chat.sees('mode plan');
  expect(await enter(chat, '/roots')).toBe(two);
  await enter(chat, `/roots add ${one}`);
  await enter(chat, '/name the first');
  expect(await enter(chat, '/fork')).toContain('a copy');
  expect(await enter(chat, '/roots')).toBe(`${two}\n${one}`);
  expect(await enter(chat, '/status')).toMatch(/^session +without a name/m);

  await leave(chat);
});
