import { randomUUID } from 'node:crypto';
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { buildServer } from '../build-server.ts';
import type { HttpClient, HttpClients } from './clients.ts';
import { refusal } from './web.ts';

/** Both eras of the protocol behind one address. */
export interface Mcp {
  answer(asked: Asked): Promise<Response>;
  listChanged(): void;
  close(): Promise<void>;
}

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

/** Clients of 2025 have a session; those of 2026 are known by their token and by what they say they are. */
export function createMcp(clients: HttpClients): Mcp {
  const modern = createMcpHandler(
    ({ authInfo }) => {
      const client = clients.get(authInfo?.clientId ?? '');
      if (!client) throw new Error('a request without a client');
      return buildServer(client.crib);
    },
    { legacy: 'reject', onerror: say },
  );

  async function legacy(asked: Asked): Promise<Response> {
    const { request, body, token } = asked;
    const id = request.headers.get('mcp-session-id') ?? undefined;
    if (id === undefined && isInitializeRequest(body)) return begin(asked);
    const client = id === undefined ? undefined : clients.get(id);
    // The same for the session of another token: whether there is one is not told.
    if (id !== undefined && (client?.session === undefined || client.token !== token))
      return refusal(404, 'Session not found', {}, -32001);
    if (!client?.session)
      return refusal(400, 'Mcp-Session-Id is required, or the first request is initialize.');
    count(client, asked);
    return client.session.transport.handleRequest(request, { parsedBody: body });
  }

  async function begin(asked: Asked): Promise<Response> {
    const id = randomUUID();
    const client = clients.add(id, asked.token);
    if (!client) return tooMany();
    count(client, asked);
    const server = buildServer(client.crib);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => clients.end(id),
    });
    await server.connect(transport);
    client.session = { server, transport };
    const answer = await transport.handleRequest(asked.request, { parsedBody: asked.body });
    if (!answer.ok) await clients.end(id);
    return answer;
  }

  return {
    async answer(asked) {
      const { request, body, token } = asked;
      if (body === undefined || (await isLegacyRequest(request, body))) return legacy(asked);
      const clientId = `${token} ${nameIn(body)}`;
      const client = clients.get(clientId) ?? clients.add(clientId, token);
      if (!client) return tooMany();
      const authInfo = { token: '', clientId, scopes: [] };
      count(client, asked);
      return modern.fetch(request, { parsedBody: body, authInfo });
    },
    listChanged() {
      modern.notify.toolsChanged();
      for (const { server } of clients.sessions) server.sendToolListChanged().catch(say);
    },
    close: () => modern.close(),
  };
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
