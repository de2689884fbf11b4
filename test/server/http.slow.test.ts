import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { isRunning } from '../support/is-running.ts';
import { connect as connectSocket } from 'node:net';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/server';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../src/server/wire/http/listen.ts';
import { Mcp } from '../../src/server/wire/http/mcp.ts';
import type { Connection } from '../../src/server/connection.ts';
import { connectHttp, connectHttpV1, serveHttp, type HttpServer } from '../support/http.ts';
import { person } from '../support/person.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { eras } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';

type Caller = { callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown> };
const call = async (client: Caller, name: string, args: Record<string, unknown> = {}) =>
  textOf((await client.callTool({ name, arguments: args })) as Parameters<typeof textOf>[0]);

const sleeper = (seconds: number) => ({
  command: `node -e "console.log(1);setTimeout(()=>{},${seconds * 1000})"`,
  background: true,
});
const trusting = ['--rule', 'run(node *)=allow'];
const handleIn = (text: string) => /\b[a-z]+-\d+-[a-z0-9]{6}\b/.exec(text)?.[0] ?? text;

/** One POST by hand; header names are as they are sent. */
function post(
  { url, token }: Pick<HttpServer, 'url' | 'token'>,
  headers: Record<string, string> = {},
  body: string | Buffer = initialize,
  method = 'POST',
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const usual = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
    };
    const sent = request(url, { method, headers: { ...usual, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.once('error', reject).end(body);
  });
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});

const takesNoMore = (server: HttpServer) =>
  until(() =>
    post(server).then(
      () => false,
      () => true,
    ),
  );

it('serves clients of both eras and of both SDKs at one address, and asks their users', async () => {
  const { folder, write } = temporaryRepository();
  write('new.txt', 'x');
  const server = await serveHttp([folder]);
  const clients = [
    await connectHttp('2025-11-25', server, { answer: person('yes') }),
    await connectHttp('2026-07-28', server, { answer: person('yes') }),
    await connectHttpV1(server, person('yes')),
  ];
  for (const client of clients) {
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(20);
    expect(await call(client, 'git_status')).toContain('?? new.txt');
    expect(await call(client, 'run', { command: 'node -e "console.log(6*7)"' })).toContain('42');
  }
});

it('asks by the stream of the call where a client has no other one', async () => {
  const server = await serveHttp([temporaryFolder()]);
  const withoutStream: typeof fetch = async (address, options) =>
    options?.method === 'GET' ? new Response(null, { status: 405 }) : fetch(address, options);
  const client = await connectHttpV1(server, person('yes'), withoutStream);
  expect(await call(client, 'run', { command: 'node -e "console.log(6*7)"' })).toContain('42');
});

it('ATTACK 109: lets nobody in without the token, from another origin, or under another name', async () => {
  const server = await serveHttp([temporaryFolder()]);
  const statusOf = async (headers: Record<string, string>) => (await post(server, headers)).status;
  expect(await statusOf({})).toBe(200);
  const without = await post({ ...server, token: '' });
  expect(without.status).toBe(401);
  expect(without.headers['www-authenticate']).toBe('Bearer realm="toolcrib", error="invalid_token"');
  for (const authorization of [
    '',
    server.token,
    `Basic ${server.token}`,
    `Bearer ${server.token}x`,
    'Bearer',
  ])
    expect(await statusOf({ authorization })).toBe(401);
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', 'file://'])
    expect(await statusOf({ origin })).toBe(403);
  for (const host of ['evil.example', 'localhost.evil.example', '10.0.0.1'])
    expect(await statusOf({ host })).toBe(403);
  expect(await statusOf({ origin: 'http://localhost:3000', host: 'localhost:1' })).toBe(200);
  expect(server.said()).not.toContain(server.token);
});

it('ATTACK 109: listens for others only when asked to, under names that it was given', async () => {
  const args = ['--host', '0.0.0.0', '--allow-host', 'Tools.example.org'];
  const { url, token } = await serveHttp([temporaryFolder()], args);
  const server = { url: url.replace('0.0.0.0', '127.0.0.1'), token };
  const statusOf = async (headers: Record<string, string>) => (await post(server, headers)).status;
  for (const host of ['tools.example.org', '10.0.0.7:7311', 'localhost', '[fe80::1]'])
    expect(await statusOf({ host })).toBe(200);
  expect(await statusOf({ origin: 'https://tools.example.org' })).toBe(200);
  for (const host of ['evil.example', '10.0.0.7.evil.example', 'x.tools.example.org'])
    expect(await statusOf({ host })).toBe(403);
  expect(await statusOf({ origin: 'http://10.0.0.7' })).toBe(403);
});

