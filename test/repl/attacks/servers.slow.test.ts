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

/** Lists so many tools, in pages, with descriptions of such a size. */
const lister = (count: number, size: number) => `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const from = Number(params.cursor ?? 0);
  const description = 'd'.repeat(${size});
  const tool = (at) => ({ name: 'tool_' + at, description, inputSchema: { type: 'object' } });
  const tools = Array.from({ length: Math.min(500, ${count} - from) }, (_, at) => tool(from + at));
  const next = from + 500 < ${count} ? { nextCursor: String(from + 500) } : {};
  const serverInfo = { name: 'many', version: '0' };
  const result = method === 'initialize'
    ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
    : method === 'tools/list' ? { tools, ...next } : {};
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

it.each([
  ['128 when there are many', { size: 20 }, 128],
  ['fewer when they are long', { size: 10_000 }, 19],
  ['128 when some are excluded', { size: 20, tools: ['!tool_0'] }, 128],
  ['all that the person has named', { size: 20, tools: ['tool_1*', '!tool_10'] }, 1110],
])('offers the model of a server with 3,000 tools %s', async (_, { size, ...named }, most) => {
  const place = await chatPlace();
  const command = { command: process.execPath, args: ['-e', lister(3000, size)], protocol: '2025-11-25' };
  writeServers(place, { many: { ...command, ...named } });
  place.model.otherwise(() => say('Well.'));
  const { code, stderr } = await runChat(place, ['-p', 'go', '--no-toolcrib']);
  expect(code).toBe(0);
  const [request] = place.model.requests;
  const names = request?.text.match(/mcp__many__tool_\d+/g) ?? [];
  expect(names).toHaveLength(most);
  const all = 'tools' in named ? 2999 : 3000;
  if (most === 1110) {
    expect(stderr).not.toContain('left out');
    return;
  }
  expect(request?.text.length).toBeLessThan(250_000);
  expect(stderr.match(/left out/g)).toHaveLength(1);
  expect(stderr).toContain(
    `has ${all} tools: models are told of the first ${most}, and ${all - most} are left`,
  );
  // The model can say that it lacks one.
  expect(request?.text).toContain(`It has ${all - most} more tools, which are not offered.`);
});
