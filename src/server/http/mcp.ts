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
import { programsUri, type Crib } from '../tool-call.ts';
import type { HttpClient, HttpClients } from './clients.ts';
import { refusal } from './web.ts';

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

const say = (error: Error): void => void process.stderr.write(`toolcrib: ${error.message}\n`);

/** Both eras behind one address: clients of 2025 have a session, those of 2026 a token and what they say they are. */
export class Mcp {
  readonly #clients: HttpClients;
  readonly #build: (crib: Crib) => Server;
  readonly #modern: ReturnType<typeof createMcpHandler>;

  constructor(clients: HttpClients, build: (crib: Crib) => Server = buildServer) {
    this.#clients = clients;
    this.#build = build;
    this.#modern = createMcpHandler(
      ({ authInfo }) => {
        const client = clients.get(authInfo?.clientId ?? '');
        if (!client) throw new Error('a request without a client');
        return build(client.crib);
      },
      { legacy: 'reject', onerror: say },
    );
  }

  async answer(asked: Asked): Promise<Response> {
    const { request, body, token } = asked;
    if (body === undefined || (await isLegacyRequest(request, body))) return this.#legacy(asked);
    const clientId = `${token} ${nameIn(body)}`;
    const client = this.#clients.get(clientId) ?? this.#clients.add(clientId, token);
    if (!client) return tooMany();
    count(client, asked);
    const authInfo = { token: '', clientId, scopes: [] };
    return this.#modern.fetch(request, { parsedBody: body, authInfo });
  }

  /** Tells everybody that there are other programs, and so other tools. */
  listChanged(): void {
    this.#modern.notify.toolsChanged();
    this.#modern.notify.resourceUpdated(programsUri);
    for (const { server } of this.#clients.sessions) {
      server.sendToolListChanged().catch(say);
      server.sendResourceUpdated({ uri: programsUri }).catch(say);
    }
  }

  /** Tells one client that a resource of its own has changed. */
  updated(uri: string, client: string): void {
    const session = this.#clients.get(client)?.session;
    if (session) session.server.sendResourceUpdated({ uri }).catch(say);
    // Who listens for the same address of its own learns no more than that something has changed.
    else this.#modern.notify.resourceUpdated(uri);
  }

  close(): Promise<void> {
    return this.#modern.close();
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
    const client = this.#clients.add(id, asked.token);
    if (!client) return tooMany();
    count(client, asked);
    const server = this.#build(client.crib);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#clients.end(id),
    });
    await server.connect(transport);
    client.session = { server, transport };
    const answer = await transport.handleRequest(asked.request, { parsedBody: asked.body });
    if (!answer.ok) await this.#clients.end(id);
    return answer;
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
