import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/v4';
import { until } from '../../support/until.ts';
import { httpServer, installed, openToolbox } from './open-toolbox.ts';

const open: (Server | ChildProcess)[] = [];
afterEach(() => {
  for (const one of open.splice(0)) {
    if ('kill' in one) one.kill('SIGKILL');
    else {
      one.closeAllConnections();
      one.close();
    }
  }
});

async function listen(server: Server, port = 0): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A server of the current SDK that wants a key. */
async function servedHere(): Promise<{ port: number; calls: string[] }> {
  const calls: string[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'here', version: '1' });
    server.registerTool('shout', { inputSchema: z.strictObject({ text: z.string() }) }, ({ text }) => {
      calls.push(text);
      return { content: [{ type: 'text', text: text.toUpperCase() }] };
    });
    return server;
  });
  const port = await listen(
    createServer(async (request, response) => {
      if (request.headers.authorization !== 'Bearer secret') return response.writeHead(401).end();
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      );
      const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
      const url = `http://127.0.0.1${request.url ?? ''}`;
      const answer = await handler.fetch(
        new Request(url, { method: request.method ?? 'GET', headers, ...body }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      for await (const chunk of answer.body ?? []) response.write(chunk);
      return response.end();
    }),
  );
  return { port, calls };
}

describe('a server over HTTP', () => {
  it.each(['auto', '2025-11-25', '2026-07-28'] as const)(
    'is reached with its headers: %s',
    async (protocol) => {
      const { port, calls } = await servedHere();
      const { box, call, warnings } = await openToolbox([
        httpServer('web', `http://127.0.0.1:${port}/mcp`, {
          headers: { Authorization: 'Bearer secret' },
          protocol,
        }),
      ]);
      expect(warnings).toEqual([]);
      expect(box.servers()).toMatchObject([
        {
          state: 'ready',
          protocol: protocol === 'auto' ? '2026-07-28' : protocol,
        },
      ]);
      const texts = Array.from({ length: 30 }, (_, n) => `n${n}`);
      const replies = await Promise.all(texts.map((text) => call('mcp__web__shout', { text })));
      expect(replies.map(({ text }) => text)).toEqual(texts.map((text) => text.toUpperCase()));
      expect(calls).toHaveLength(30);
    },
  );

  it.each(['auto', '2025-11-25'] as const)(
    'that refuses the key is one warning that says so: %s',
    async (protocol) => {
      const { port } = await servedHere();
      const { warnings } = await openToolbox([
        httpServer('web', `http://127.0.0.1:${port}/mcp`, { protocol }),
      ]);
      expect(warnings).toEqual([
        'MCP server "web": it refused the key (HTTP 401); "headers" in mcp.json may hold one. /mcp restart web tries again.',
      ]);
    },
  );

  it('that is not there is one warning', async () => {
    const { warnings } = await openToolbox([httpServer('web', `http://127.0.0.1:${await freePort()}/mcp`)]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('ECONNREFUSED');
  });

  it('of somebody else works, and is found again after it was started anew', async () => {
    const port = await freePort();
    const start = () => {
      const child = spawn(
        process.execPath,
        [installed('@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'],
        { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' },
      );
      open.push(child);
      return child;
    };
    const url = `http://127.0.0.1:${port}/mcp`;
    const answers = () =>
      fetch(url).then(
        () => true,
        () => false,
      );
    const first = start();
    await until(answers);
    const { box, call } = await openToolbox([httpServer('every', url)]);
    expect(box.servers()).toMatchObject([{ state: 'ready', protocol: '2025-11-25' }]);
    expect((await call('mcp__every__echo', { message: 'over HTTP' })).text).toContain('over HTTP');
    first.kill('SIGKILL');
    await until(async () => !(await answers()));
    const lost = await call('mcp__every__echo', { message: 'to nobody' });
    expect(lost).toMatchObject({
      isError: true,
      text: expect.stringContaining('"every" failed during the call'),
    });
    start();
    await until(answers);
    expect((await call('mcp__every__echo', { message: 'once more' })).text).toContain('once more');
  });
});
