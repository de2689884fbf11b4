import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { chatPlace, leave, openChat, runChat } from '../support/chat.ts';
import { call, calls, say } from '../support/fake-model.ts';
import { enter, fixture, results, serve, writeServers } from '../support/served.ts';

it("shows all that a project's server is started with and sent, a line each, before anything is", async () => {
  const place = await chatPlace();
  const got: unknown[] = [];
  const web = createServer((request, response) => {
    got.push(request.headers['x-k']);
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void web.close());
  await once(web, 'listening');
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`;
  place.env['SECRET_KEY'] = 'sk-1234';
  const mcpServers = {
    docs: { url: `${url}?k=\${env:SECRET_KEY}`, headers: { 'X-K': '${SECRET_KEY}', Plain: '${NONE:-a}' } },
    fs: {
      command: 'no-such-program',
      args: ['-y', 'safe\n  fake: line', 'zero\u200bwidth', `wide${' '.repeat(90)}fake: line`, 'C:\\x', ''],
      env: { NODE_OPTIONS: '--require ./evil.cjs', 'A\n  fake': '\x1b[2J' },
      cwd: '/tmp',
    },
  };
  writeFileSync(join(place.cwd, '.mcp.json'), JSON.stringify({ mcpServers }));
  const chat = openChat(place);
  await chat.sees('/mcp trust starts them');
  enter(chat, '/mcp trust');
  await chat.sees(/\[y\]es \[n\]o ?$/);
  const shown = chat.scrollback().replaceAll(/\n(?! )/g, '');
  expect(got).toEqual([]);
  for (const line of [
    `docs: ${url}?k=\${env:SECRET_KEY}`,
    'header X-K: ${SECRET_KEY}',
    'header Plain: ${NONE:-a}',
    'from your environment: SECRET_KEY, NONE',
    String.raw`fs: no-such-program -y "safe\n\x20\x20fake: line" zero\u200bwidth "wide\x20\x20\x20`,
    String.raw`\x20fake: line" "C:\\x" ""`,
    'env NODE_OPTIONS="--require ./evil.cjs"',
    'folder /tmp',
  ])
    expect(shown).toContain(line);
  expect(shown).not.toMatch(/\n *fake/);
  expect(chat.scrollback()).not.toMatch(/ {5}fake|sk-1234/);
  enter(chat, 'n');
  await leave(chat);
  expect(got).toEqual([]);
});

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
  // In a project's file, neither a name that reads like another server's tools.
  const theirs = { command: process.execPath, args: [fixture('small-server.mjs'), 'log'] };
  writeFileSync(
    join(place.cwd, '.mcp.json'),
    JSON.stringify({ mcpServers: { git__x: theirs, toolcrib: theirs } }),
  );
  place.model.script(call('mcp__git__x__look', { text: 'x' }), say('Well.'));
  const ran = await runChat(place, ['-p', 'go']);
  expect(ran.stderr).toMatch(/git__x: [^\n]*"__"/);
  expect(ran.stderr).not.toContain('/mcp trust');
});
