import type { AnyDiscoverer } from '../core/discoverer.ts';
import { nearest } from '../core/check-params.ts';
import { ToolcribError } from '../core/errors.ts';
import { refusalOf } from '../core/policy.ts';
import type { Settings } from '../core/settings.ts';
import type { Tool } from '../core/tool.ts';
import { discoverers } from '../discoverers/index.ts';
import { fileTools } from '../filesystem/index.ts';
import type { Services } from '../filesystem/services.ts';
import type { Checkpoint } from '../machine/actions/action-services.ts';
import { schemesOf } from '../machine/databases/address.ts';
import type { History } from '../machine/history/history.ts';
import type { Installation } from '../machine/programs/installation.ts';
import type { Machine } from '../machine/machine.ts';
import { headAndTail, presentable } from '../machine/presentable.ts';
import type { Caller } from './caller.ts';
import type { Called, Calls, Planned } from './calls.ts';
import type { Manifest, PublishedTool } from './published.ts';
import { companions, ownTools, type OwnServices } from './own-tools.ts';

/** What is offered on this machine, and how it is called. */
export interface Toolbox {
  /** Sorted by name; the same for every client. */
  list(): Promise<PublishedTool[]>;
  /** The tool of that name. Throws UNKNOWN_TOOL. */
  find(name: string): PublishedTool;
  /** Never rejects but for a bug: what is the caller's to mend comes as a result with isError. */
  call(tool: PublishedTool, params: unknown, caller: Caller): Promise<Called>;
  /** What a call would do; nothing is done, and nobody asked. */
  plan(tool: PublishedTool, params: unknown, caller: Caller): Promise<Planned>;
  /** Ends all jobs and forgets all output. */
  end(): Promise<void>;
}

