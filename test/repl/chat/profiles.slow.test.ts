import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, openChat, runChat } from '../support/chat.ts';
import { say } from '../support/fake-model.ts';
import { offered } from '../support/served.ts';
import { enter } from './enter.ts';
import { systemOf } from './messages.ts';

const config = `profiles:
  reader:
    description: only reads
    mode: plan
    tools: ["read_*", "!read_output"]
    model: fake/reader-model
    prompt: "You read for {{who}} in {{cwd}}, as {{env.COLOUR}}."
    variables: { who: nobody }
`;

it('works as a profile says: from chat.yaml and from files', async () => {
  const place = await chatPlace({ config });
  const { model, cwd, home } = place;
  place.env['COLOUR'] = 'blue';
  model.otherwise(() => say('Well.'));
  const folder = join(home, '.config', 'toolcrib', 'profiles');
  mkdirSync(folder);
  writeFileSync(join(folder, 'writer.yaml'), 'description: writes\nmode: auto\n');
  writeFileSync(join(folder, 'lacking.yaml'), 'description: lacks\nprompt: "Colour {{colour}}"\n');
  const house =
    'description: of the house\nmode: ask\nprompt: Follow the rules of {{house}}.\nvariables: { house: ours }\n';
  writeFileSync(join(folder, 'house.yaml'), house);
  const chat = openChat(place, ['--profile', 'reader', '--var', 'who=Ada']);
  await chat.sees('fake/reader-model · mode plan');
  await enter(chat, 'hello');
  expect(systemOf(model.requests[0])).toContain(`You read for Ada in ${cwd}, as blue.`);
  expect(model.requests[0]?.body.model).toBe('reader-model');
  expect(offered(model.requests[0])).toContain('mcp__toolcrib__read_file');
  expect(offered(model.requests[0]).filter((name) => /read_output|grep/.test(name))).toEqual([]);
  const listed = await enter(chat, '/profile');
  expect(listed).toMatch(/\* reader +only reads/);
  expect(listed).toMatch(/house +of the house[^]*lacking +lacks[^]*writer +writes/);
  expect(await enter(chat, '/profile writer')).toContain('mode auto');
  await enter(chat, 'hello again');
  expect(systemOf(model.requests[1])).not.toContain('Ada');
  expect(offered(model.requests[1])).toContain('mcp__toolcrib__grep');
  // A profile that cannot be used is refused, and the one before it stays.
  expect(await enter(chat, '/profile lacking')).toMatch(/\{\{colour\}\}[^]*--var\s+colour=value/);
  expect(await enter(chat, '/status')).toMatch(/profile +writer/);
  expect(await enter(chat, '/profile reder')).toContain('There is no profile "reder"');
  expect(await enter(chat, '/profile house')).toContain('mode ask');
  await enter(chat, 'rules?');
  expect(systemOf(model.requests[2])).toContain('Follow the rules of ours.');
  await enter(chat, '/profile none');
  await enter(chat, 'bye');
  expect(systemOf(model.requests[3])).not.toContain('Follow the rules');
});

it('says what is wrong with a profile', async () => {
  const place = await chatPlace({ config });
  expect(await runChat(place, ['-p', 'hello', '--no-toolcrib', '--profile', 'reder'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no profile "reder"'),
  });
  const files = join(place.home, '.config', 'toolcrib', 'profiles');
  mkdirSync(files);
  writeFileSync(join(files, 'damaged.yaml'), 'description: [x');
  place.model.script(say('Well.'));
  place.env['COLOUR'] = 'blue';
  const sound = await runChat(place, ['-p', 'hello', '--no-toolcrib', '--profile', 'reader']);
  expect(sound).toMatchObject({ code: 0, stdout: 'Well.\n' });
  place.configure('profiles: { reader: { promt: hello } }\n');
  expect(await runChat(place, ['-p', 'hello', '--no-toolcrib'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/chat\.yaml:\d+.*promt.*prompt/),
  });
  expect(place.model.requests).toHaveLength(1);
});
