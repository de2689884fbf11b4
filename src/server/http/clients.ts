import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Crib } from '../tool-call.ts';

/** What a session of 2025 is, which a client of 2026 has none of. */
export interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
}

/** Whoever has jobs, outputs and files seen of their own. */
export interface HttpClient {
  /** Which token lets it in. */
  readonly token: number;
  readonly crib: Crib;
  session?: Session;
  /** Requests that are being answered, open streams included. */
  open: number;
  /** When the last one was. */
  usedAt: number;
}

/** With one token, at once. */
const mostClients = 100;

/** All clients of one process. One that has not been heard of for so long is forgotten, and its jobs end. */
export class HttpClients {
  readonly #clients = new Map<string, HttpClient>();
  readonly #makeCrib: (name: string) => Crib;
  readonly #tidying: NodeJS.Timeout;

  constructor(makeCrib: (name: string) => Crib, idleMs: number) {
    this.#makeCrib = makeCrib;
    const tidy = () => {
      const before = performance.now() - idleMs;
      for (const [key, { open, usedAt }] of this.#clients)
        if (open === 0 && usedAt < before) void this.end(key);
    };
    this.#tidying = setInterval(tidy, Math.min(idleMs / 2, 60_000)).unref();
  }

  get(key: string): HttpClient | undefined {
    return this.#clients.get(key);
  }

  get sessions(): Session[] {
    return [...this.#clients.values()].flatMap(({ session }) => session ?? []);
  }

  /** A new one. Where there are as many as may be, the one that was idle longest ends; undefined when all are busy. */
  add(key: string, token: number): HttpClient | undefined {
    const same = [...this.#clients].filter(([, client]) => client.token === token);
    if (same.length >= mostClients) {
      const [idle] = same
        .filter(([, { open }]) => open === 0)
        .toSorted(([, one], [, other]) => one.usedAt - other.usedAt);
      if (!idle) return undefined;
      void this.end(idle[0]);
    }
    const client = { token, crib: this.#makeCrib(key), open: 0, usedAt: performance.now() };
    this.#clients.set(key, client);
    return client;
  }

  /** Forgets a client, and ends its session and jobs. */
  async end(key: string): Promise<void> {
    const client = this.#clients.get(key);
    this.#clients.delete(key);
    await Promise.allSettled([client?.session?.server.close(), client?.crib.toolbox.end()]);
  }

  async endAll(): Promise<void> {
    clearInterval(this.#tidying);
    await Promise.all([...this.#clients.keys()].map((key) => this.end(key)));
  }
}