/** Puts together what can be offered and what this machine has. Loads an action's code when it is first called. */
export function createToolbox(manifest: Manifest, machine: Machine, settings: Settings): Toolbox {
  const byName = new Map(manifest.tools.map((tool) => [tool.name, tool]));
  const inToolset = ({ name, program }: PublishedTool) =>
    settings.toolsets === undefined ||
    settings.toolsets.includes(program) ||
    (companions.has(name) && settings.toolsets.some((toolset) => toolset !== 'files'));

  let found: Promise<string> | undefined;
  /** Looked for once; one that is not there may be installed before the next call. */
  const ripgrep = () => {
    found ??= import('../machine/programs/find-ripgrep.ts').then(async ({ findRipgrep }) =>
      findRipgrep(await machine.which('rg')),
    );
    found.catch(() => (found = undefined));
    return found;
  };

  let kept: Promise<History> | undefined;
  /** Loaded when it is first used. */
  const history = () =>
    (kept ??= import('./kept-history.ts').then(({ keptHistory }) => keptHistory(machine)));
  const keepsStates = settings.checkpoints !== false;
  const checkpoint: Checkpoint = {
    take: async (folder, before, workspace, signal) =>
      (await history()).checkpoint.take(folder, before, workspace, signal),
    isReady: async (folder, paths, workspace) =>
      (await history()).checkpoint.isReady(folder, paths, workspace),
  };
  const checkpointed = keepsStates ? { checkpoint } : {};

  let fileServices: Promise<Services> | undefined;
  const makeFileServices = async () => {
    const [{ createFileServices }, env] = await Promise.all([
      import('./file-services.ts'),
      machine.childEnvironment(),
    ]);
    return createFileServices(machine, { ripgrep, env: () => env([], {}), history });
  };

  let calls: Promise<Calls> | undefined;
  /** What a call needs beside its tool takes some milliseconds to load, which a start has no use for. */
  const madeCalls = () =>
    (calls ??= Promise.all([import('./calls.ts'), import('./call-services.ts')]).then(
      ([{ createCalls }, { createCallServices }]) =>
        createCalls({ load, find: findOffered, ...createCallServices(machine.host, settings) }),
    ));

  let ownServices: Promise<OwnServices> | undefined;
  async function makeOwnServices(): Promise<OwnServices> {
    const { jobs, outputs } = await madeCalls();
    return {
      ...machine,
      jobs,
      outputs,
      environment: await machine.childEnvironment(),
      load: (name) => load(findOffered(name)),
      ...checkpointed,
    };
  }

  // Making a tool makes its schema, which takes longer than a small call.
  const made = new Map<string, { installation: Installation | undefined; tool: Tool }>();

  async function load(published: PublishedTool): Promise<Tool> {
    if (published.action === undefined) return loadOwn(published.name);
    const installation = (await machine.discovery()).installed.get(published.program);
    if (!installation && !isReached(published)) throw notInstalled(published.program, manifest, machine);
    const known = made.get(published.name);
    if (known && known.installation === installation) return known.tool;
    const discoverer: AnyDiscoverer | undefined = await discovererOf(published.program);
    const action = discoverer?.actions[published.action];
    if (!discoverer || !action) throw new Error(`${published.name} is published but not defined`);
    const { actionTool } = await import('../machine/actions/action-tool.ts');
    const tool = actionTool(discoverer, published.action, action, {
      run: machine.run,
      installation,
      childEnvironment: await machine.childEnvironment(),
      databases: { host: machine.host, profiles: settings.databases, which: machine.which },
      ...checkpointed,
    });
    made.set(published.name, { installation, tool });
    return tool;
  }

  async function loadOwn(name: string): Promise<Tool> {
    const own = ownTools[name as keyof typeof ownTools];
    if (own) return own(await (ownServices ??= makeOwnServices()));
    const file = fileTools[name as keyof typeof fileTools];
    if (!file) throw new Error(`${name} is published but not defined`);
    return file(await (fileServices ??= makeFileServices()));
  }

  /** Whether it asks a database that the operator has named, which takes no program. */
  function isReached({ asks }: PublishedTool): boolean {
    if (asks === undefined) return false;
    const named = Object.values(settings.databases).some(({ engine }) => engine === asks);
    return named || schemesOf[asks].test(machine.host.env['DATABASE_URL'] ?? '');
  }

  /** Why a tool is left out that there is; undefined when it is not. */
  function leftOut(published: PublishedTool): string | undefined {
    const { name } = published;
    if (!keepsStates && checkpointTools.has(name)) return 'checkpoints are off (--no-checkpoints)';
    if (!settings.scripts && name === 'run_script') return 'scripts are off; --scripts turns them on';
    if (!inToolset(published)) return `the toolsets are ${settings.toolsets?.join(', ')} (--toolsets)`;
    return undefined;
  }

  function findOffered(name: string): PublishedTool {
    const published = byName.get(name);
    if (!published) throw unknownTool(name, byName);
    const why = leftOut(published);
    if (why) throw new ToolcribError('UNKNOWN_TOOL', `${name} is not offered: ${why}.`);
    return published;
  }

  return {
    async list() {
      const { installed } = await machine.discovery();
      return manifest.tools.filter(
        (tool) =>
          leftOut(tool) === undefined &&
          (tool.action === undefined || installed.has(tool.program) || isReached(tool)) &&
          refusalOf(tool, settings) === undefined,
      );
    },
    find: findOffered,
    async call(published, params, caller) {
      return (await madeCalls()).call(published, params, caller);
    },
    plan: async (published, params, caller) => (await madeCalls()).plan(published, params, caller),
    async end() {
      await (await calls)?.end();
    },
  };
}

const discovererOf = (id: string): Promise<AnyDiscoverer> | undefined => {
  const load = discoverers[id as keyof typeof discoverers];
  return load?.() as Promise<AnyDiscoverer> | undefined;
};

/** The tools that are there for checkpoints alone. */
const checkpointTools: ReadonlySet<string> = new Set(['list_checkpoints', 'restore_checkpoint']);

/** Of a name that is none; far more than one has. */
const longestName = 200;

function unknownTool(name: string, known: ReadonlyMap<string, PublishedTool>): ToolcribError {
  const best = nearest(name, [...known.keys()]);
  return new ToolcribError(
    'UNKNOWN_TOOL',
    `There is no tool ${JSON.stringify(headAndTail(presentable(name), longestName))}.`,
    best ? `Did you mean ${best}?` : 'tools/list (toolcrib call, without a tool) has the ones there are.',
  );
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
