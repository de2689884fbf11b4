import { ToolcribError } from '../core/errors.ts';
import type { Program } from '../core/program.ts';
import type { Settings } from '../core/settings.ts';
import type { Tool } from '../core/tool.ts';
import { discoverers } from '../discoverers/index.ts';
import { fileTools } from '../filesystem/index.ts';
import type { Services } from '../filesystem/services.ts';
import type { Checkpoint } from '../machine/actions/run-program.ts';
import type { History } from '../machine/history/history.ts';
import type { Machine } from '../machine/machine.ts';
import type { Installation } from '../machine/programs/installation.ts';
import type { Calls } from './calls.ts';
import type { Offered } from './offered.ts';
import { ownTools, type OwnServices } from './own-tools.ts';
import type { WholeManifest } from './own-programs.ts';
import type { Manifest, PublishedTool } from './published.ts';

export interface LoadingServices {
  readonly whole: Pick<WholeManifest, 'manifest' | 'own'> & { renew(): Promise<boolean> };
  readonly machine: Machine;
  readonly settings: Settings;
  readonly offered: Offered;
  history(): Promise<History>;
  calls(): Promise<Pick<Calls, 'jobs' | 'outputs'>>;
  /** Whether those who call sit at this machine. */
  readonly isLocal: boolean;
}

/** With where states are kept, if they are. */
type ActionLoading = LoadingServices & { readonly checkpoint?: Checkpoint };

/** Loads a tool's code, and what it needs, when it is first called. Throws PROGRAM_NOT_FOUND. */
export function createLoader(services: LoadingServices): (tool: PublishedTool) => Promise<Tool> {
  const { whole, machine, offered, history } = services;
  const checkpoint = services.settings.checkpoints === false ? {} : { checkpoint: checkpointsOf(history) };
  const loadOwn = ownLoader({ ...services, ...checkpoint }, (name) => load(offered.find(name)));
  // Making a tool makes its schema, which takes longer than a small call.
  const made = new Map<string, { installation: Installation | undefined; own?: Program; tool: Tool }>();

  async function load(published: PublishedTool): Promise<Tool> {
    const { name, program, action } = published;
    if (action === undefined) return loadOwn(name);
    const found = () => machine.installation(program);
    // It may have been installed since.
    const installation = (await found()) ?? (await machine.refresh().then(found));
    if (!installation && !published.reads && !offered.isReached(published))
      throw notInstalled(program, whole.manifest, machine);
    const known = made.get(name);
    const own = whole.own.get(program);
    if (known && known.installation === installation && known.own === own) return known.tool;
    const tool = await loadAction(published, action, installation, { ...services, ...checkpoint });
    made.set(name, { installation, ...(own && { own }), tool });
    return tool;
  }

  return load;
}

/** Loads tools of our own, once: they keep what they know from one call to the next. */
function ownLoader(
  { whole, machine, offered, history, settings, calls, isLocal, ...checkpoint }: ActionLoading,
  load: OwnServices['load'],
): (name: string) => Promise<Tool> {
  const refresh = async () => machine.refresh(await whole.renew());
  const ownServices = once(async (): Promise<OwnServices> => {
    const { jobs, outputs } = await calls();
    return {
      ...machine,
      report: async () => refresh().then(machine.report),
      jobs,
      outputs,
      environment: await machine.childEnvironment(),
      loopback: isLocal,
      load,
      databases: settings.databases,
      catalogue: { ...machine, manifest: whole.manifest, offered, refresh },
      ...checkpoint,
    };
  });
  const fileServices = once(() => fileServicesOf(machine, history));
  const made = new Map<string, Promise<Tool>>();

  async function make(name: string): Promise<Tool> {
    const own = ownTools[name as keyof typeof ownTools];
    if (own) return own(await ownServices());
    const file = fileTools[name as keyof typeof fileTools];
    if (!file) throw new Error(`${name} is published but not defined`);
    return file(await fileServices());
  }

  return (name) => {
    const tool = made.get(name) ?? make(name);
    made.set(name, tool);
    tool.catch(() => made.delete(name));
    return tool;
  };
}

/** A value that is made when it is first asked for, and asked for again when that failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    made.catch(() => (made = undefined));
    return made;
  };
}

const checkpointsOf = (history: () => Promise<History>): Checkpoint => ({
  take: async (folder, before, workspace, signal) =>
    (await history()).checkpoint.take(folder, before, workspace, signal),
  isReady: async (folder, paths, workspace) => (await history()).checkpoint.isReady(folder, paths, workspace),
});

/** What the file tools of one server share. */
async function fileServicesOf(machine: Machine, history: () => Promise<History>): Promise<Services> {
  const [{ KnownFiles }, env] = await Promise.all([
    import('../filesystem/known-files.ts'),
    machine.childEnvironment(),
  ]);
  // One that is not there may be installed before the next call.
  const ripgrep = once(async () => {
    const { findRipgrep } = await import('../machine/programs/find-ripgrep.ts');
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
  { name, program }: PublishedTool,
  key: string,
  installation: Installation | undefined,
  { machine, settings, whole: { manifest, own }, ...services }: ActionLoading,
): Promise<Tool> {
  const { file } = manifest.programs.find(({ id }) => id === program) ?? {};
  const programs = [(await discoverers[file as keyof typeof discoverers]?.())?.default ?? []].flat();
  const of = own.get(program) ?? programs.find(({ id }) => id === program);
  const view = of?.views?.[key];
  const { programTool } = await import('../machine/actions/program-tool.ts');
  const shared = {
    run: machine.run,
    leave: machine.leave,
    installation,
    env: (await machine.childEnvironment())(of?.environment ?? [], of?.settings ?? {}),
    databases: { host: machine.host, profiles: settings.databases, which: machine.which },
    ...(services.checkpoint && { checkpoint: services.checkpoint }),
  };
  const toolOf = (one: string) => {
    const action = of?.actions[one];
    if (!of || !action) throw new Error(`${name}: ${one} is published but not defined`);
    return programTool(of, one, action, shared);
  };
  if (!of || !view) return toolOf(key);
  const { viewTool } = await import('../machine/actions/view-tool.ts');
  return viewTool(of, key, view, toolOf);
}

function notInstalled(id: string, manifest: Manifest, machine: Machine): ToolcribError {
  const facts = manifest.programs.find((program) => program.id === id);
  const hint = facts?.install[machine.host.platform];
  return new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `${facts?.title ?? id} was not found on this machine.`,
    `${hint ? `To install it: ${hint}. ` : ''}list_programs tells where it was looked for.`,
  );
}
