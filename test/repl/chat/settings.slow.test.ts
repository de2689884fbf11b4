import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, openChat, runChat } from '../support/chat.ts';
import { say } from '../support/fake-model.ts';

import { enter } from './enter.ts';

const alone = ['--no-toolcrib'];

it('leaves a resumed session its mode and its model, whatever profile is configured', async () => {
  const place = await chatPlace({
    config: 'profile: p\nprofiles:\n  p: { mode: auto, model: fake/of-profile }\n',
  });
  place.model.otherwise(() => say('yes'));
  const chat = openChat(place, alone);
  await chat.sees('fake/of-profile · mode auto');
  await enter(chat, '/mode plan');
  await enter(chat, '/model fake/of-session');
  await enter(chat, 'hello');
  chat.press('ctrl-d');
  await chat.exit;
  const again = openChat(place, [...alone, '--continue']);
  await again.sees('fake/of-session · mode plan');
  // A choice that is newer than the session.
  expect(await enter(again, '/profile p')).toContain('mode auto, model fake/of-profile');
  again.press('ctrl-d');
  await again.exit;
  const flagged = openChat(place, [...alone, '--continue', '--profile', 'p']);
  await flagged.sees('fake/of-profile · mode auto');
  // What a profile has set stays until something else is chosen.
  expect(await enter(flagged, '/profile none')).toContain('mode auto, model fake/of-profile');
});

it('takes an edited profile as it is now', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('yes'));
  const folder = join(place.home, '.config', 'toolcrib', 'profiles');
  mkdirSync(folder);
  writeFileSync(join(folder, 'p.yaml'), 'mode: plan\nprompt: OLD WORDS\n');
  const chat = openChat(place, [...alone, '--profile', 'p']);
  await enter(chat, 'hello');
  writeFileSync(join(folder, 'p.yaml'), 'mode: plan\nprompt: NEW WORDS\n');
  await enter(chat, '/profile p');
  await enter(chat, 'hello again');
  expect(place.model.requests.map(({ text }) => /(OLD|NEW) WORDS/.exec(text)?.[1])).toEqual(['OLD', 'NEW']);
});

it('starts without another model than that of the profile', async () => {
  const place = await chatPlace();
  const file = join(place.home, '.config', 'toolcrib', 'chat.yaml');
  const text = readFileSync(file, 'utf8').replace(/^model: test\n/m, '');
  writeFileSync(file, `${text}profiles:\n  p: { model: test }\n`);
  place.model.otherwise(() => say('fine'));
  expect(await runChat(place, ['-p', 'hello', ...alone, '--profile', 'p'])).toMatchObject({
    code: 0,
    stdout: 'fine\n',
  });
});
