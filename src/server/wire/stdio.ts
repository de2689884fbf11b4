import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio, type ServeStdioOptions } from '@modelcontextprotocol/server/stdio';
import type { Settings } from '../../core/settings.ts';
import { buildServer } from '../server.ts';
import { createConnection, programsUri, type Connection, type ConnectionOptions } from '../connection.ts';
import { writeStartCache, type EarlyAnswers } from '../start/start-cache.ts';
import { createLeanHeap } from '../lean-heap.ts';
import { log } from '../log.ts';
import type { Environment } from '../../machine/environment.ts';
import type { DependencyTracker } from '../start/dependency-tracker.ts';
import { StdioTransport } from './stdio-transport.ts';

/** Time after the first list until slower questions are put: the client's next requests come first. */
const quietMs = 250;
/**
 * After this, what V8 has compiled is kept for the next start: it takes back only what it made with the same
 * flags.
 */
const startedMs = 1000;
/** Time in which requests may still be answered that came before the client closed its end. */
const drainMs = 2000;

/** Carries messages to a client, and back. */
export type Transport = NonNullable<ServeStdioOptions['transport']>;

/** Serves one client over whatever carries its messages. */
function serveOne(
  settings: Settings,
  environment: Environment,
  transport: Transport,
  options: Partial<ConnectionOptions>,
) {
  let latest: Server | undefined;
  // Who has left need not be told.
  const updated: Connection['updated'] = (uri) => {
    void latest?.sendResourceUpdated({ uri }).catch(() => {});
  };
  const connection = createConnection(settings, environment, {
    client: 'stdio',
    isLocal: true,
    updated,
    ...options,
  });
  const build = () => {
    latest = buildServer(connection);
    return latest;
  };
  const served = serveStdio(build, { transport, onerror: log });
  return {
    updated,
    listChanged: async () => latest?.sendToolListChanged(),
    end: () => Promise.allSettled([served.close(), environment.endPrograms(), connection.end()]),
  };
}

/** Serves MCP to one client of this process, of which nothing else is changed. Returns what ends it. */
export function serveInProcess(
  settings: Settings,
  transport: Transport,
  environment: Environment,
): () => Promise<unknown> {
  const served = serveOne(settings, environment, transport, {});
  environment.onChange(() => {
    served.listChanged().catch(() => {});
    served.updated(programsUri);
  });
  return served.end;
}

/**
 * The beginning of a client: a key when it asks its user itself, and requests that were answered from memory.
 */
interface Beginning extends Pick<ConnectionOptions, 'hostKey' | 'trace'> {
  readonly opening?: EarlyAnswers | undefined;
  /** Notes what the answers to first requests depend on. */
  readonly tracker: DependencyTracker;
}

/**
 * Serves MCP over standard input and output until the client leaves or a signal ends it. Does not return
 * before.
 */
export async function serve(
  settings: Settings,
  { opening, tracker, ...beginning }: Beginning,
  environment: Environment,
): Promise<void> {
  // Standard output carries the protocol and nothing else, whatever a library may want to say.
  console.log = console.error;
  console.info = console.error;
  console.debug = console.error;
  // Each answer that waits for a client that reads slowly listens to it: they are many, and no leak.
  process.stdout.setMaxListeners(0);
  let settling: NodeJS.Timeout | undefined;
  let tidyHeap: (() => void) | undefined;
  let leaving = false;
  const wire = new StdioTransport(opening, () => {
    settling ??= setTimeout(settle, quietMs);
  });
  // After the answer is out.
  const called = () => {
    setImmediate(() => tidyHeap?.());
  };
  const served = serveOne(settings, environment, wire, { ...beginning, called });

  /** Finds out what takes long, tells the client when its list is another now, and keeps the answers. */
  async function settle(): Promise<void> {
    try {
      await environment.settle();
      const hasChanged = await wire.listHasChanged();
      if (hasChanged) await served.listChanged();
      const seen = tracker.seen();
      if (opening) writeStartCache(opening.remembered, { ...seen, results: wire.results(hasChanged) });
    } catch (error) {
      // Nothing that goes wrong with it is a reason to end: a full disk, a client that has left.
      if (!leaving) log(error);
    }
  }
  environment.onChange(() => {
    void settle();
    served.updated(programsUri);
  });
  if (opening) wire.take(opening.input);
  if (opening?.listed) settling = setTimeout(settle, quietMs);
  // It may have been paused by who has answered from memory.
  process.stdin.on('data', (chunk: Buffer) => wire.take(chunk)).resume();

  setTimeout(() => {
    tidyHeap = createLeanHeap();
  }, startedMs).unref();
  const end = await theEnd();
  leaving = true;
  // The SDK would drop what it was asked when input ends, also by `printf … | toolcrib serve`.
  const until = performance.now() + drainMs;
  if (end === 'input')
    do await sleep(20);
    while (!wire.isIdle && performance.now() < until);
  clearTimeout(settling);
  await served.end();
}

/** Resolves when the client has closed the pipe, or a signal asks us to leave. */
function theEnd(): Promise<'input' | 'signal'> {
  return new Promise((resolve) => {
    process.stdin.once('end', () => resolve('input')).once('close', () => resolve('input'));
    // EPIPE: whoever read our answers is gone.
    process.stdout.on('error', () => resolve('signal'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => resolve('signal'));
  });
}
