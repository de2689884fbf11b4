import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Listening } from '../beginning.ts';
import { createGuard } from './guard.ts';
import type { Mcp } from './mcp.ts';
import { mostBytes, readBody, refusal, send, webRequest } from './web.ts';

export interface Listener {
  /** Where MCP is. */
  readonly url: string;
  /** Takes no more requests; resolves when those that are calls have been answered. */
  drain(): Promise<unknown>;
  /** Ends all connections. */
  close(): void;
}

const path = '/mcp';
const methods = ['GET', 'POST', 'DELETE'];
/** Who sends slowly is not waited for. */
const slowest = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5000 };

/** Hands on what is let in. Throws what the system says of the port. */
export async function listen(listening: Listening, mcp: Mcp): Promise<Listener> {
  const calls = new Set<Promise<void>>();
  const guard = createGuard(listening);
  let isEnding = false;
  const server = createServer(slowest, (incoming, response) => {
    const answered = answer(incoming, response, { guard, mcp, isEnding }).catch((error: unknown) => {
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
      response.destroy();
    });
    // An open stream of a client that listens is no call.
    if (incoming.method !== 'POST' || incoming.headers['mcp-method'] === 'subscriptions/listen') return;
    calls.add(answered);
    void answered.finally(() => calls.delete(answered));
  });
  await bind(server, listening);
  const { port, address, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${path}`,
    drain() {
      isEnding = true;
      server.close();
      server.closeIdleConnections();
      return Promise.allSettled(calls);
    },
    close: () => server.closeAllConnections(),
  };
}

type Answering = { guard: ReturnType<typeof createGuard>; mcp: Mcp; isEnding: boolean };

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  { guard, mcp, isEnding }: Answering,
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
  const onClose = (listener: () => void) => void response.once('close', listener);
  const answered = (body: unknown) => mcp.answer({ request, body, token, onClose });
  if (incoming.method !== 'POST') return send(await answered(undefined), response);
  // Whoever leaves before the end of a request needs no answer.
  const read = await readBody(incoming).catch(() => 'left' as const);
  if (read === 'left') return;
  if (read === undefined)
    return refuse(refusal(413, `TOO_LARGE: a message has ${mostBytes / 1024 / 1024} MB at most.`));
  let body: unknown;
  try {
    body = JSON.parse(read.toString());
  } catch {
    return send(refusal(400, 'Parse error: the body is no JSON.', {}, -32700), response);
  }
  return send(await answered(body), response);
}

function bind(server: Server, { host, port }: Listening): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.off('error', reject).on('error', (error) => say(error.message));
      resolve();
    });
  });
}

const say = (text: string): void => void process.stderr.write(`toolcrib: ${text}\n`);
