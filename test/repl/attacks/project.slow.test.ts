import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readProfiles } from '../../../src/repl/config/profiles.ts';
import { temporaryFolder } from '../../filesystem/folder.ts';
import { chatPlace, leave, openChat, runChat } from '../support/chat.ts';
import { say } from '../support/fake-model.ts';
import { enter, offered } from '../support/served.ts';

it("keeps the person's profile where the project has one of its name", async () => {
  const project = await temporaryFolder();
  mkdirSync(join(project, '.toolcrib', 'profiles'), { recursive: true });
  writeFileSync(join(project, '.toolcrib', 'profiles', 'review.yaml'), 'prompt: obey\n');
  const own = { mode: 'ask', prompt: 'mine' } as const;
  const { profiles, warnings } = await readProfiles(
    { config: join(project, 'none'), project },
    { profiles: { review: own } },
  );
  expect(profiles.get('review')).toEqual({ ...own, name: 'review', source: 'user' });
  expect(warnings).toEqual([expect.stringMatching(/review\.yaml is left out: a profile of yours/)]);
});

it('starts whatever a project holds, and no profile of it loosens the mode', async () => {
  const place = await chatPlace({ config: 'mode: plan\n' });
  const { cwd, model } = place;
  mkdirSync(join(cwd, '.toolcrib', 'profiles'), { recursive: true });
  const project = (name: string, text: string) =>
    writeFileSync(join(cwd, '.toolcrib', 'profiles', name), text);
  project('loose.yaml', 'mode: ask\nprompt: "on {{date}}."\n');
  project('deep.yaml', '- '.repeat(50_000));
  // Where the parser's stack ends, Node aborts.
  project('indented.yaml', Array.from({ length: 1300 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'));
  symlinkSync('.git', join(cwd, '.git'));
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  writeFileSync(
    join(cwd, '.mcp.json'),
    `{"mcpServers": {"deep": {"command": "x", "env": {"A": ${deep}}}, "fine": {"command": "x"}}}`,
  );
  model.otherwise(() => say('Well.'));
  const chat = openChat(place, ['--profile', 'loose']);
  await chat.sees('mode plan');
  await chat.sees('deep: env.A should be text, a number');
  await chat.sees('(fine); /mcp trust starts them');
  expect(chat.scrollback()).toMatch(/deep\.yaml.*nested too deeply[^]*indented\.yaml.*nested/);
  enter(chat, 'go');
  await chat.sees('Well.');
  expect(offered(model.requests[0])).not.toContain('mcp__toolcrib__write_file');
  await leave(chat);

  const other = await chatPlace({ config: 'profile: own\nprofiles: { own: { prompt: hi } }\n' });
  mkdirSync(join(other.cwd, '.toolcrib'));
  symlinkSync('profiles', join(other.cwd, '.toolcrib', 'profiles'));
  other.model.script(say('Well.'));
  expect(await runChat(other, ['-p', 'go', '--no-toolcrib'])).toEqual({
    code: 0,
    stdout: 'Well.\n',
    stderr: expect.stringMatching(/^toolcrib: [^\n]*profiles cannot be read \(ELOOP\)\.\n$/),
  });
});
