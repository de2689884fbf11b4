import { serveStdio, type ServeStdioOptions } from '@modelcontextprotocol/server/stdio';
import type { Settings } from '../core/settings.ts';
import type { Found } from './beginning.ts';
import { buildServer } from './build-server.ts';
import { cribOf } from './stdio.ts';
import { outputUri, programsUri, projectUri } from './tool-call.ts';

/** What carries messages to a client of this process, and back. */
export type Transport = NonNullable<ServeStdioOptions['transport']>;

/** Serves MCP to one client of this process, of which nothing else is changed. Resolves with what ends it. */
export async function serveInProcess(
  settings: Settings,
  transport: Transport,
  found: Found,
): Promise<() => Promise<void>> {
  const { machine, processes } = found;
  let latest: ReturnType<typeof buildServer> | undefined;
  // Who has left need not be told.
  const updated = (uri: string) => void latest?.sendResourceUpdated({ uri }).catch(() => {});
  machine.onChange(() => {
    latest?.sendToolListChanged().catch(() => {});
    updated(programsUri);
  });
  const crib = cribOf(settings, found, undefined, {
    jobEnded: (handle) => updated(outputUri(handle)),
    called: (changes) => changes && updated(projectUri),
    listing() {},
  });
  // What takes longer is known before the first list is given.
  await machine.settle();
  const connection = serveStdio(() => (latest = buildServer(crib)), { transport });
  return async () => {
    await Promise.allSettled([connection.close(), processes.endAll(), crib.toolbox.end()]);
  };
}
