import { setTimeout } from 'node:timers/promises';
import type { Settings } from '../core/settings.ts';
import type { History } from '../machine/history/history.ts';
import type { Machine } from '../machine/machine.ts';
import type { Caller } from './caller.ts';
import type { SharedServices } from './call-services.ts';
import type { Called, Calls, Planned } from './calls.ts';
import type { Deciding } from './consider.ts';
import { createLoader, type LoadingServices } from './load-tools.ts';
import { createOffered, type Offered } from './offered.ts';
import type { PublishedTool } from './published.ts';

/** What is offered on this machine, and how it is called. */
export interface Toolbox extends Pick<Offered, 'find'> {
  /** What a host is shown, sorted by name; the same for every client. */
  list(): Promise<readonly PublishedTool[]>;
  /** Never rejects but for a bug: what is the caller's to mend comes as a result with isError. */
  call(tool: PublishedTool, params: unknown, caller: Caller): Promise<Called>;
  /** What a call would do; nothing is done, and nobody asked. */
  plan(tool: PublishedTool, params: unknown, caller: Caller): Promise<Planned>;
  /** Ends all jobs and forgets all output. */
  end(): Promise<void>;
}

export interface ToolboxOptions extends SharedServices {
  /** By which the project shows what it uses; see signsIn(). */
  readonly signs: Promise<ReadonlyMap<string, string>>;
  /** Whether those who call sit at this machine, and may ask what listens on it alone. */
  readonly isLocal: boolean;
  /** Of all toolboxes of this process: one change is made at a time. */
  readonly history?: () => Promise<History>;
}

/** How long calls have to come to an end when the server leaves. */
const endMs = 800;

/** Puts together what can be offered and what this machine has. Loads an action's code when it is first called. */
export function createToolbox(
  whole: LoadingServices['whole'],
  machine: Machine,
  settings: Settings,
  options: ToolboxOptions,
): Toolbox {
  const offered = createOffered(whole.manifest, machine, settings, options.signs);
  let kept: Promise<History> | undefined;
  /** Loaded when it is first used. */
  const history = () => (kept ??= (options.history ?? (() => historyOf(machine)))());
  const { isLocal } = options;
  const load = createLoader({ whole, machine, settings, offered, history, calls: madeCalls, isLocal });
  /** The first state takes longest: it is begun when a call is made that needs the trust in a folder. */
  const trusted: Deciding['trusted'] = (folder, workspace) => {
    if (settings.checkpoints !== false)
      void history().then(({ checkpoint }) => checkpoint.begin(folder, workspace));
  };
  let calls: Promise<Calls> | undefined;
  const pending = new Set<Promise<unknown>>();

  /** What a call needs beside its tool takes some milliseconds to load, which a start has no use for. */
  function madeCalls(): Promise<Calls> {
    return (calls ??= Promise.all([
      import('./calls.ts').then((m) => m.createCalls),
      import('./call-services.ts').then((m) => m.createCallServices),
    ]).then(([createCalls, createCallServices]) =>
      createCalls({
        load,
        find: offered.find,
        trusted,
        ...createCallServices(machine.host, settings, options),
      }),
    ));
  }

  return {
    list: async () => (await offered.exposure()).listed,
    find: offered.find,
    async call(published, params, caller) {
      const called = (await madeCalls()).call(published, params, caller);
      pending.add(called);
      return called.finally(() => pending.delete(called));
    },
    plan: async (published, params, caller) => (await madeCalls()).plan(published, params, caller),
    async end() {
      // A file that is being written is then whole, and nothing lies beside it; programs are ended meanwhile.
      const settled = Promise.race([
        Promise.allSettled(pending),
        setTimeout(endMs, undefined, { ref: false }),
      ]);
      await Promise.all([settled, calls?.then((made) => made.end())]);
      await (await kept)?.settled();
    },
  };
}

/** The history of this machine: what was changed through toolcrib, and states of work trees. */
export async function historyOf({
  host: { platform, env, home },
  run,
  ...machine
}: Machine): Promise<History> {
  const [{ History }, { stateFolder }] = await Promise.all([
    import('../machine/history/history.ts'),
    import('../own-files/own-files.ts'),
  ]);
  return new History({
    state: stateFolder(platform, env, home),
    run,
    async git() {
      const installation = (await machine.discovery()).installed.get('git');
      // A version manager's shim asks the project which git to start, and can be told one that lies there.
      if (!installation || installation.shim !== undefined) return undefined;
      const { program, leading } = installation;
      return { program, leading, env: (await machine.childEnvironment())([], {}) };
    },
  });
}
