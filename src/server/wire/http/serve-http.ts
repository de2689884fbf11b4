import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../../core/settings.ts';
import { createAudit } from '../../../machine/audit/audit.ts';
import { userFolder } from '../../../machine/user-folders.ts';
import { displayPath } from '../../../machine/paths/display-path.ts';
import { createConnection, type Connection, type ConnectionOptions } from '../../connection.ts';
import { historyOf, maskOf } from '../../create-session.ts';
import { once } from '../../../machine/once.ts';
import type { Environment } from '../../../machine/environment.ts';
import { createRootOpener } from '../../environment/roots.ts';
import type { Trace } from '../../client/trace.ts';
import { isLoopback, type Listening } from './guard.ts';
import { listen } from './listen.ts';
import { Mcp } from './mcp.ts';

/** A client that is not heard of any more. */
const idleMs = 60 * 60 * 1000;
/** Time for calls to go on when the server is told to end: Docker kills after ten seconds. */
const graceMs = 8000;
const lastAnswersMs = 300;

/**
 * Serves MCP over HTTP until a signal ends it. Does not return before. Throws what the system says of the
 * port.
 */
export async function serveHttp(
  settings: Settings,
  listening: Listening,
  environment: Environment,
  trace: Trace | undefined,
): Promise<void> {
  // What takes longer is known before the first list is given.
  await environment.settle();
  const instance = randomBytes(5).readUIntBE(0, 5).toString(36).padStart(6, '0').slice(-6);
  const isLocal = isLoopback(listening.host);
  const updated = (client: string, uri: string) => mcp.updated(uri, client);
  const mcp = new Mcp(connector(settings, environment, { instance, isLocal, trace, updated }), idleMs);
  environment.onChange(() => mcp.listChanged());
  const listener = await listen(listening, mcp);
  process.stderr.write(
    `toolcrib: serving ${listener.url} as instance ${instance}; ` +
      `clients need the token in ${displayPath(listening.tokens.file)}\n`,
  );
  await signalled();
  const drained = listener.drain();
  await Promise.race([drained, sleep(graceMs, undefined, { ref: false }), signalled()]);
  await environment.endPrograms();
  // Calls whose programs were ended are answered, too.
  await Promise.race([drained, sleep(lastAnswersMs, undefined, { ref: false })]);
  await mcp.close();
  listener.close();
}

/** Makes what a client has of its own: nobody reads or stops what another has started. */
function connector(
  settings: Settings,
  environment: Environment,
  {
    updated,
    ...here
  }: Pick<ConnectionOptions, 'instance' | 'isLocal' | 'trace'> & {
    updated(client: string, uri: string): void;
  },
): (client: string) => Connection {
  const { host } = environment;
  const folder = userFolder('state', host);
  const shared = {
    ...here,
    openRoots: createRootOpener(settings, environment),
    recordCall: createAudit({ folder, mask: maskOf(host, settings) }),
    history: once(() => historyOf(environment)),
    // Folders of a client are folders of its machine: only the operator knows which are meant here.
    clientRoots: { of: async () => ({ kind: 'known', folders: undefined }) as const, forget() {} },
  };
  return (client) =>
    createConnection(settings, environment, {
      ...shared,
      client: `http ${client}`,
      updated: (uri) => updated(client, uri),
    });
}

const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
