import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, openChat, runChat } from './support/chat.ts';
import { call, calls, say } from './support/fake-model.ts';
import { example, repl } from './support/example.ts';

it('runs the hook of docs/repl.md: it refuses one change and comments on the other', async () => {
  const place = await chatPlace();
  const guard = join(place.home, 'guard.mjs');
  writeFileSync(guard, example(repl, 'and in `guard.mjs`', 'js'));
  const hooks = example(repl, '## Hooks', 'yaml');
  place.configure(hooks.replace('/home/you/.config/toolcrib/guard.mjs', guard));
  const write = (path: string) => ({ name: 'mcp__toolcrib__write_file', args: { path, content: 'x\n' } });
  place.model.script(calls([write('generated/a.txt'), write('src/a.txt')]), say('done'));
  const { code } = await runChat(place, ['-p', 'write both', '--allow', 'toolcrib:write_file']);
  expect(code).toBe(0);
  expect(place.model.requests[1]?.text).toContain(
    'Refused by a hook: generated/ is made by npm run generate.',
  );
  expect(place.model.requests[1]?.text).toContain('[hook] Run the tests when you are done.');
});

it('uses the profile of docs/repl.md, and asks with room for the answer', async () => {
  const place = await chatPlace();
  place.configure(`profiles:\n  review:\n${example(repl, '## Profiles', 'yaml').replaceAll(/^/gm, '    ')}`);
  const chat = openChat(place, ['--profile', 'review', '--var', 'base=develop']);
  await chat.sees('plan >');
  place.model.script(say('Nothing to say.'));
  chat.type('review\r');
  await chat.sees('Nothing to say.');
  expect(place.model.requests[0]?.text).toContain('since develop. Be brief.');
  expect(place.model.requests[0]?.text).not.toContain('mcp__toolcrib__git_push');
  chat.type('/mode ask\r/profile none\r');
  await chat.sees('mode ask:');
  place.model.script(call('mcp__toolcrib__write_file', { path: 'a.txt', content: 'x\n' }), say('Well.'));
  chat.type('write\r');
  await chat.sees('or say what to do instead');
  chat.type('n\r');
  await chat.sees('Well.');
  expect(chat.scrollback()).toContain('or say what to do instead n');
});
