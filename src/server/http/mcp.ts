import { randomUUID } from 'node:crypto';
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type Server,
} from '@modelcontextprotocol/server';
import { buildServer } from '../build-server.ts';
import { programsUri, type Crib } from '../crib.ts';
import { refusal } from './guard.ts';

/** A request that was let in. */
export interface Asked {
  readonly request: Request;
  /** The message of a POST. */
  readonly body: unknown;
  /** Which token came with it. */
  readonly token: number;
  /** Calls when the answer has been sent, or whoever asked has left. */
  onClose(listener: () => void): void;
}

/** Whoever has jobs, outputs and files seen of their own. */
interface HttpClient {
  /** Which token lets it in. */
  readonly token: number;
  readonly crib: Crib;
  /** Of one of 2025; a client of 2026 has none. */
  session?: { readonly server: Server; readonly transport: WebStandardStreamableHTTPServerTransport };
  /** Requests that are being answered, open streams included. */
  open: number;
  /** When the last one was. */
  usedAt: number;
}

/** With one token, at once. */
const mostClients = 100;
const say = (error: Error): void => void process.stderr.write(`toolcrib: ${error.message}\n`);

/**
 * Both eras behind one address: clients of 2025 have a session, those of 2026 a token and what they say they are. One
 * that has not been heard of for so long is forgotten, and its jobs end.
 */
export class Mcp {
  readonly #clients = new Map<string, HttpClient>();
  readonly #makeCrib: (client: string) => Crib;
  readonly #build: (crib: Crib) => Server;
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #tidying: NodeJS.Timeout;

  constructor(
    makeCrib: (client: string) => Crib,
    idleMs: number,
    build: (crib: Crib) => Server = buildServer,
  ) {
    this.#makeCrib = makeCrib;
    this.#build = build;
    this.#modern = createMcpHandler(
      ({ authInfo }) => {
        const client = this.#clients.get(authInfo?.clientId ?? '');
        if (!client) throw new Error('a request without a client');
        return build(client.crib);
      },
      { legacy: 'reject', onerror: say },
    );
    const tidy = () => {
      const before = performance.now() - idleMs;
      for (const [id, { open, usedAt }] of this.#clients)
        if (open === 0 && usedAt < before) void this.#end(id);
    };
    this.#tidying = setInterval(tidy, Math.min(idleMs / 2, 60_000)).unref();
  }

  async answer(asked: Asked): Promise<Response> {
    const { request, body, token } = asked;
    if (body === undefined || (await isLegacyRequest(request, body))) return this.#legacy(asked);
    const clientId = `${token} ${nameIn(body)}`;
    const client = this.#clients.get(clientId) ?? this.#add(clientId, token);
    if (!client) return tooMany();
    count(client, asked);
    return this.#modern.fetch(request, { parsedBody: body, authInfo: { token: '', clientId, scopes: [] } });
  }

  /** Tells everybody that there are other programs, and so other tools. */
  listChanged(): void {
    this.#modern.notify.toolsChanged();
    this.#modern.notify.resourceUpdated(programsUri);
    for (const { session } of this.#clients.values()) {
      session?.server.sendToolListChanged().catch(say);
      session?.server.sendResourceUpdated({ uri: programsUri }).catch(say);
    }
  }

  /** Tells one client that a resource of its own has changed. */
  updated(uri: string, client: string): void {
    const session = this.#clients.get(client)?.session;
    if (session) session.server.sendResourceUpdated({ uri }).catch(say);
    // Who listens for the same address of its own learns no more than that something has changed.
    else this.#modern.notify.resourceUpdated(uri);
  }

  async close(): Promise<void> {
    clearInterval(this.#tidying);
    await Promise.allSettled([...[...this.#clients.keys()].map((id) => this.#end(id)), this.#modern.close()]);
  }

  async #legacy(asked: Asked): Promise<Response> {
    const { request, body, token } = asked;
    const id = request.headers.get('mcp-session-id') ?? undefined;
    if (id === undefined && isInitializeRequest(body)) return this.#begin(asked);
    if (id === undefined)
      return refusal(400, 'Mcp-Session-Id is required, or the first request is initialize.');
    const client = this.#clients.get(id);
    // The same for the session of another token: whether there is one is not told.
    if (client?.session === undefined || client.token !== token)
      return refusal(404, 'Session not found', {}, -32001);
    count(client, asked);
    return client.session.transport.handleRequest(request, { parsedBody: body });
  }

  async #begin(asked: Asked): Promise<Response> {
    const id = randomUUID();
    const client = this.#add(id, asked.token);
    if (!client) return tooMany();
    count(client, asked);
    const server = this.#build(client.crib);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#end(id),
    });
    await server.connect(transport);
    client.session = { server, transport };
    const answer = await transport.handleRequest(asked.request, { parsedBody: asked.body });
    if (!answer.ok) await this.#end(id);
    return answer;
  }

  /** A new one. Where there are as many as may be, the one that was idle longest ends; undefined when all are busy. */
  #add(id: string, token: number): HttpClient | undefined {
    const same = [...this.#clients].filter(([, client]) => client.token === token);
    if (same.length >= mostClients) {
      const [idle] = same
        .filter(([, { open }]) => open === 0)
        .toSorted(([, one], [, other]) => one.usedAt - other.usedAt);
      if (!idle) return undefined;
      void this.#end(idle[0]);
    }
    const client = { token, crib: this.#makeCrib(id), open: 0, usedAt: performance.now() };
    this.#clients.set(id, client);
    return client;
  }

  /** Forgets a client, and ends its session and jobs. */
  async #end(id: string): Promise<void> {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    await Promise.allSettled([client?.session?.server.close(), client?.crib.end()]);
  }
}

/** Counts the client as there until it has its answer: a stream may be open all day. */
function count(client: HttpClient, { onClose }: Asked): void {
  client.open++;
  onClose(() => {
    client.open--;
    client.usedAt = performance.now();
  });
}

const tooMany = (): Response =>
  refusal(429, 'BUSY: as many clients are connected with this token as may be.', { 'retry-after': '30' });

/** What a client of 2026 says it is, with each request. */
function nameIn(body: unknown): string {
  const { params } = (body ?? {}) as { params?: { _meta?: Record<string, unknown> } };
  const { name, version } = (params?._meta?.[CLIENT_INFO_META_KEY] ?? {}) as Record<string, unknown>;
  return `${String(name)} ${String(version)}`.slice(0, 200);
}
