import { randomBytes } from 'node:crypto';
import type { Transport } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/server-config.ts';
import { ChatError } from '../errors.ts';
import { withinOrigin } from '../providers/guarded-fetch.ts';
import { oneLine } from '../text/one-line.ts';
import { endProcesses, within } from './ending.ts';
import type { Trace } from './trace.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A server that gets no more input has this long to end by itself; the SDK would wait four seconds. */
const patienceMs = 1000;

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

/** A way to a server, before anything was said. */
export interface Line {
  readonly transport: Transport;
  /** The process, once it was started; undefined over HTTP. */
  pid(): number | undefined;
  /** What it last wrote to standard error: mostly the reason why it ended. */
  lastWords(): string;
  /** Ends the input, then the process; over HTTP, the session. At most 2 seconds. */
  close(): Promise<void>;
}

interface Surroundings {
  readonly env: Environment;
  readonly trace?: Trace | undefined;
  log(text: string): void;
}

/** Loads the transport a server needs and makes one, not started yet. */
export async function openTransport(config: ServerConfig, world: Surroundings): Promise<Line> {
  const line = config.kind === 'http' ? await overHttp(config) : await overStdio(config, world);
  if (world.trace) tap(line.transport, config.name, world.trace);
  return line;
}

async function overHttp({ url, headers }: Extract<ServerConfig, { kind: 'http' }>): Promise<Line> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const elsewhere = (to: string) =>
    new ChatError('SERVER_FAILED', `it sends requests on to ${to}: if that is right, make it the url`);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: withinOrigin(fetch, elsewhere),
  });
  return {
    transport,
    pid: () => undefined,
    lastWords: () => '',
    async close() {
      // Politeness: a server that does not answer forgets the session by itself.
      if (transport.sessionId !== undefined) await within(patienceMs, transport.terminateSession());
      await within(patienceMs, transport.close());
    },
  };
}

async function overStdio(
  config: Extract<ServerConfig, { kind: 'stdio' }>,
  { env, log }: Surroundings,
): Promise<Line> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const isOwn = config.isOwn;
  // Our own server gives its children a short list itself.
  const inherited = Object.entries(env).filter(([name]) => isOwn || harmless.test(name));
  const defined = [...inherited, ...Object.entries(config.env)].filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const transport = new StdioClientTransport({
    command: config.command,
    args: [...config.args, ...(isOwn ? ['--key-fd=0'] : [])],
    env: Object.fromEntries(defined),
    // Inherited, it would be written into the prompt.
    stderr: 'pipe',
    ...(config.cwd !== undefined && { cwd: config.cwd }),
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
  return {
    transport,
    pid: () => pid,
    lastWords: () => lastWords,
    async close() {
      const closed = transport.close();
      if (await within(patienceMs, closed)) return;
      if (pid !== undefined) endProcesses([pid]);
      await within(patienceMs / 2, closed);
    },
  };
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

/**
 * The SDK keeps handlers that were set before it connects, and finds its stdio transport by its prototype: no
 * wrapper would do.
 */
function tap(transport: Transport, server: string, trace: Trace): void {
  const send = transport.send.bind(transport);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  transport.onmessage = (message: unknown) => trace('in', server, message);
  transport.send = (message, options) => {
    trace('out', server, message);
    return send(message, options);
  };
}
