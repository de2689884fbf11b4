import type { Settings } from '../core/settings.ts';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { ProgramFacts } from '../machine/installation.ts';
import type { Machine } from '../machine/machine.ts';
import type { Processes } from '../machine/process.ts';
import type { RootedWorkspace } from '../machine/workspace.ts';
import { buildServer, type Crib } from './build-server.ts';
import type { Manifest } from './published.ts';
import { effectiveRoots } from './roots.ts';
import { createToolbox } from './toolbox.ts';

/** What was begun before the SDK was loaded. */
export interface Found {
  readonly manifest: Manifest;
  readonly machine: Machine;
  readonly processes: Processes;
}

/** How long after the first list the login shell is asked: the client's next requests come first. */
const quietMs = 250;

/** Serves MCP over standard input and output until the client leaves or a signal ends it. Does not return before. */
export async function serve(settings: Settings, { manifest, machine, processes }: Found): Promise<void> {
  // Standard output carries the protocol and nothing else, whatever a library may want to say.
  console.log = console.info = console.debug = console.error;
  const crib: Crib = {
    toolbox: createToolbox(manifest, machine, settings),
    workspace: workspacesFor(settings.roots, machine, manifest.programs),
    clientRoots: undefined,
  };
  let latest: ReturnType<typeof buildServer> | undefined;
  const connection = serveStdio(() => (latest = buildServer(crib)), {
    onerror: (error) => process.stderr.write(`toolcrib: ${error.message}\n`),
  });
  const asking = setTimeout(() => {
    void machine.askLoginShell().then((changed) => (changed ? latest?.sendToolListChanged() : undefined));
  }, quietMs);

  await untilTheEnd();
  clearTimeout(asking);
  await Promise.allSettled([connection.close(), processes.endAll()]);
}

/** Resolves when the client has closed the pipe, or a signal asks us to leave. */
function untilTheEnd(): Promise<void> {
  return new Promise((resolve) => {
    const leave = () => resolve();
    process.stdin.once('end', leave).once('close', leave);
    // EPIPE: whoever read our answers is gone.
    process.stdout.on('error', leave);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, leave);
  });
}

function workspacesFor(operator: readonly string[], { host }: Machine, programs: readonly ProgramFacts[]) {
  return async (client: readonly string[] | undefined): Promise<RootedWorkspace> => {
    const roots = await effectiveRoots({ operator, client, workingFolder: process.cwd() }, host, programs);
    const { openWorkspace } = await import('../machine/workspace.ts');
    return openWorkspace(roots);
  };
}
