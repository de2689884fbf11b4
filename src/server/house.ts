import { setTimeout } from 'node:timers/promises';
import type { Settings } from '../core/settings.ts';
import type { Workspace } from '../core/tool.ts';
import { createAudit, type RecordCall } from '../machine/audit/audit.ts';
import type { History } from '../machine/history/history.ts';
import type { Host } from '../machine/host.ts';
import { Jobs } from '../machine/jobs/jobs.ts';
import { userFolder } from '../machine/user-folders.ts';
import { createLimit } from '../machine/limited.ts';
import type { Machine } from '../machine/environment.ts';
import { OutputStore } from '../machine/output-store/output-store.ts';
import { createMask, type Mask } from '../machine/secrets/mask.ts';
import type { Found } from './environment/detect-environment.ts';
import { createLoader, once } from './registry/tool-loader.ts';
import type { ToolRegistry } from './registry/tool-registry.ts';

/** What all calls of one client have in common. Loaded with the first of them: a start has no use for it. */
export type House = ReturnType<typeof createHouse>;

export interface HouseOptions {
  /** Whether those who call sit at this machine, and may ask what listens on it alone. */
  readonly isLocal: boolean;
  /** Called with the handle of each job that has ended. */
  jobEnded(handle: string): void;
  /** What tells this process from others that serve the same clients. */
  readonly instance?: string | undefined;
  /** Where several clients share them: one change is made at a time, and there is one record. */
  readonly recordCall?: RecordCall | undefined;
  readonly history?: (() => Promise<History>) | undefined;
}

/** How long calls have to come to an end when the server leaves. */
const endMs = 800;

/** For what leaves the server. The password in the address of a database is a secret, wherever the address stands. */
export function maskOf({ env }: Pick<Host, 'env'>, { databases }: Pick<Settings, 'databases'>): Mask {
  const addresses = Object.entries(databases).map(([name, { url }]) => [`database ${name}`, url]);
  return createMask({ ...env, ...Object.fromEntries(addresses) });
}

/** Each thing does nothing before it is used. */
export function createHouse(
  found: Found,
  settings: Settings,
  offered: ToolRegistry,
  { isLocal, jobEnded, instance, recordCall, history: shared }: HouseOptions,
) {
  const { machine } = found;
  const state = userFolder('state', machine.host);
  const mask = maskOf(machine.host, settings);
  const jobs = new Jobs(instance, jobEnded);
  const outputs = new OutputStore({
    folder: userFolder('cache', machine.host),
    budgets: settings.budgets,
    instance,
  });
  /** Calls that are being made. */
  const pending = new Set<Promise<unknown>>();
  let kept: Promise<History> | undefined;
  const history = () => (kept ??= shared ? shared() : historyOf(machine));
  return {
    admit: createLimit(settings.budgets.calls),
    jobs,
    outputs,
    /** For what leaves the server, and nothing else. */
    mask,
    recordCall: recordCall ?? createAudit({ folder: state, mask }),
    trust: once(async () => (await import('../machine/trust/trust.ts')).createTrust({ folder: state })),
    /** Throws UNKNOWN_TOOL. */
    find: offered.find,
    load: createLoader({ found, settings, offered, history, jobs, outputs, isLocal }),
    /**
     * Told of a folder that a person trusts, when a call there needs it. The first state takes longest: it is begun
     * then.
     */
    trusted(folder: string, workspace: Workspace) {
      if (settings.checkpoints !== false)
        void history().then(({ checkpoint }) => checkpoint.begin(folder, workspace));
    },
    pending,
    /** Those of them that only write files: what a model asks for after them is to find what they wrote. */
    writing: new Set<Promise<unknown>>(),
    /** Ends all jobs and forgets all output. */
    async end() {
      // A file that is being written is then whole, and nothing lies beside it; programs are ended meanwhile.
      const settled = [Promise.allSettled(pending), setTimeout(endMs, undefined, { ref: false })];
      await Promise.all([Promise.race(settled), jobs.endAll()]);
      outputs.close();
      await (await kept)?.settled();
    },
  };
}

/** The history of this machine: what was changed through toolcrib, and states of work trees. */
export async function historyOf(machine: Machine): Promise<History> {
  const { History } = await import('../machine/history/history.ts');
  return new History({
    state: userFolder('state', machine.host),
    run: machine.run,
    async git() {
      const installation = (await machine.discovery()).installed.get('git');
      // A version manager's shim asks the project which git to start, and can be told one that lies there.
      if (!installation || installation.shim !== undefined) return undefined;
      const { program, leading } = installation;
      return { program, leading, env: (await machine.childEnvironment())([], {}) };
    },
  });
}
