import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/v4';
import { eras } from '../../support/server.ts';
import { chatPlace, runChat, type ChatPlace } from '../support/chat.ts';
import { call, calls, say } from '../support/fake-model.ts';
import { fixture, offered, results, serve, writeServers } from '../support/served.ts';

const bare = '--no-toolcrib';

/** Makes calls one after the other where nobody is asked; returns what the model and the person were told. */
async function called(place: ChatPlace, ...steps: ReturnType<typeof call>[]) {
  place.model.script(...steps, say('That is all.'));
  const { code, stderr } = await runChat(place, ['-p', 'go', bare, '--allow', 'mcp__*']);
  expect(code, stderr).toBe(0);
  return { told: results(place.model.requests.at(-1)), stderr };
}

it.each(eras)('hands on results of every kind, and what was wrong with a call, in %s', async (protocol) => {
  const place = await chatPlace();
  serve(place, { fix: { program: 'mcp-server.mjs', protocol } });
  const { told, stderr } = await called(
    place,
    call('mcp__fix__mixed'),
    call('mcp__fix__structured'),
    call('mcp__fix__wrong'),
    call('mcp__fix__roots'),
    call('mcp__fix__echo', { n: 'many' }),
    call('mcp__fix__big', { bytes: 3_000_000 }),
    call('mcp__fix__garbage'),
    calls(Array.from({ length: 60 }, (_, at) => ({ name: 'mcp__fix__echo', args: { text: `no. ${at}` } }))),
  );
  expect(stderr).toBe('');
  for (const part of ['one \ufffd', 'audio/wav', 'in a', 'application/zip', 'file:///b.txt'])
    expect(told[0]).toContain(part);
  expect(told.slice(1, 4)).toEqual([
    '{"answer":42}',
    expect.stringContaining('that went wrong'),
    expect.stringContaining(`file://${place.cwd}`),
  ]);
  expect(told[4]).toMatch(/required property 'text'[^]*must be number/);
  expect(told[5]?.length).toBeLessThan(1_100_000);
  expect(told[6]).toBe('survived');
  expect(told.slice(7)).toEqual(
    Array.from({ length: 60 }, (_, at) => expect.stringMatching(`: no\\. ${at}$`)),
  );
});

it('starts a server that has died with the next call, and says that nobody knows what became of the first', async () => {
  const place = await chatPlace();
  const log = join(place.cwd, 'calls.log');
  serve(place, { fix: { program: 'mcp-server.mjs', args: ['--log', log] } });
  const die = call('mcp__fix__die');
  const { told, stderr } = await called(place, die, call('mcp__fix__echo', { text: 'again' }));
  expect(told).toEqual([
    'MCP server "fix" failed during the call: it ended (it said: out of luck). It may or may not have run.',
    'legacy: again',
  ]);
  expect(stderr.match(/MCP server "fix": it ended \(it said: out of luck\)/g)).toHaveLength(1);
  expect(readFileSync(log, 'utf8').match(/^pid/gm)).toHaveLength(2);

  // One that cannot be started again is named with the way out.
  const once = `require('node:fs').existsSync('begun') && process.exit(9); require('node:fs').writeFileSync('begun', '');
    import(${JSON.stringify(fixture('mcp-server.mjs'))})`;
  writeServers(place, { fix: { command: process.execPath, args: ['-e', once], protocol: '2025-11-25' } });
  expect((await called(place, die, call('mcp__fix__echo', { text: 'x' }))).told[1]).toBe(
    'MCP server "fix" is not running: it ended. Use /mcp restart fix.',
  );
});

