import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { log } from '../../log.ts';
import { createGuard, type Guard, refusal, type Listening } from './guard.ts';
import type { Mcp } from './mcp.ts';

/** The most bytes of a message, like over standard input. */
const mostBytes = 10 * 1024 * 1024;
const path = '/mcp';
const methods = ['GET', 'POST', 'DELETE'];
/** Time in which a request has to arrive. */
const slowest = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5000 };

/** Hands on what is let in. Throws what the system says of the port. */
export async function listen(listening: Listening, mcp: Mcp) {
  const calls = new Set<Promise<void>>();
  const guard = createGuard(listening);
  let isEnding = false;
  const server = createServer(slowest, (incoming, response) => {
    const answered = answer(incoming, response, { guard, mcp, isEnding }).catch((error: unknown) => {
      log(error instanceof Error ? error.stack : error);
      if (response.headersSent) response.destroy();
      else return send(refusal(500, 'Internal error', { connection: 'close' }, -32603), response);
    });
    // An open stream of a client that listens is no call.
    if (incoming.method !== 'POST' || incoming.headers['mcp-method'] === 'subscriptions/listen') return;
    calls.add(answered);
    void answered.finally(() => calls.delete(answered));
  });
  const { host, port: wanted } = listening;
  await once(server.listen(wanted, host), 'listening');
  server.on('error', log);
  const { port, address, family } = server.address() as AddressInfo;
  return {
    /** The address of MCP. */
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${path}`,
    /** Takes no more requests; resolves when those that are calls have been answered. */
    drain() {
      isEnding = true;
      server.close();
      server.closeIdleConnections();
      return Promise.allSettled(calls);
    },
    /** Ends all connections. */
    close: () => server.closeAllConnections(),
  };
}

interface HttpServer {
  readonly guard: Guard;
  readonly mcp: Mcp;
  readonly isEnding: boolean;
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  { guard, mcp, isEnding }: HttpServer,
): Promise<void> {
  // What is not read to its end cannot be followed by another request.
  const refuse = (answered: Response) => {
    answered.headers.set('connection', 'close');
    return send(answered, response);
  };
  const token = guard(incoming);
  if (typeof token !== 'number') return refuse(token);
  if (incoming.url?.split('?')[0] !== path)
    return refuse(refusal(404, `There is nothing here; MCP is at ${path}.`));
  if (!methods.includes(incoming.method ?? ''))
    return refuse(refusal(405, 'Method not allowed', { allow: methods.join(', ') }));
  if (isEnding) return refuse(refusal(503, 'This server is ending.', { 'retry-after': '1' }));
  const request = webRequest(incoming, response);
  const onClose = (listener: () => void) => {
    response.once('close', listener);
  };
  const answered = (body: unknown) => mcp.answer({ request, body, token, onClose });
  if (incoming.method !== 'POST') return send(await answered(undefined), response);
  // Whoever leaves before the end of a request needs no answer.
  const read = await readBody(incoming).catch(() => 'left' as const);
  if (read === 'left') return;
  if (read === undefined)
    return refuse(refusal(413, `TOO_LARGE: a message has ${mostBytes / 1024 / 1024} MB at most.`));
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(read));
  } catch {
    return send(refusal(400, 'Parse error: the body is no JSON in UTF-8.', {}, -32700), response);
  }
  return send(await answered(body), response);
}

/**
 * The whole body; undefined when it has more than a message may. Rejects when the client leaves before its
 * end.
 */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // The connection is still to be answered on.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * A request as the SDK takes it, without its body. The signal comes when the client leaves before it is
 * answered.
 */
function webRequest(
  { headersDistinct, method = 'GET', url = '/' }: IncomingMessage,
  response: ServerResponse,
) {
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const left = new AbortController();
  response.once('close', () => response.writableFinished || left.abort());
  return new Request(new URL(url, 'http://localhost'), { method, headers, signal: left.signal });
}

/** Sends what the SDK answers; returns when it is sent, or the client has left. */
async function send(answered: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  if (answered.body === null) {
    response.end();
    return;
  }
  // A stream may have nothing to say for long.
  response.flushHeaders();
  // Who has left needs no answer; the stream is cancelled, and its maker told.
  await pipeline(Readable.fromWeb(answered.body as ReadableStream), response).catch(() => {});
}
