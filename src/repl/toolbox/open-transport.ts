import type { Transport } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/server-config.ts';
import { signalTo } from './end-processes.ts';
import type { Environment } from './fingerprints.ts';
import { oneLine } from './one-line.ts';
import type { Trace } from './trace.ts';
import { within } from './within.ts';

/** Lines of standard error that are logged for one start; a server in a loop must not fill the disk. */
const mostLogLines = 2000;
/** A server that gets no more input has this long to end, and once more as long after TERM. */
const patienceMs = 1000;

/** A way to a server, before anything was said. */
export interface Line {
  readonly transport: Transport;
  /** The process, once it was started; undefined over HTTP. */
  pid(): number | undefined;
  /** What it last wrote to standard error: mostly the reason why it ended. */
  lastWords(): string;
  /** Ends the input, then TERM, then KILL; over HTTP, the session. At most 2.5 seconds. */
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
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
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
  const defined = Object.entries({ ...env, ...config.env }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const transport = new StdioClientTransport({
    command: config.command,
    args: [...config.args],
    env: Object.fromEntries(defined),
    // Inherited, it would be written into the prompt.
    stderr: 'pipe',
    ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
  });
  let lines = 0;
  let lastWords = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    for (const line of chunk
      .toString()
      .split('\n')
      .map((one) => oneLine(one, 500))) {
      if (line === '') continue;
      lastWords = line;
      if (lines++ < mostLogLines) log(`${config.name}: ${line}`);
    }
  });
  // The SDK forgets the process as soon as it begins to close it.
  let pid: number | undefined;
  const start = transport.start.bind(transport);
  transport.start = async () => {
    await start();
    pid = transport.pid ?? undefined;
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  transport.onclose = () => (pid = undefined);
  return {
    transport,
    pid: () => pid,
    lastWords: () => lastWords,
    async close() {
      const ended = new Promise<void>((resolve) => {
        const before = transport.onclose;
        if (pid === undefined) return resolve();
        // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
        transport.onclose = () => {
          before?.();
          resolve();
        };
      });
      // It ends the input at once and would wait longer than a person who leaves.
      transport.close().catch(() => {});
      if (await within(patienceMs, ended)) return;
      if (pid !== undefined) signalTo(pid, 'SIGTERM');
      if (await within(patienceMs, ended)) return;
      if (pid !== undefined) signalTo(pid, 'SIGKILL');
      await within(patienceMs / 2, ended);
    },
  };
}

/** The SDK keeps handlers that were set before it connects, and finds its stdio transport by its prototype: no wrapper would do. */
function tap(transport: Transport, server: string, trace: Trace): void {
  const send = transport.send.bind(transport);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  transport.onmessage = (message: unknown) => trace('in', server, message);
  transport.send = (message, options) => {
    trace('out', server, message);
    return send(message, options);
  };
}