it('takes no name of a host that would let in everybody, or nobody', async () => {
  const started = (option: string, value: string) => serveHttp([temporaryFolder()], [option, value]);
  await expect(started('--host', '')).rejects.toThrow('--host: an address is expected');
  for (const name of ['tools.example.org:8443', 'https://tools.example.org', '*.example.org'])
    await expect(started('--allow-host', name)).rejects.toThrow('a name alone is expected');
});

it('ends no client for refused requests, and no server for a log that nobody reads', async () => {
  const server = await serveHttp([temporaryFolder()], trusting);
  const client = await connectHttp('2026-07-28', server);
  const handle = handleIn(await call(client, 'run', sleeper(60)));
  const asks = (name: string, version: string) => {
    const info = { clientInfo: { name, version: '1' }, protocolVersion: version, clientCapabilities: {} };
    const named = Object.entries(info).map(([key, value]) => [`io.modelcontextprotocol/${key}`, value]);
    const params = { _meta: Object.fromEntries(named) as unknown };
    const headers = { 'mcp-method': 'tools/list', 'mcp-protocol-version': '2026-07-28' };
    return post(server, headers, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params }));
  };
  const forged = 'x\ntoolcrib: serving http://evil.example/mcp\u001b[31m';
  expect((await asks('forger', forged)).status).toBe(400);
  expect(server.said()).toContain('evil.example');
  expect(server.said()).not.toMatch(/^toolcrib: serving http:.*evil|\u001b/m);
  server.child.stderr?.destroy();
  for (let count = 0; count < 101; count++) expect((await asks(`c${count}`, '2027-01-01')).status).toBe(400);
  expect(await call(client, 'read_output', { id: handle })).toContain('running');
});

it('ends the stream of a call that a client of 2025 cancels', async () => {
  const server = await serveHttp([temporaryFolder()], trusting);
  const session = { 'mcp-session-id': String((await post(server)).headers['mcp-session-id']) };
  const send = (message: object) => post(server, session, JSON.stringify({ jsonrpc: '2.0', ...message }));
  const params = { name: 'run', arguments: { ...sleeper(60), background: false } };
  const called = send({ id: 7, method: 'tools/call', params });
  const takeBack = () => send({ method: 'notifications/cancelled', params: { requestId: 7 } });
  let isOver = false;
  void called.finally(() => {
    isOver = true;
  });
  await until(async () => isOver || ((await takeBack()) && isOver));
  expect((await called).text).not.toContain('result');
});

it('answers calls that it ends because nobody waits any longer', async () => {
  const folder = temporaryFolder();
  const server = await serveHttp([folder], trusting);
  const running = eras.map(async (era) => {
    const command = `node -e "require('fs').writeFileSync('${era}','');setTimeout(()=>{},60000)"`;
    return call(await connectHttp(era, server), 'run', { command });
  });
  await until(() => eras.every((era) => existsSync(join(folder, era))));
  server.child.kill('SIGTERM');
  await takesNoMore(server);
  server.child.kill('SIGTERM');
  for (const answer of running) expect(await answer).toMatch(/killed by a signal|CANCELLED/);
});

it('makes a token once, for this user alone, or takes one from a file that is private', async () => {
  const folder = temporaryFolder();
  const file = join(temporaryFolder(), 'tokens');
  const [one, other] = ['a'.repeat(32), 'b'.repeat(32)];
  writeFileSync(file, `# two hosts\n${one}\n${other}\n`, { mode: 0o644 });
  await expect(serveHttp([folder], ['--token-file', file])).rejects.toThrow('others can read or change it');
  chmodSync(file, 0o600);
  const server = await serveHttp([folder], ['--token-file', file]);
  expect(await post({ ...server, token: other }).then(({ status }) => status)).toBe(200);

  const first = await serveHttp([folder]);
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await serveHttp([folder]);
  expect(second.token).toBe(first.token);
  expect(second.instance).not.toBe(first.instance);
  const kept = join(process.env['XDG_STATE_HOME'] ?? '', 'toolcrib', 'http-token');
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  await expect(serveHttp([folder], ['--token-file', join(folder, 'none')])).rejects.toThrow('--token-file');
});

