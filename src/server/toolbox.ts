import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyDiscoverer } from '../core/discoverer.ts';
import { checkParams, nearest } from '../core/check-params.ts';
import { ToolcribError } from '../core/errors.ts';
import { refusalOf } from '../core/policy.ts';
import type { Settings } from '../core/settings.ts';
import type { CallContext, Tool, ToolResult, Workspace } from '../core/tool.ts';
import { discoverers } from '../discoverers/index.ts';
import { fileTools } from '../filesystem/index.ts';
import type { Services } from '../filesystem/services.ts';
import { stateFolder } from '../machine/folders.ts';
import type { Installation } from '../machine/installation.ts';
import type { Machine } from '../machine/machine.ts';
import { checkpointTools, createKeptStates } from './kept-states.ts';
import type { Manifest, PublishedTool } from './published.ts';
import { ownTools } from './own-tools.ts';

/** What is offered on this machine, and how it is called. */
export interface Toolbox {
  /** Sorted by name; the same for every client. */
  list(): Promise<PublishedTool[]>;
  /** The tool of that name. Throws UNKNOWN_TOOL. */
  find(name: string): PublishedTool;
  /** Finishes or discards what servers left half done that were killed. */
  recover(): Promise<void>;
  /** Never rejects but for a bug: what the caller can mend comes as a result with isError. */
  call(tool: PublishedTool, params: unknown, context: CallContext): Promise<ToolResult>;
}

/** Puts together what can be offered and what this machine has. Loads an action's code when it is first called. */
export function createToolbox(manifest: Manifest, machine: Machine, settings: Settings): Toolbox {
  const byName = new Map(manifest.tools.map((tool) => [tool.name, tool]));
  const inToolset = (tool: PublishedTool) => settings.toolsets?.includes(tool.program) ?? true;

  let found: Promise<string> | undefined;
  /** Looked for once; one that is not there may be installed before the next call. */
  const ripgrep = () => {
    found ??= import('../machine/find-ripgrep.ts').then(async ({ findRipgrep }) =>
      findRipgrep(await machine.which('rg')),
    );
    found.catch(() => (found = undefined));
    return found;
  };

  const checkpoints = createKeptStates(machine);
  const keepsStates = settings.checkpoints !== false;
  let services: Promise<Services> | undefined;
  const fileServices = async () => {
    const [{ createFileServices }, env] = await Promise.all([
      import('./file-services.ts'),
      machine.childEnvironment(),
    ]);
    return createFileServices(machine, { ripgrep, env: () => env([], {}), checkpoints });
  };

  // Making a tool makes its schema, which takes longer than a small call.
  const made = new Map<string, { installation: Installation; tool: Tool }>();

  async function load(published: PublishedTool): Promise<Tool> {
    if (published.action === undefined) return loadOwn(published.name);
    const installation = (await machine.discovery()).installed.get(published.program);
    if (!installation) throw notInstalled(published.program, manifest, machine);
    const known = made.get(published.name);
    if (known?.installation === installation) return known.tool;
    const discoverer: AnyDiscoverer | undefined = await discovererOf(published.program);
    const action = discoverer?.actions[published.action];
    if (!discoverer || !action) throw new Error(`${published.name} is published but not defined`);
    const { actionTool } = await import('../machine/action-tool.ts');
    const tool = actionTool(discoverer, published.action, action, {
      run: machine.run,
      installation,
      childEnvironment: await machine.childEnvironment(),
      ...(keepsStates && {
        checkpoint: async (folder: string, workspace: Workspace, signal: AbortSignal) =>
          (await checkpoints()).take(folder, published.name, workspace, signal),
      }),
    });
    made.set(published.name, { installation, tool });
    return tool;
  }

  async function loadOwn(name: string): Promise<Tool> {
    const own = ownTools[name as keyof typeof ownTools];
    if (own) return own({ report: () => machine.report() });
    const file = fileTools[name as keyof typeof fileTools];
    if (!file) throw new Error(`${name} is published but not defined`);
    return file(await (services ??= fileServices()));
  }

  return {
    async list() {
      const { installed } = await machine.discovery();
      return manifest.tools.filter(
        (tool) =>
          inToolset(tool) &&
          (keepsStates || !checkpointTools.has(tool.name)) &&
          (tool.action === undefined || installed.has(tool.program)) &&
          refusalOf(tool.effects, settings) === undefined,
      );
    },
    async recover() {
      // A server that may change nothing does not tidy up either.
      if (settings.readOnly) return;
      // Most machines have nothing to recover, and need not load what could.
      const { platform, env, home } = machine.host;
      const state = stateFolder(platform, env, home);
      if (state === undefined || !existsSync(join(state, 'journal'))) return;
      await (await (await (services ??= fileServices())).changes()).recover();
    },
    find(name) {
      const published = byName.get(name);
      if (!published) throw unknownTool(name, byName);
      if (!keepsStates && checkpointTools.has(name))
        throw new ToolcribError(
          'UNKNOWN_TOOL',
          `${name} is not offered: checkpoints are off (--no-checkpoints).`,
        );
      if (!inToolset(published)) {
        const offered = settings.toolsets?.join(', ');
        throw new ToolcribError(
          'UNKNOWN_TOOL',
          `${name} is not offered: the toolsets are ${offered} (--toolsets).`,
        );
      }
      return published;
    },
    async call(published, params, context) {
      try {
        const refusal = refusalOf(published.effects, settings);
        if (refusal)
          throw new ToolcribError('EFFECT_DENIED', `${published.name} is not allowed: ${refusal}.`);
        const tool = await load(published);
        return await tool.call(checkParams(tool.params, params), context);
      } catch (error) {
        if (error instanceof ToolcribError) return failed(`${error.code}: ${error.message}`);
        throw error;
      }
    },
  };
}

const discovererOf = (id: string): Promise<AnyDiscoverer> | undefined => {
  const load = discoverers[id as keyof typeof discoverers];
  return load?.() as Promise<AnyDiscoverer> | undefined;
};

const failed = (text: string): ToolResult => ({ isError: true, content: [{ type: 'text', text }] });

function unknownTool(name: string, known: ReadonlyMap<string, PublishedTool>): ToolcribError {
  const best = nearest(name, [...known.keys()]);
  return new ToolcribError(
    'UNKNOWN_TOOL',
    `There is no tool ${JSON.stringify(name)}.`,
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
