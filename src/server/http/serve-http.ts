import { randomBytes } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../core/settings.ts';
import { createAudit } from '../../machine/audit/audit.ts';
import { stateFolder } from '../../machine/folders.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { createAsking } from '../ask.ts';
import type { Found, Listening } from '../beginning.ts';
import { outputUri, type Crib } from '../tool-call.ts';
import { maskOf } from '../call-services.ts';
import { openRoots } from '../opened-roots.ts';
import { createToolbox, historyOf } from '../toolbox.ts';
import { HttpClients } from './clients.ts';
import { createGuard, isLoopback } from './guard.ts';
import { Mcp } from './mcp.ts';
import { mostBytes, readBody, refusal, send, webRequest } from './web.ts';

const path = '/mcp';
/** A client that is not heard of any more. */
const idleMs = 60 * 60 * 1000;
/** How long calls may go on when the server is told to end: Docker kills after ten seconds. */
const graceMs = 8000;
/** Who sends slowly is not waited for. */
const slowest = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5000 };

/** Serves MCP over HTTP until a signal ends it. Does not return before. Throws what the system says of the port. */
export async function serveHttp(settings: Settings, listening: Listening, found: Found): Promise<void> {
  const { machine, processes } = found;
  // What takes longer is known before the first list is given.
  await machine.settle();
  const instance = randomBytes(5).readUIntBE(0, 5).toString(36).padStart(6, '0').slice(-6);
  const isLocal = isLoopback(listening.host);
  const updated = (client: string, uri: string) => mcp.updated(uri, client);
  const clients = new HttpClients(cribs(settings, found, { instance, isLocal, updated }), idleMs);
  const mcp = new Mcp(clients);
  machine.onChange(() => mcp.listChanged());
  const calls = new Set<Promise<void>>();
  const guard = createGuard(listening);
  let isEnding = false;
  const server = createServer(slowest, (incoming, response) => {
    const answered = answer(incoming, response, { guard, mcp, isEnding }).catch((error: unknown) => {
      process.stderr.write(
        `toolcrib: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      );
      response.destroy();
    });
    // An open stream of a client that listens is no call.
    if (incoming.method !== 'POST' || incoming.headers['mcp-method'] === 'subscriptions/listen') return;
    calls.add(answered);
    void answered.finally(() => calls.delete(answered));
  });
  await listen(server, listening);
  const { port } = server.address() as AddressInfo;
  process.stderr.write(
    `toolcrib: serving http://${listening.host.includes(':') ? `[${listening.host}]` : listening.host}:${port}${path}` +
      ` as instance ${instance}; clients need the token in ${shownPath(listening.tokens.file)}\n`,
  );
  await signalled();
  isEnding = true;
  server.close();
  server.closeIdleConnections();
  await Promise.race([Promise.allSettled(calls), sleep(graceMs, undefined, { ref: false }), signalled()]);
  await Promise.allSettled([clients.endAll(), processes.endAll(), mcp.close()]);
  server.closeAllConnections();
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

/** Makes what a client has of its own: nobody reads or stops what another has started. */
function cribs(
  settings: Settings,
  found: Found,
  { updated, ...here }: { instance: string; isLocal: boolean; updated(client: string, uri: string): void },
): (client: string) => Crib {
  const { machine, manifest, signs, trace } = found;
  const { host } = machine;
  const opened = openRoots(settings, machine, manifest);
  const recordCall = createAudit({
    folder: stateFolder(host.platform, host.env, host.home),
    mask: maskOf(host, settings),
  });
  let kept: ReturnType<typeof historyOf> | undefined;
  const history = () => (kept ??= historyOf(machine));
  return (client) => ({
    toolbox: createToolbox(found, machine, settings, {
      ...here,
      signs,
      history,
      recordCall,
      jobEnded: (handle) => updated(client, outputUri(handle)),
    }),
    client: `http ${client}`,
    // Folders of a client are folders of its machine: only the operator knows which are meant here.
    clientRoots: { of: () => Promise.resolve({ kind: 'known', folders: undefined }), forget() {} },
    asking: createAsking(),
    trace,
    plans: undefined,
    opened,
    called() {},
    listing() {},
  });
}

function listen(server: HttpServer, { host, port }: Listening): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server
        .off('error', reject)
        .on('error', (error) => process.stderr.write(`toolcrib: ${error.message}\n`));
      resolve();
    });
  });
}

const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
