import { setTimeout as sleep } from 'node:timers/promises';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Settings } from '../core/settings.ts';
import type { Machine } from '../machine/machine.ts';
import { createAsking } from './ask.ts';
import { buildServer } from './build-server.ts';
import type { Beginning, Found } from './beginning.ts';
import { keepFirstAnswers, type Opening } from './first-answers.ts';
import { createHandedPlans } from './handed-plans.ts';
import type { NotedHost } from './noted-host.ts';
import { openRoots } from './opened-roots.ts';
import { RememberingTransport } from './remembering-transport.ts';
import { createClientRoots } from './client-roots.ts';
import { createLeanHeap } from './lean-heap.ts';
import { outputUri, programsUri, projectUri, type Crib } from './tool-call.ts';
import { createToolbox } from './toolbox.ts';
import { refusalOf, wholeLines } from './whole-lines.ts';

/** How long after the first list slower questions are put: the client's next requests come first. */
const quietMs = 250;
/** After this, what V8 has compiled is kept for the next start: it takes back only what it made with the same flags. */
const startedMs = 1000;
/** How long lists that were asked for before the client closed its end may still be answered. */
const drainMs = 500;

/** Serves MCP over standard input and output until the client leaves or a signal ends it. Does not return before. */
export async function serve(settings: Settings, { key, opening }: Beginning, found: Found): Promise<void> {
  const { noted, machine, processes } = found;
  // Standard output carries the protocol and nothing else, whatever a library may want to say.
  console.log = console.info = console.debug = console.error;
  // Each answer that waits for a client that reads slowly listens to it: they are many, and no leak.
  process.stdout.setMaxListeners(0);
  const lists = new Set<Promise<unknown>>();
  let settling: NodeJS.Timeout | undefined;
  let latest: ReturnType<typeof buildServer> | undefined;
  let tidyHeap: (() => void) | undefined;
  let leaving = false;
  // Nothing waits for it, and nothing that goes wrong with it is a reason to end: a full disk, a client that has left.
  const settle = () =>
    settleList(machine, wire, { opening, noted, announce: () => latest?.sendToolListChanged() }).catch(
      (error: unknown) => {
        if (!leaving) process.stderr.write(`toolcrib: ${String(error)}\n`);
      },
    );
  const updated = (uri: string) => void latest?.sendResourceUpdated({ uri }).catch(() => {});
  machine.onChange(() => {
    void settle();
    updated(programsUri);
  });
  const crib = cribOf(settings, found, key, {
    jobEnded: (handle) => updated(outputUri(handle)),
    called(changes) {
      if (changes) updated(projectUri);
      // After the answer is out.
      setImmediate(() => tidyHeap?.());
    },
    listing(answer) {
      settling ??= setTimeout(settle, quietMs);
      lists.add(answer);
      const forget = () => lists.delete(answer);
      answer.then(forget, forget);
    },
  });
  // Not standard input itself: the SDK drops what it was asked when that ends, also by `printf … | toolcrib serve`.
  const input = wholeLines((line) => process.stdout.write(refusalOf(line)));
  const wire = new RememberingTransport(input, process.stdout, opening);
  const connection = serveStdio(() => (latest = buildServer(crib)), {
    transport: wire,
    onerror: (error) => process.stderr.write(`toolcrib: ${error.message}\n`),
  });
  if (opening) input.write(opening.input);
  if (opening?.listed) settling = setTimeout(settle, quietMs);
  process.stdin.pipe(input, { end: false });

  setTimeout(() => {
    tidyHeap = createLeanHeap();
  }, startedMs).unref();
  const end = await theEnd();
  leaving = true;
  if (end === 'input') await answered(lists);
  clearTimeout(settling);
  await Promise.allSettled([connection.close(), processes.endAll(), crib.toolbox.end()]);
}

/** Of a server with one client. */
export function cribOf(
  settings: Settings,
  found: Found,
  key: string | undefined,
  { jobEnded, ...heard }: Pick<Crib, 'called' | 'listing'> & { jobEnded(handle: string): void },
): Crib {
  const { machine, manifest, signs, trace } = found;
  return {
    ...heard,
    hasFiles: settings.expose !== 'no-files',
    toolbox: createToolbox(found, machine, settings, { signs, isLocal: true, jobEnded }),
    client: 'stdio',
    clientRoots: createClientRoots(),
    asking: createAsking(),
    trace,
    plans: key === undefined ? undefined : createHandedPlans(key),
    opened: openRoots(settings, machine, manifest),
  };
}

interface Settling {
  readonly opening: Opening | undefined;
  readonly noted: NotedHost;
  announce(): Promise<void> | undefined;
}

/** Finds out what takes too long for a first answer, tells the client when its list is another now, and keeps that. */
async function settleList(
  machine: Machine,
  wire: RememberingTransport,
  { opening, noted, announce }: Settling,
): Promise<void> {
  await machine.settle();
  const hasChanged = await wire.listHasChanged();
  if (hasChanged) await announce();
  const seen = noted.seen();
  if (opening) keepFirstAnswers(opening.remembered, { ...seen, results: wire.results(hasChanged) });
}

/** Waits for what is being answered, a moment after the input's last line has been read. */
async function answered(lists: ReadonlySet<Promise<unknown>>): Promise<void> {
  const until = performance.now() + drainMs;
  do await sleep(20);
  while (lists.size > 0 && performance.now() < until);
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
