import { initialize, startRaw, type Era, type RawServer, type ServerOptions } from '../support/server.ts';

/** The answer of a server to a call, whatever it is. */
export interface Answer {
  readonly result?: {
    readonly isError?: boolean;
    readonly content?: readonly { readonly type: string; readonly text?: string }[];
    readonly structuredContent?: unknown;
    readonly requestState?: string;
    readonly resultType?: string;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
  readonly error?: { readonly code: number; readonly message: string };
}

export interface RawClient {
  readonly server: RawServer;
  /** Calls a tool; `more` takes the place of, or comes beside, what a well-behaved client sends. */
  call(name: string, given?: unknown, more?: Record<string, unknown>): Promise<Answer>;
  end(): Promise<void>;
}

/** The description that a client of 2026-07-28 sends of itself with each request. */
export const envelope = (elicitation: object | undefined) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': elicitation === undefined ? {} : { elicitation },
});

/** A client without an SDK, which sends what it likes and sees every line. End it. */
export async function rawClient(era: Era, options: ServerOptions, elicitation?: object): Promise<RawClient> {
  const server = startRaw(options);
  if (era === '2025-11-25') await initialize(server, elicitation === undefined ? {} : { elicitation });
  let id = 100;
  return {
    server,
    async call(name, given = {}, more = {}) {
      const mine = ++id;
      const { _meta, ...rest } = more;
      const meta = { ...(era === '2026-07-28' && envelope(elicitation)), ...(_meta as object | undefined) };
      server.send({
        id: mine,
        method: 'tools/call',
        params: { name, arguments: given, ...rest, ...(Object.keys(meta).length > 0 && { _meta: meta }) },
      });
      return (await server.next((message) => message.id === mine)) as Answer;
    },
    async end() {
      server.child.stdin.end();
      await server.ended;
    },
  };
}

/** The text of an answer, or what the protocol says is wrong. */
export const saidIn = ({ result, error }: Answer): string =>
  error ? `${error.code}: ${error.message}` : (result?.content ?? []).map(({ text = '' }) => text).join('\n');
