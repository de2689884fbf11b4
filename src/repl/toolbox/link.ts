import type { Client, ElicitRequestFormParams, Transport } from '@modelcontextprotocol/client';
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServerConfig } from '../config/mcp-config.ts';
import { jsonLinesTo } from '../files/chat-files.ts';
import type { ElicitAnswer, ElicitRequest } from '../person/form.ts';
import { inLine } from '../terminal/printable.ts';
import { objectOf } from '../text/json.ts';

/**
 * The variables that a program needs to run as it does for the person, and which chooses no code to run. A
 * proxy's address may hold a password, but without it nothing could be reached. More has to be named in its
 * `env`. The SDK adds some for Windows.
 */
const harmless = new RegExp(
  `^(${[
    'PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\\w+|TZ|TERM|COLORTERM|NO_COLOR|TMPDIR|TEMP|TMP|XDG_\\w+',
    'DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS',
  ].join('|')})$`,
  'i',
);

/** The chat as its MCP clients use it. */
export interface ChatHost {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly env: NodeJS.ProcessEnv;
  readonly trace?: MessageTrace | undefined;
  roots(): readonly string[];
  elicit(request: ElicitRequest): Promise<ElicitAnswer>;
  log(text: string): void;
  warn(text: string): void;
}

/** A client and its way to a server. */
export interface Link {
  readonly client: Client;
  readonly transport: Transport;
  /** The process; undefined over HTTP. */
  pid: number | undefined;
  /** The line it last wrote to standard error: mostly the reason why it ended. */
  lastWords: string;
}

/**
 * Loads the SDK and makes what is needed to reach a server; nothing is started yet. `changed`: of its lists.
 */
export async function openLink(
  config: ServerConfig,
  host: ChatHost,
  changed: { tools(client: Client): void; prompts(client: Client): void },
): Promise<Link> {
  const { name, isOwn, protocol, url, headers } = config;
  const { Client } = await import('@modelcontextprotocol/client');
  const pinned = protocol === '2025-11-25' ? 'legacy' : { pin: protocol };
  const mode = protocol === 'auto' ? 'auto' : pinned;
  // A server of the first generation may not answer what it does not know; over HTTP, silence is an outage.
  const probe = { timeoutMs: url === undefined ? 2_000 : 30_000 };
  const client: Client = new Client(host.clientInfo, {
    // Our own hands us plans instead of asking.
    capabilities: { roots: { listChanged: true }, ...(!isOwn && { elicitation: { form: {} } }) },
    versionNegotiation: { mode, ...(mode === 'auto' && { probe }) },
    listChanged: {
      tools: { autoRefresh: false, onChanged: () => changed.tools(client) },
      prompts: { autoRefresh: false, onChanged: () => changed.prompts(client) },
    },
  });
  // What a server writes besides messages ends up here.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  client.onerror = (error) =>
    host.log(`${name}: ${'issues' in error ? 'it wrote what is no message' : inLine(error.message)}`);
  client.setRequestHandler('roots/list', () => ({
    roots: host.roots().map((root) => ({ uri: pathToFileURL(root).href, name: basename(root) || root })),
  }));
  if (!isOwn)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
      // A form is all we said we can do, and all that the SDK lets through.
      const { message, requestedSchema } = params as ElicitRequestFormParams;
      const schema = { ...requestedSchema };
      return { ...(await host.elicit({ server: name, message, signal, requestedSchema: schema })) };
    });
  if (url === undefined) return overStdio(client, config, host);
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  // It follows redirects only within the origin.
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  tap(transport, name, host.trace);
  return { client, transport, pid: undefined, lastWords: '' };
}

