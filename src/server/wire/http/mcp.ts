import { randomUUID } from 'node:crypto';
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type Server,
} from '@modelcontextprotocol/server';
import { buildServer } from '../../server.ts';
import { programsUri, type Connection } from '../../connection.ts';
import { log } from '../../log.ts';
import { refusal } from './guard.ts';

/** A request that was let in. */
export interface HttpRequest {
  readonly request: Request;
  /** The message of a POST. */
  readonly body: unknown;
  /** The number of the token that came with it. */
  readonly token: number;
  /** Calls when the answer has been sent, or whoever asked has left. */
  onClose(listener: () => void): void;
}

/** Whoever has jobs, outputs and files seen of their own. */
interface HttpClient {
  /** The number of the token that lets it in. */
  readonly token: number;
  readonly connection: Connection;
  /** Of one of 2025; a client of 2026 has none. */
  session?: { readonly server: Server; readonly transport: WebStandardStreamableHTTPServerTransport };
  /** Requests that are being answered, open streams included. */
  open: number;
  /** The time of the last one. */
  usedAt: number;
}

/** With one token, at once. */
const mostClients = 100;

/**
 * Both eras behind one address: clients of 2025 have a session, those of 2026 a token and what they say they
 * are. One that has not been heard of for so long is forgotten, and its jobs end.
 */
export class Mcp {
  readonly #clients = new Map<string, HttpClient>();
  readonly #connect: (client: string) => Connection;
  readonly #build: (connection: Connection) => Server;
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #tidying: NodeJS.Timeout;

  constructor(
    connect: (client: string) => Connection,
    idleMs: number,
    build: (connection: Connection) => Server = buildServer,
  ) {
    this.#connect = connect;
    this.#build = build;
    this.#modern = createMcpHandler(
      ({ authInfo }) => {
        const { asked, id } = (authInfo?.extra ?? {}) as { asked: HttpRequest; id: string };
        const client = this.#clients.get(id) ?? this.#add(id, asked.token);
        count(client, asked);
        return build(client.connection);
      },
      { legacy: 'reject', onerror: log },
    );
    const tidy = () => {
      const before = performance.now() - idleMs;
      for (const [id, { open, usedAt }] of this.#clients)
        if (open === 0 && usedAt < before) void this.#end(id);
    };
    this.#tidying = setInterval(tidy, Math.min(idleMs / 2, 60_000)).unref();
  }

  async answer(asked: HttpRequest): Promise<Response> {
    const { request, body, token } = asked;
    if (body === undefined || (await isLegacyRequest(request, body))) return this.#legacy(asked);
    const id = `${token} ${nameIn(body)}`;
    if (!this.#clients.has(id) && !this.#hasRoom(token)) return tooMany();
    const extra = { asked, id };
    // Only once the SDK has found nothing wrong with the request is there a client.
    return this.#modern.fetch(request, {
      parsedBody: body,
      authInfo: { token: '', clientId: id, scopes: [], extra },
    });
  }

  /** Tells everybody that there are other programs, and so other tools. */
  listChanged(): void {
    this.#modern.notify.toolsChanged();
    this.#modern.notify.resourceUpdated(programsUri);
    for (const { session } of this.#clients.values()) {
      session?.server.sendToolListChanged().catch(log);
      session?.server.sendResourceUpdated({ uri: programsUri }).catch(log);
    }
  }

  /** Tells one client that a resource of its own has changed. */
  updated(uri: string, client: string): void {
    const session = this.#clients.get(client)?.session;
    if (session) session.server.sendResourceUpdated({ uri }).catch(log);
    // Who listens for the same address of its own learns no more than that something has changed.
    else this.#modern.notify.resourceUpdated(uri);
  }

  async close(): Promise<void> {
    clearInterval(this.#tidying);
    await Promise.allSettled([...[...this.#clients.keys()].map((id) => this.#end(id)), this.#modern.close()]);
  }

  async #legacy(asked: HttpRequest): Promise<Response> {
    const { request, body, token } = asked;
    const session = request.headers.get('mcp-session-id') ?? undefined;
    if (session === undefined && isInitializeRequest(body)) return this.#begin(asked);
    if (session === undefined)
      return refusal(400, 'Mcp-Session-Id is required, or the first request is initialize.');
    const client = this.#clients.get(session);
    // The same for the session of another token: whether there is one is not told.
    if (client?.session === undefined || client.token !== token)
      return refusal(404, 'Session not found', {}, -32001);
    count(client, asked);
    const { transport } = client.session;
    const answer = await transport.handleRequest(request, { parsedBody: body });
    // A call that is cancelled has no answer, and the SDK would keep its stream open.
    const { method, params } = (body ?? {}) as { method?: unknown; params?: { requestId?: string } };
    const id = params?.requestId;
    if (answer.ok && method === 'notifications/cancelled' && id !== undefined)
      await transport.send({ jsonrpc: '2.0', id, error: cancelled }).catch(() => {});
    return answer;
  }

  async #begin(asked: HttpRequest): Promise<Response> {
    const id = randomUUID();
    if (!this.#hasRoom(asked.token)) return tooMany();
    const client = this.#add(id, asked.token);
    count(client, asked);
    const server = this.#build(client.connection);
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

  #of(token: number): [string, HttpClient][] {
    return [...this.#clients].filter(([, client]) => client.token === token);
  }

  /** True where there are fewer clients than may be, or one of them is idle. */
  #hasRoom(token: number): boolean {
    const same = this.#of(token);
    return same.length < mostClients || same.some(([, { open }]) => open === 0);
  }

  /** A new one. Where there are as many as may be, the one that was idle longest ends. */
  #add(id: string, token: number): HttpClient {
    const same = this.#of(token);
    const idle = same.filter(([, { open }]) => open === 0);
    const [longest] = idle.toSorted(([, one], [, other]) => one.usedAt - other.usedAt);
    if (same.length >= mostClients && longest) void this.#end(longest[0]);
    const client = { token, connection: this.#connect(id), open: 0, usedAt: performance.now() };
    this.#clients.set(id, client);
    return client;
  }

  /** Forgets a client, and ends its session and jobs. */
  async #end(id: string): Promise<void> {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    await Promise.allSettled([client?.session?.server.close(), client?.connection.end()]);
  }
}

/** Counts the client as there until it has its answer: a stream may be open all day. */
function count(client: HttpClient, { onClose }: HttpRequest): void {
  client.open++;
  onClose(() => {
    client.open--;
    client.usedAt = performance.now();
  });
}

const cancelled = { code: -32000, message: 'Cancelled' };

const tooMany = (): Response =>
  refusal(429, 'BUSY: as many clients are connected with this token as may be.', { 'retry-after': '30' });

/** The name of a client of 2026, which comes with each request. */
function nameIn(body: unknown): string {
  const { params } = (body ?? {}) as { params?: { _meta?: Record<string, unknown> } };
  const { name, version } = (params?._meta?.[CLIENT_INFO_META_KEY] ?? {}) as Record<string, unknown>;
  return [name, version]
    .map((each) => (typeof each === 'string' ? each : ''))
    .join(' ')
    .slice(0, 200);
}
