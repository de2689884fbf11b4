import { setImmediate as turn } from 'node:timers/promises';
import { config } from 'zod';
import type { Settings } from '../core/settings.ts';
import { createMachine } from '../machine/machine.ts';
import { createProcesses } from '../machine/processes/process.ts';
import { signsIn } from './exposure.ts';
import { loadManifest } from './manifest.ts';
import type { NotedHost } from './noted-host.ts';
import { effectiveRoots } from './roots.ts';
import type { Beginning } from './stdio.ts';

/** Serves MCP over standard input and output; see serve(). */
export async function start(settings: Settings, noted: NotedHost, beginning: Beginning): Promise<void> {
  const { host } = noted;
  const processes = createProcesses(host.platform);
  const manifest = await loadManifest();
  // A project's own programs must not be found as the machine's: those of the roots as far as they are known now.
  // What a client says later is looked at with each call.
  const sources = { operator: settings.roots, client: undefined, workingFolder: process.cwd() };
  const roots = effectiveRoots(sources, host, manifest.programs);
  const machine = createMachine(host, manifest.programs, processes, roots);
  // The disk is asked while the SDK is loaded, which takes this thread some 25 ms.
  await turn();
  // Compiled validators pay off after some hundred messages, and a start has three. To be said before the SDK makes its
  // schemas, hence the late import.
  config({ jitless: true });
  const { serve } = await import('./stdio.ts');
  const signs = roots.then((folders) => signsIn(folders, manifest.programs, host));
  await serve(settings, beginning, { noted, manifest, machine, processes, signs });
}