async function overStdio(client: Client, config: ServerConfig, { env, log, trace }: ChatHost): Promise<Link> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { name, command = '', args, cwd, isOwn } = config;
  // Our own server gives its children a short list itself.
  const inherited = Object.entries(env).filter(([variable]) => isOwn || harmless.test(variable));
  const defined = [...inherited, ...Object.entries(config.env)].filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const transport = new StdioClientTransport({
    command,
    args: [...args, ...(isOwn ? ['--key-fd=0'] : [])],
    env: Object.fromEntries(defined),
    // Inherited, it would be written into the prompt.
    stderr: 'pipe',
    ...(cwd !== undefined && { cwd }),
  });
  // The SDK forgets the process as soon as it begins to close it.
  const link: Link = { client, transport, pid: undefined, lastWords: '' };
  transport.stderr?.on('data', (chunk: Buffer) => {
    for (const said of chunk.toString().split('\n')) {
      const line = inLine(said, 500);
      if (line === '') continue;
      link.lastWords = line;
      log(`${name}: ${line}`);
    }
  });
  const handKey = isOwn ? keyed(transport) : undefined;
  const start = transport.start.bind(transport);
  transport.start = async () => {
    await start();
    link.pid = transport.pid ?? undefined;
    await handKey?.();
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  transport.onclose = () => {
    link.pid = undefined;
  };
  tap(transport, name, trace);
  return link;
}

/**
 * Our own server hands out plans for a key: the first line that it is sent, and then part of each call. Below
 * what is traced, so that it is nowhere else. The SDK starts no process with one more pipe.
 */
function keyed(transport: Transport): () => Promise<void> {
  const key = randomBytes(32).toString('hex');
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!('method' in message) || message.method !== 'tools/call') return send(message, options);
    const _meta = { ...message.params?._meta, 'toolcrib/key': key };
    return send({ ...message, params: { ...message.params, _meta } }, options);
  };
  return () => send({ jsonrpc: '2.0', method: 'notifications/toolcrib/key', params: { key } });
}

/** Told of every message, as it is on the wire. */
export type MessageTrace = (direction: 'out' | 'in', server: string, message: unknown) => void;

/**
 * The SDK keeps handlers that were set before, and finds its stdio transport by its prototype: no wrapper
 * would do.
 */
function tap(transport: Transport, server: string, trace: MessageTrace | undefined): void {
  if (!trace) return;
  const send = transport.send.bind(transport);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  transport.onmessage = (message: unknown) => trace('in', server, message);
  transport.send = (message, options) => {
    trace('out', server, message);
    return send(message, options);
  };
}

/** Appends every message to a file. Throws USAGE when it cannot be written. */
export function traceTo(path: string): MessageTrace {
  const write = jsonLinesTo(path, 'trace');
  return (direction, server, message) => write({ ts: new Date().toISOString(), server, direction, message });
}

/**
 * Ends processes while nothing else may run (a crash, a second Ctrl-C, a server that does not end by itself):
 * TERM, so that servers end what they started, and KILL 0.3 seconds later.
 */
export function endProcesses(pids: readonly number[]): void {
  const running = pids.filter((pid) => signalTo(pid, 'SIGTERM'));
  if (running.length === 0) return;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  for (const pid of running) signalTo(pid, 'SIGKILL');
}

function signalTo(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // It has ended, as was wanted.
  }
}

/** The reason why a server could not be started or did not answer, in one line. */
export function failureText(error: unknown, lastWords = ''): string {
  const { code, status, message } = factsOf(error);
  const said = lastWords === '' ? '' : ` (it said: ${inLine(lastWords)})`;
  if (typeof code === 'number') return `error ${code}: ${inLine(message)}`;
  // The message names the program: "spawn name ENOENT".
  if (code === 'ENOENT') return `its program, or the folder it runs in, was not found (${inLine(message)})`;
  if (code === 'CONNECTION_CLOSED') return `it ended${said}`;
  if (code === 'REQUEST_TIMEOUT') return `it did not answer in time${said}`;
  if (status === 401 || status === 403)
    return `it refused the key (HTTP ${status}); "headers" in mcp.json may hold one`;
  return `${typeof status === 'number' ? `HTTP ${status}: ` : ''}${inLine(message)}${said}`;
}

/** Tells whether the other side answered, if only with an error: then the connection is good. */
export const isAnswer = (error: unknown): boolean => typeof factsOf(error).code === 'number';

/** `code`: a number in an answer of JSON-RPC, a word from the SDK or from the system. */
function factsOf(error: unknown): { code: unknown; status: unknown; message: string } {
  const { code, status, cause } = objectOf(error);
  const message = error instanceof Error ? error.message : String(error);
  // `fetch` hides what went wrong there.
  if (status !== undefined || !(cause instanceof Error)) return { code, status, message };
  const inner = factsOf(cause);
  return { ...inner, code: code ?? inner.code, message: inner.message || `${message} ${String(inner.code)}` };
}
