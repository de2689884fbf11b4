import type { Client, Transport } from '@modelcontextprotocol/client';
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServerConfig } from '../config/server-config.ts';
import { ChatError } from '../errors.ts';
import type { ElicitAnswer, ElicitRequest } from '../person/form.ts';
import { withinOrigin } from '../providers/guarded-fetch.ts';
import { oneLine } from '../text/one-line.ts';
import type { Trace } from './trace.ts';

/** A server of the first generation may not answer what it does not know; over HTTP, silence is an outage. */
const probeMs = { stdio: 2_000, http: 30_000 } as const;

/**
 * What a program needs to run as it does for the person, and which chooses no code to run. A proxy's address may
 * hold a password, but without it nothing could be reached. More has to be named in its `env`. The SDK adds some
 * for Windows.
 */
const harmless = new RegExp(
  `^(${[
    'PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\\w+|TZ|TERM|COLORTERM|NO_COLOR|TMPDIR|TEMP|TMP|XDG_\\w+',
    'DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS',
  ].join('|')})$`,
  'i',
);

/** What a server may want of the host. */
export interface Host {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly trace?: Trace | undefined;
  roots(): readonly string[];
  elicit(request: ElicitRequest): Promise<ElicitAnswer>;
  log(text: string): void;
  warn(text: string): void;
}

interface Changes {
  toolsChanged(client: Client): void;
  promptsChanged(client: Client): void;
}

/** A client and its way to a server, before anything was said. */
export interface Link {
  readonly client: Client;
  readonly transport: Transport;
  /** The process, once it was started; undefined over HTTP. */
  pid(): number | undefined;
  /** What it last wrote to standard error: mostly the reason why it ended. */
  lastWords(): string;
}

/** Loads the SDK and makes what is needed to reach a server; nothing is started yet. */
export async function openLink(config: ServerConfig, host: Host, changes: Changes): Promise<Link> {
  const client = await createClient(config, host, changes);
  const way = config.kind === 'http' ? await overHttp(config) : await overStdio(config, host);
  if (host.trace) tap(way.transport, config.name, host.trace);
  return { client, ...way };
}

/** A client that answers what this server may ask, in either revision. */
async function createClient(config: ServerConfig, host: Host, changes: Changes): Promise<Client> {
  const { name, isOwn, protocol, kind } = config;
  const { Client } = await import('@modelcontextprotocol/client');
  const listener = (onChanged: (client: Client) => void) => ({
    autoRefresh: false,
    onChanged: () => onChanged(client),
  });
  // Our own is told of new roots at once, which only the older revision can do, and hands us plans instead of asking.
  const usual = isOwn || protocol === '2025-11-25' ? ({ mode: 'legacy' } as const) : undefined;
  const asked =
    protocol === 'auto'
      ? ({ mode: 'auto', probe: { timeoutMs: probeMs[kind] } } as const)
      : { mode: { pin: protocol } };
  const client: Client = new Client(host.clientInfo, {
    capabilities: { roots: { listChanged: true }, ...(!isOwn && { elicitation: { form: {} } }) },
    versionNegotiation: usual ?? asked,
    listChanged: { tools: listener(changes.toolsChanged), prompts: listener(changes.promptsChanged) },
  });
  // What a server writes besides messages ends up here.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  client.onerror = (error) =>
    host.log(`${name}: ${'issues' in error ? 'it wrote what is no message' : oneLine(error.message)}`);
  client.setRequestHandler('roots/list', () => ({
    roots: host.roots().map((path) => ({ uri: pathToFileURL(path).href, name: basename(path) || path })),
  }));
  if (isOwn) return client;
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
    // A form is all we said we can do.
    if (!('requestedSchema' in params)) return { action: 'decline' };
    const { message, requestedSchema } = params;
    return {
      ...(await host.elicit({ server: name, message, signal, requestedSchema: { ...requestedSchema } })),
    };
  });
  return client;
}

type Way = Omit<Link, 'client'>;

async function overHttp({ url, headers }: Extract<ServerConfig, { kind: 'http' }>): Promise<Way> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const elsewhere = (to: string) =>
    new ChatError('SERVER_FAILED', `it sends requests on to ${to}: if that is right, make it the url`);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: withinOrigin(fetch, elsewhere),
  });
  return { transport, pid: () => undefined, lastWords: () => '' };
}

async function overStdio(config: Extract<ServerConfig, { kind: 'stdio' }>, { env, log }: Host): Promise<Way> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { command, args, cwd, isOwn } = config;
  // Our own server gives its children a short list itself.
  const inherited = Object.entries(env).filter(([name]) => isOwn || harmless.test(name));
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
  let lastWords = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    for (const said of chunk.toString().split('\n')) {
      const line = oneLine(said, 500);
      if (line !== '') log(`${config.name}: ${(lastWords = line)}`);
    }
  });
  const handKey = isOwn ? keyed(transport) : undefined;
  // The SDK forgets the process as soon as it begins to close it.
  let pid: number | undefined;
  const start = transport.start.bind(transport);
  transport.start = async () => {
    await start();
    pid = transport.pid ?? undefined;
    await handKey?.();
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  transport.onclose = () => (pid = undefined);
  return { transport, pid: () => pid, lastWords: () => lastWords };
}

/**
 * Our own server hands out plans for a key: the first line that it is sent, and then part of each call. Below what is
 * traced, so that it is nowhere else. The SDK starts no process with one more pipe.
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

/** The SDK keeps handlers that were set before, and finds its stdio transport by its prototype: no wrapper would do. */
function tap(transport: Transport, server: string, trace: Trace): void {
  const send = transport.send.bind(transport);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  transport.onmessage = (message: unknown) => trace('in', server, message);
  transport.send = (message, options) => {
    trace('out', server, message);
    return send(message, options);
  };
}
