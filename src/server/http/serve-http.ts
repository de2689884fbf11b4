import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../core/settings.ts';
import { createAudit } from '../../machine/audit/audit.ts';
import { stateFolder } from '../../own-files/own-files.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { createAsking } from '../ask.ts';
import type { Found, Listening } from '../beginning.ts';
import { outputUri, projectUri, type Crib } from '../tool-call.ts';
import { maskOf } from '../call-services.ts';
import { openRoots } from '../opened-roots.ts';
import { createToolbox, historyOf } from '../toolbox.ts';
import { HttpClients } from './clients.ts';
import { isLoopback } from './guard.ts';
import { listen } from './listen.ts';
import { Mcp } from './mcp.ts';

/** A client that is not heard of any more. */
const idleMs = 60 * 60 * 1000;
/** How long calls may go on when the server is told to end: Docker kills after ten seconds. */
const graceMs = 8000;

/** Serves MCP over HTTP until a signal ends it. Does not return before. Throws what the system says of the port. */
export async function serveHttp(settings: Settings, listening: Listening, found: Found): Promise<void> {
  const { machine, processes } = found;
  // What takes longer is known before the first list is given.
  await machine.settle();
  const instance = randomBytes(5).readUIntBE(0, 5).toString(36).padStart(6, '0').slice(-6);
  const isLocal = isLoopback(listening.host);
  const updated = (client: string, uri: string) => mcp.updated(uri, client);
  const clients = new HttpClients(cribs(settings, found, { instance, isLocal, updated }), idleMs);
  const mcp = new Mcp(clients);
  machine.onChange(() => mcp.listChanged());
  const listener = await listen(listening, mcp);
  process.stderr.write(
    `toolcrib: serving ${listener.url} as instance ${instance}; ` +
      `clients need the token in ${shownPath(listening.tokens.file)}\n`,
  );
  await signalled();
  await Promise.race([listener.drain(), sleep(graceMs, undefined, { ref: false }), signalled()]);
  await Promise.allSettled([clients.endAll(), processes.endAll(), mcp.close()]);
  listener.close();
}

/** Makes what a client has of its own: nobody reads or stops what another has started. */
function cribs(
  settings: Settings,
  found: Found,
  { updated, ...here }: { instance: string; isLocal: boolean; updated(client: string, uri: string): void },
): (client: string) => Crib {
  const { machine, manifest, signs, trace } = found;
  const { host } = machine;
  const opened = openRoots(settings, machine, manifest);
  const recordCall = createAudit({
    folder: stateFolder(host.platform, host.env, host.home),
    mask: maskOf(host, settings),
  });
  let kept: ReturnType<typeof historyOf> | undefined;
  const history = () => (kept ??= historyOf(machine));
  return (client) => ({
    hasFiles: settings.expose !== 'no-files',
    toolbox: createToolbox(found, machine, settings, {
      ...here,
      signs,
      history,
      recordCall,
      jobEnded: (handle) => updated(client, outputUri(handle)),
    }),
    client: `http ${client}`,
    // Folders of a client are folders of its machine: only the operator knows which are meant here.
    clientRoots: { of: () => Promise.resolve({ kind: 'known', folders: undefined }), forget() {} },
    asking: createAsking(),
    trace,
    plans: undefined,
    opened,
    called: (changes) => changes && updated(client, projectUri),
    listing() {},
  });
}

const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
