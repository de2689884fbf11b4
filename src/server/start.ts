import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { config } from 'zod';
import type { Settings } from '../core/settings.ts';
import { stateFolder } from '../own-files/own-files.ts';
import type { Host } from '../machine/host.ts';
import { Machine } from '../machine/machine.ts';
import { createProcesses } from '../machine/processes/process.ts';
import { signsIn } from './exposure.ts';
import { loadManifest } from './manifest.ts';
import type { NotedHost } from './noted-host.ts';
import { withOwnPrograms, type ProgramFolder } from './own-programs.ts';
import { effectiveRoots } from './roots.ts';
import type { Beginning, Found } from './beginning.ts';
import type { Trace } from './trace.ts';

/** Serves MCP: over HTTP where the beginning says so, else over standard input and output. Returns at its end. */
export async function start(settings: Settings, noted: NotedHost, beginning: Beginning): Promise<void> {
  // Compiled validators pay off after some hundred messages, and a start has three. To be said before the SDK makes its
  // schemas, hence the late imports.
  config({ jitless: true });
  const found = await lookAround(settings, noted, beginning);
  if (beginning.http) {
    const { serveHttp } = await import('./http/serve-http.ts');
    return serveHttp(settings, beginning.http, found);
  }
  const { serve } = await import('./stdio.ts');
  await serve(settings, beginning, found);
}

/** What a server is made of: this machine, and what can be offered on it. */
export async function lookAround(settings: Settings, noted: NotedHost, beginning: Beginning): Promise<Found> {
  const { host } = noted;
  const processes = createProcesses(host.platform);
  const built = await loadManifest();
  // A project's own programs must not be found as the machine's: those of the roots as far as they are known now.
  // What a client says later is looked at with each call.
  const sources = { operator: settings.roots, client: undefined, workingFolder: process.cwd() };
  const roots = effectiveRoots(sources, host, built.programs);
  const ofProjects = await projectFolders(beginning.programs, await roots, noted);
  const whole = await withOwnPrograms(built, [beginning.programs, ...ofProjects]);
  for (const problem of whole.problems) process.stderr.write(`toolcrib: ${problem}\n`);
  const { manifest } = whole;
  const machine = new Machine(host, manifest, processes, roots, settings);
  // The disk is asked while the SDK is loaded, which takes this thread some 25 ms.
  await turn();
  const signs = roots.then((folders) => signsIn(folders, manifest.programs, host));
  const trace = await traceInto(beginning.trace, host, settings);
  return { noted, ...whole, machine, processes, signs, trace };
}

/** Throws what the system says of the file. */
async function traceInto(
  file: string | undefined,
  host: Host,
  settings: Settings,
): Promise<Trace | undefined> {
  if (file === undefined) return undefined;
  const [{ createTrace }, { maskOf }] = await Promise.all([import('./trace.ts'), import('./house.ts')]);
  return createTrace(file, maskOf(host, settings));
}

/** The folders of programs of projects that are trusted: these count as code of the project. */
async function projectFolders(
  own: ProgramFolder,
  roots: readonly string[],
  { host, noteFile }: NotedHost,
): Promise<readonly ProgramFolder[]> {
  const ofProjects = roots.map((root) => join(root, '.toolcrib'));
  const present: string[] = [];
  for (const folder of [own.folder, ...ofProjects]) {
    noteFile(folder);
    const names = await host.list(folder);
    for (const name of names) noteFile(join(folder, name));
    if (names.length > 0 && folder !== own.folder) present.push(folder);
  }
  if (present.length === 0) return [];
  const { createTrust } = await import('../machine/trust/trust.ts');
  const trust = createTrust({ folder: stateFolder(host.platform, host.env, host.home) });
  const trusted = await Promise.all(present.map((folder) => trust.isTrusted(dirname(folder))));
  const least = ['execute'] as const;
  return present.filter((_, at) => trusted[at]).map((folder) => ({ folder, least }));
}