it('takes no body that is too large, too slow, or no message', async () => {
  const server = await serveHttp([temporaryFolder()]);
  const huge = Buffer.alloc(11 * 1024 * 1024, ' ');
  expect(
    await post(server, { 'content-length': String(huge.length) }, huge).catch(() => 'cut'),
  ).toMatchObject(/* Who sends on regardless may be cut off before it reads why. */ { status: 413 });
  const chunked = post(server, { 'transfer-encoding': 'chunked' }, huge).then(({ status }) => status);
  expect([413, 'cut']).toContain(await chunked.catch(() => 'cut'));
  const latin1 = Buffer.from(initialize.replace('raw', 'caf\u00e9'), 'latin1');
  for (const body of ['', '{', 'null', '[]', '7', '"x"', '{"jsonrpc":"2.0"}', '['.repeat(100_000), latin1])
    expect((await post(server, {}, body)).status).toBe(400);
  const deep = initialize.replace(
    '"capabilities":{',
    `$&"experimental":{"a":{"b":${'['.repeat(4000)}${']'.repeat(4000)}}}`,
  );
  expect((await post(server, {}, deep)).status).toBe(500);
  expect((await post(server, { 'content-type': 'text/plain' })).status).toBe(415);
  const { port } = new URL(server.url);
  const socket = connectSocket(Number(port), '127.0.0.1');
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: 100\r\n\r\n{`,
  );
  // It does not wait for ever for the rest.
  await new Promise((resolve) => socket.once('close', resolve).resume());
  expect((await post(server)).status).toBe(200);
});

it('keeps sessions, jobs and outputs of one client from all others', async () => {
  const [folder, file] = [temporaryFolder(), join(temporaryFolder(), 'tokens')];
  const other = 'b'.repeat(32);
  writeFileSync(file, `${'a'.repeat(32)}\n${other}\n`, { mode: 0o600 });
  const server = await serveHttp([folder], [...trusting, '--token-file', file]);
  const owners = [await connectHttp('2025-11-25', server), await connectHttp('2026-07-28', server)];
  const others = [
    await connectHttp('2025-11-25', server),
    await connectHttp('2026-07-28', { ...server, token: other }),
    await connectHttp('2026-07-28', server, { name: 'another' }),
    await connectHttpV1(server),
  ];
  for (const owner of owners) {
    const handle = handleIn(await call(owner, 'run', sleeper(60)));
    expect(handle).toMatch(new RegExp(`-${server.instance}$`));
    for (const client of others) {
      expect(await call(client, 'read_output')).toContain('no jobs');
      expect(await call(client, 'read_output', { id: handle })).toMatch(/^NOT_FOUND/);
      expect(await call(client, 'control_job', { id: handle, action: 'stop' })).toMatch(/^NOT_FOUND/);
    }
    expect(await call(owner, 'read_output', { id: handle })).toContain('running');
    for (const [name, args] of [
      ['read_output', { id: 'dev-1-zzzzzz' }],
      ['control_job', { id: 'dev-1-zzzzzz', action: 'stop' }],
    ] as const)
      expect(await call(owner, name, args)).toContain(`zzzzzz; this is ${server.instance}`);
  }
  const { headers } = await post(server);
  const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
  const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  expect((await post(server, session, list)).status).toBe(200);
  expect((await post({ ...server, token: other }, session, list)).status).toBe(404);
  expect((await post({ ...server, token: other }, session, '', 'DELETE')).status).toBe(404);
  expect((await post(server, { 'mcp-session-id': 'guessed' }, list)).status).toBe(404);
  expect((await post(server, {}, list)).status).toBe(400);
  expect((await post(server, session, '', 'DELETE')).status).toBe(200);
  expect((await post(server, session, list)).status).toBe(404);
});

it('serves 64 clients at once, and goes on when some leave in the middle of a call', async () => {
  const { folder } = temporaryRepository();
  const server = await serveHttp([folder], trusting);
  const connected = await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      index % 3 === 0
        ? connectHttpV1(server)
        : connectHttp(eras[index % 2] ?? '2025-11-25', server, { name: `c${index}` }),
    ),
  );
  const slow = { ...sleeper(30), background: false };
  const leaving = Promise.allSettled(connected.slice(0, 8).map((client) => call(client, 'run', slow)));
  await sleep(300);
  for (const client of connected.slice(0, 8)) void client.close();
  const answers = await Promise.all(connected.slice(8).map((client) => call(client, 'git_status')));
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toContain('nothing to commit');
  await leaving;
  expect((await post(server)).status).toBe(200);
});

it('ends the programs of a client of 2026 when it leaves in the middle of the call', async () => {
  const folder = temporaryFolder();
  const server = await serveHttp([folder], trusting);
  const client = await connectHttp('2026-07-28', server);
  const pid = join(folder, 'pid');
  const command = `node -e "require('fs').writeFileSync('pid',String(process.pid));setTimeout(()=>{},60000)"`;
  const running = call(client, 'run', { command }).catch(() => 'left');
  await until(() => existsSync(pid) && readFileSync(pid, 'utf8') !== '');
  await client.close();
  expect(await running).toBe('left');
  await until(() => !isRunning(Number(readFileSync(pid, 'utf8'))));
});

it('ends the session that was idle longest when one token has too many', async () => {
  const server = await serveHttp([temporaryFolder()]);
  const sessions: string[] = [];
  for (let count = 0; count < 101; count++)
    sessions.push(String((await post(server)).headers['mcp-session-id']));
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
  const statusOf = async (at: number) =>
    (await post(server, { 'mcp-session-id': sessions.at(at) ?? '' }, ping)).status;
  expect([await statusOf(0), await statusOf(1), await statusOf(-1)]).toEqual([404, 200, 200]);
});

it('ends an idle session and its jobs, but none that has a stream open', async () => {
  const ended: string[] = [];
  const crib = (client: string) => {
    const end = async () => {
      ended.push(client);
    };
    return { end } as unknown as Connection;
  };
  const build = () => new Server({ name: 'idle', version: '1' }, { capabilities: { tools: {} } });
  const tokens = { file: '', indexIn: () => 0 };
  const mcp = new Mcp(crib, 300, build);
  const listener = await listen({ host: '127.0.0.1', port: 0, names: [], tokens }, mcp);
  onTestFinished(() => mcp.close());
  onTestFinished(() => listener.close());
  const server = { url: listener.url, token: '' };
  const listening = await connectHttp('2025-11-25', server);
  const left = String((await post(server)).headers['mcp-session-id']);
  await until(() => ended.length > 0);
  expect(ended).toEqual([left]);
  await sleep(600);
  expect(await listening.ping()).toEqual({});
  expect(ended).toEqual([left]);
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  'lets running calls end on %s, and its jobs with them',
  async (signal) => {
    const folder = temporaryFolder();
    const server = await serveHttp([folder], trusting);
    const client = await connectHttp('2025-11-25', server);
    const job = await call(client, 'run', {
      command: 'node -e "console.log(process.pid);setTimeout(()=>{},60000)"',
      background: true,
    });
    expect(job).toContain('running');
    const file = (name: string) => join(folder, name);
    const waits = `const f=require('fs');f.writeFileSync('began','');setInterval(()=>f.existsSync('go')&&process.exit(console.log('got there')),20)`;
    const running = call(client, 'run', { command: `node -e "${waits}"` });
    await until(() => existsSync(file('began')));
    server.child.kill(signal);
    // It takes no connection any more: the signal has come.
    await takesNoMore(server);
    writeFileSync(file('go'), '');
    expect(await running).toContain('got there');
    expect(await server.ended).toBe(0);
    const pid = Number(/^\d+$/m.exec(job)?.[0]);
    await until(() => !isRunning(pid));
  },
);

it('goes on after a kill: a client of 2025 starts anew, one of 2026 notices nothing', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'a.txt'), 'still here');
  const first = await serveHttp([folder]);
  const { port } = new URL(first.url);
  const modern = await connectHttp('2026-07-28', first);
  const session = String((await post(first)).headers['mcp-session-id']);
  first.child.kill('SIGKILL');
  await first.ended;
  await serveHttp([folder], ['--port', port]);
  expect(await call(modern, 'read_file', { path: 'a.txt' })).toContain('still here');
  expect((await post(first, { 'mcp-session-id': session })).status).toBe(404);
});
