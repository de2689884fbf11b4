import { ToolcribError } from '../../core/errors.ts';
import type { Settings } from '../../core/settings.ts';
import type { Tool } from '../../core/tool.ts';
import { discoverers } from '../../discoverers/index.ts';
import { fileTools } from '../../tools/files/index.ts';
import type { Services } from '../../tools/files/services.ts';
import type { Checkpoint } from '../../machine/actions/run-action.ts';
import type { History } from '../../machine/history/history.ts';
import type { Jobs } from '../../machine/jobs/jobs.ts';
import type { Machine } from '../../machine/environment.ts';
import type { OutputStore } from '../../machine/output-store/output-store.ts';
import type { Installation } from '../../machine/programs/installation.ts';
import type { Found } from '../environment/detect-environment.ts';
import type { ToolRegistry } from './tool-registry.ts';
import { builtInTools, type OwnServices } from '../own-tools.ts';
import type { ToolDefinition } from '../published.ts';

interface LoadingServices {
  readonly found: Found;
  readonly settings: Settings;
  readonly offered: ToolRegistry;
  readonly jobs: Jobs;
  readonly outputs: OutputStore;
  readonly history: () => Promise<History>;
  /** Whether those who call sit at this machine. */
  readonly isLocal: boolean;
}

/** Loads a tool's code, and what it needs, when it is first called. Throws PROGRAM_NOT_FOUND. */
export function createLoader(services: LoadingServices): (tool: ToolDefinition) => Promise<Tool> {
  const { found, offered, history, settings } = services;
  const { machine } = found;
  const checkpoint = settings.checkpoints === false ? {} : { checkpoint: checkpointsOf(history) };
  const ownServices = once(async (): Promise<OwnServices> => {
    return {
      ...machine,
      ...checkpoint,
      jobs: services.jobs,
      outputs: services.outputs,
      environment: await machine.childEnvironment(),
      loopback: services.isLocal,
      load: (name) => load(offered.find(name)),
      databases: settings.databases,
      manifest: found.manifest,
      offered,
      refresh: () => machine.refresh(),
    };
  });
  const fileServices = once(() => fileServicesOf(machine, history));
  // Making a tool makes its schema, which takes longer than a small call; those of our own keep what they know.
  const made = new Map<string, { installation: Installation | undefined; tool: () => Promise<Tool> }>();
  const kept = (name: string, installation: Installation | undefined, make: () => Promise<Tool>) => {
    const known = made.get(name);
    if (known && known.installation === installation) return known.tool();
    const tool = once(make);
    made.set(name, { installation, tool });
    return tool();
  };

  async function makeOurs(name: string): Promise<Tool> {
    const make = builtInTools[name];
    if (make) return make(await ownServices());
    const file = fileTools[name as keyof typeof fileTools];
    if (!file) throw new Error(`${name} is published but not defined`);
    return file(await fileServices());
  }

  async function load(published: ToolDefinition): Promise<Tool> {
    const { name, program, action } = published;
    if (action === undefined) return kept(name, undefined, () => makeOurs(name));
    const find = () => machine.installation(program);
    // It may have been installed since.
    const installation = (await find()) ?? (await machine.refresh().then(find));
    if (!installation && !published.reads && !offered.isReached(published))
      throw notInstalled(program, found);
    const loading = { ...services, ...checkpoint };
    return kept(name, installation, () => loadAction(published, action, installation, loading));
  }

  return load;
}

/** A value that is made when it is first asked for, and asked for again when that failed. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  const forget = (error: unknown) => {
    made = undefined;
    throw error;
  };
  return () => (made ??= make().catch(forget));
}

const checkpointsOf = (history: () => Promise<History>): Checkpoint => ({
  take: async (folder, before, workspace, signal) =>
    (await history()).checkpoint.take(folder, before, workspace, signal),
  isReady: async (folder, paths, workspace) => (await history()).checkpoint.isReady(folder, paths, workspace),
});

/** What the file tools of one server share. */
async function fileServicesOf(machine: Machine, history: () => Promise<History>): Promise<Services> {
  const [{ KnownFiles }, env] = await Promise.all([
    import('../../machine/known-files.ts'),
    machine.childEnvironment(),
  ]);
  // One that is not there may be installed before the next call.
  const ripgrep = once(async () => {
    const { findRipgrep } = await import('../../machine/programs/find-ripgrep.ts');
    return findRipgrep(await machine.which('rg'));
  });
  return {
    run: machine.run,
    env: () => env([], {}),
    ripgrep,
    history,
    known: new KnownFiles(),
    lists: new Map(),
  };
}

async function loadAction(
  { name, program }: ToolDefinition,
  key: string,
  installation: Installation | undefined,
  { found, settings, ...services }: LoadingServices & { readonly checkpoint?: Checkpoint },
): Promise<Tool> {
  const { machine, manifest, own } = found;
  const { file } = manifest.programs.find(({ id }) => id === program) ?? {};
  const programs = [(await discoverers[file as keyof typeof discoverers]?.())?.default ?? []].flat();
  const of = own.get(program) ?? programs.find(({ id }) => id === program);
  const view = of?.views?.[key];
  const { programTool } = await import('../../machine/actions/plan-action.ts');
  const shared = {
    run: machine.run,
    leave: machine.leave,
    installation,
    env: (await machine.childEnvironment())(of?.environment ?? [], of?.settings ?? {}),
    databases: { host: machine.host, profiles: settings.databases, which: machine.which },
    ...(services.checkpoint && { checkpoint: services.checkpoint }),
  };
  if (!of) throw new Error(`${name} is published but not defined`);
  if (!view) return programTool(of, key, shared);
  const { viewTool } = await import('../../machine/actions/view-tool.ts');
  return viewTool(of, key, view, (one) => programTool(of, one, shared));
}

function notInstalled(id: string, { manifest, machine }: Found): ToolcribError {
  const facts = manifest.programs.find((program) => program.id === id);
  const hint = facts?.install[machine.host.platform];
  return new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `${facts?.title ?? id} was not found on this machine.`,
    `${hint ? `To install it: ${hint}. ` : ''}list_programs tells where it was looked for.`,
  );
}
