import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';

/** The built program; `npm test` builds it first. */
export const program = fileURLToPath(new URL('../../dist/toolcrib.cjs', import.meta.url));

export interface ServerOptions {
  roots?: readonly string[];
  args?: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
  /** The key of a host that asks by itself; it comes through a pipe. */
  key?: string;
  /** A program that is started instead of the built one, with nothing but `args`. */
  instead?: string;
}

export const inherited = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

export function serveArguments({ roots = [], args = [], key, instead }: ServerOptions): string[] {
  if (instead !== undefined) return [instead, ...args];
  const keyed = key === undefined ? [] : ['--key-fd=3'];
  return [program, 'serve', ...keyed, ...roots.flatMap((root) => ['--root', root]), ...args];
}

export type Era = '2025-11-25' | '2026-07-28';
export const eras: readonly Era[] = ['2025-11-25', '2026-07-28'];

/** A client of the current SDK, in either era, connected to a server of its own. Close it. */
export async function connect(era: Era, options: ServerOptions = {}): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' } },
  );
  await client.connect(transportOf(options));
  return client;
}

const started = (options: ServerOptions) => ({
  command: process.execPath,
  args: serveArguments(options),
  env: options.env ?? inherited(),
  stderr: 'pipe' as const,
  ...(options.cwd ? { cwd: options.cwd } : {}),
});

export const transportOf = (options: ServerOptions): StdioClientTransport =>
  new StdioClientTransport(started(options));

/** A client of the first SDK. */
export async function connectV1(options: ServerOptions = {}): Promise<ClientV1> {
  const client = new ClientV1({ name: 'test-v1', version: '1' });
  await client.connect(transportOfV1(options));
  return client;
}

export const transportOfV1 = (options: ServerOptions): StdioClientTransportV1 =>
  new StdioClientTransportV1(started(options));

export interface RawServer {
  child: ChildProcessWithoutNullStreams;
  /** Every line of standard output so far. */
  lines: string[];
  send(message: Record<string, unknown>): void;
  /** The first message for which `wanted` says yes. */
  next(wanted: (message: Message) => boolean): Promise<Message>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

export type Message = Record<string, never> & { id?: number; method?: string; result?: never; error?: never };

/** The server with nothing between it and the test: JSON-RPC lines. */
export function startRaw(options: ServerOptions = {}): RawServer {
  const { instead, args = [] } = options;
  const line = instead === undefined ? serveArguments(options) : [instead, ...args];
  const child = spawn(process.execPath, line, {
    env: options.env ?? inherited(),
    cwd: options.cwd,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  }) as ChildProcessWithoutNullStreams;
  (child.stdio[3] as Writable).on('error', () => {}).end(options.key ?? '');
  const lines: string[] = [];
  const waiting: { wanted: (message: Message) => boolean; resolve: (message: Message) => void }[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      lines.push(line);
      const message = JSON.parse(line) as Message;
      for (const one of waiting.filter(({ wanted }) => wanted(message))) {
        waiting.splice(waiting.indexOf(one), 1);
        one.resolve(message);
      }
    }
  });
  return {
    child,
    lines,
    send: (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    next: (wanted) =>
      new Promise((resolve) => {
        const already = lines.map((line) => JSON.parse(line) as Message).find(wanted);
        if (already) resolve(already);
        else waiting.push({ wanted, resolve });
      }),
    ended: new Promise((resolve) => child.once('exit', resolve)),
  };
}

/** Opens a 2025-11-25 connection by hand. */
export async function initialize(server: RawServer, capabilities: object = {}): Promise<Message> {
  server.send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '1' } },
  });
  const answer = await server.next((message) => message.id === 1);
  server.send({ method: 'notifications/initialized' });
  return answer;
}
