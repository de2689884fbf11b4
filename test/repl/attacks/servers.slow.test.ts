import { expect, it } from 'vitest';
import { chatPlace, runChat } from '../support/chat.ts';
import { calls, say } from '../support/fake-model.ts';
import { fixture, results, serve, writeServers } from '../support/served.ts';

it('gives a server a short list of variables, and only our own the rest', async () => {
  const place = await chatPlace();
  const keys = { OPENAI_API_KEY: 'sk-1', GITHUB_TOKEN: 't', NODE_OPTIONS: '--no-warnings', LD_AUDIT: '' };
  const others = { LC_ALL: 'C.UTF-8', XDG_DATA_HOME: '/d', https_proxy: 'http://p' };
  Object.assign(place.env, keys, others);
  const server = { command: process.execPath, args: [fixture('mcp-server.mjs')], env: { MINE: 'own' } };
  writeServers(place, { fix: server });
  const names = [...Object.keys(keys), 'MINE', ...Object.keys(others)];
  place.model.script(
    calls(names.map((name) => ({ name: 'mcp__fix__environment', args: { name } }))),
    say('Well.'),
  );
  await runChat(place, ['-p', 'go', '--no-toolcrib', '--allow', 'fix:*']);
  expect(results(place.model.requests[1])).toEqual([
    ...Object.keys(keys).map(() => 'unset'),
    'own',
    ...Object.values(others),
  ]);
});

it("takes no server for the chat's own: neither its name nor what is allowed of it", async () => {
  const refusing = '{ command: ["/bin/sh", "-c", "echo guarded >&2; exit 2"], tools: "*look" }';
  const place = await chatPlace({
    config: `hooks: { before: [${refusing}] }\nrules: { allow: ["toolcrib:look", "chat:look"] }\n`,
  });
  serve(place, { chat: {}, toolcrib: {}, Chat: {}, other: {} });
  place.model.script(
    calls(['chat', 'toolcrib', 'other'].map((name) => ({ name: `mcp__${name}__look`, args: { text: 'x' } }))),
    say('Well.'),
  );
  const { code, stderr } = await runChat(place, ['-p', 'go', '--allow', '*:look']);
  expect(code).toBe(0);
  expect(stderr.match(/(\w+): The chat has that name itself/g)).toHaveLength(3);
  expect(stderr).toContain('toolcrib: The chat has that name itself. Give it another');
  expect(results(place.model.requests[1])).toEqual([
    expect.stringContaining('no tool named mcp__chat__look'),
    expect.stringContaining('no tool named mcp__toolcrib__look'),
    expect.stringContaining('guarded'),
  ]);
});