it('is not held up, filled or led astray by servers that do not speak the protocol', async () => {
  const place = await chatPlace();
  const server = (script: string) => ({ command: process.execPath, args: ['-e', script] });
  writeServers(place, {
    flood: server(
      `process.stdin.once('data', () => setInterval(() => process.stdout.write('x'.repeat(1e6)), 1))`,
    ),
    folder: { ...server(''), cwd: '/nowhere/at/all' },
    fix: { command: process.execPath, args: [fixture('mcp-server.mjs'), '--garbage'], trust: true },
  });
  const { told, stderr } = await called(place, call('mcp__fix__echo', { text: 'well' }));
  expect(told).toEqual([expect.stringMatching(/: well$/)]);
  const failed = stderr.trim().split('\n');
  expect(failed.filter((line) => !line.includes('still starting')).toSorted()).toEqual([
    expect.stringContaining('MCP server "flood": '),
    expect.stringContaining('"folder": its program, or the folder it runs in, was not found'),
  ]);
});

it('ends a call that says nothing for as long as its server may take', async () => {
  const place = await chatPlace();
  const args = [fixture('small-server.mjs'), join(place.cwd, 'log')];
  writeServers(place, { s: { command: process.execPath, args, protocol: '2025-11-25', timeout: 30_000 } });
  const { told } = await called(place, call('mcp__s__meet', { name: 'nobody', of: 2 }));
  expect(told).toEqual([expect.stringMatching(/30 s.*may or may not have run/)]);
});

it('makes definitions acceptable that no model would take, or leaves them out with a warning', async () => {
  const place = await chatPlace();
  serve(place, { bare: { program: 'bare-server.mjs' } });
  const { told, stderr } = await called(place, call('mcp__bare__no_type'), call('mcp__bare__plain'));
  expect(offered(place.model.requests[0]).filter((name) => name.startsWith('mcp'))).toEqual([
    expect.stringMatching(/^mcp__bare__dotted_name/),
    ...['either', 'no_type', 'plain', 'referring'].map((name) => `mcp__bare__${name}`),
  ]);
  for (const { function: made } of place.model.requests[0]!.body['tools'] as { function: object }[]) {
    expect(made).toMatchObject({ parameters: { type: 'object', properties: {} } });
    expect(made).not.toHaveProperty('parameters.anyOf');
  }
  expect(stderr.trim().split('\n')).toHaveLength(4);
  expect(told).toEqual(['no_type', expect.stringMatching(/answered with error -32602: .*no such thing/)]);
});

it('tells the model what trusted servers say of themselves, and only them', async () => {
  const place = await chatPlace();
  const program = 'mcp-server.mjs';
  serve(place, { fix: { program, args: ['--long'] }, other: { program, trust: false } });
  await called(place);
  const [request] = place.model.requests;
  expect(request?.text).toMatch(/# fix\\nBe gentle\.x{1000,2100}…/);
  expect(request?.text.split('Be gentle')).toHaveLength(2);
  expect(offered(request)).toEqual(expect.arrayContaining(['mcp__fix__echo', 'mcp__other__echo']));
});

/** A server of the current SDK that wants a key, on a port of its own. */
async function servedHere(): Promise<string> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'here', version: '1' });
    server.registerTool('shout', { inputSchema: z.strictObject({ text: z.string() }) }, ({ text }) => ({
      content: [{ type: 'text', text: text.toUpperCase() }],
    }));
    return server;
  });
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== 'Bearer secret') return response.writeHead(401).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? 'GET',
        headers: request.headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    return response.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

it.each(['auto', ...eras])(
  'reaches a server over HTTP with its headers, and says why not: %s',
  async (protocol) => {
    const place = await chatPlace();
    const url = await servedHere();
    place.env['WEB_KEY'] = 'secret';
    const headers = { Authorization: 'Bearer ${WEB_KEY}' };
    writeServers(place, {
      web: { url, headers, protocol },
      locked: { url, protocol },
      // Nobody listens there.
      gone: { url: 'http://127.0.0.1:3/mcp', protocol },
    });
    const shouts = ['a', 'b', 'c'].map((text) => ({ name: 'mcp__web__shout', args: { text } }));
    const { told, stderr } = await called(place, calls(shouts));
    expect(told).toEqual(['A', 'B', 'C']);
    expect(stderr).toMatch(
      /MCP server "locked": it refused the key \(HTTP 401\); "headers" in mcp\.json may hold one/,
    );
    expect(stderr).toMatch(/MCP server "gone": .*ECONNREFUSED/);
  },
);
