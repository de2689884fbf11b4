import { setTimeout } from 'node:timers/promises';
import type { Settings } from '../core/settings.ts';
import type { ToolRegistry } from '../core/tool-definition.ts';
import { createAudit, type RecordCall } from '../machine/audit/audit.ts';
import type { Environment } from '../machine/environment.ts';
import type { History } from '../machine/history/history.ts';
import type { Host } from '../machine/host.ts';
import { Jobs } from '../machine/jobs/jobs.ts';
import { KnownFiles } from '../machine/known-files.ts';
import { createLimit } from '../machine/limited.ts';
import { once } from '../machine/once.ts';
import { OutputStore } from '../machine/output-store/output-store.ts';
import { createMask, type Mask } from '../machine/secrets/mask.ts';
import type { Session } from '../machine/session.ts';
import { userFolder } from '../machine/user-folders.ts';
import { ToolLoader } from './registry/tool-loader.ts';

export interface SessionOptions {
  readonly isLocal: boolean;
  /** Called with the handle of each job that has ended. */
  jobEnded(handle: string): void;
  /** The name of this process among others that serve the same clients. */
  readonly instance?: string | undefined;
  /** Shared by several clients: one change is made at a time, and there is one record. */
  readonly recordCall?: RecordCall | undefined;
  readonly history?: (() => Promise<History>) | undefined;
}

/** Time in which calls are to come to an end when the server leaves. */
const endMs = 800;

/**
 * For what leaves the server. The password in the address of a database is a secret, wherever the address
 * stands.
 */
export function maskOf({ env }: Pick<Host, 'env'>, { databases }: Pick<Settings, 'databases'>): Mask {
  const addresses = Object.entries(databases).map(([name, { url }]) => [`database ${name}`, url]);
  return createMask({ ...env, ...Object.fromEntries(addresses) });
}

/** Makes the session of a client, with its first call. */
export function createSession(
  environment: Environment,
  settings: Settings,
  tools: ToolRegistry,
  options: SessionOptions,
): Session {
  const { host } = environment;
  const state = userFolder('state', host);
  const mask = maskOf(host, settings);
  const jobs = new Jobs(options.instance, options.jobEnded);
  const outputs = new OutputStore({
    folder: userFolder('cache', host),
    budgets: settings.budgets,
    instance: options.instance,
  });
  const pending = new Set<Promise<unknown>>();
  let kept: Promise<History> | undefined;
  const history = () => {
    kept ??= options.history ? options.history() : historyOf(environment);
    return kept;
  };
  const keepsCheckpoints = settings.checkpoints !== false;
  const loader = new ToolLoader();
  const session: Session = {
    environment,
    settings,
    isLocal: options.isLocal,
    tools,
    jobs,
    outputs,
    knownFiles: new KnownFiles(),
    listings: new Map(),
    problems: new Map(),
    checkpoints: keepsCheckpoints ? checkpointsOf(history) : undefined,
    history,
    trust: once(async () => (await import('../machine/trust/trust.ts')).createTrust({ folder: state })),
    // One that is not there may be installed before the next call.
    ripgrep: once(async () => {
      const { findRipgrep } = await import('../machine/programs/find-ripgrep.ts');
      return findRipgrep(await environment.which('rg'));
    }),
    load: (tool) => loader.load(tool, session),
    admit: createLimit(settings.budgets.calls),
    mask,
    recordCall: options.recordCall ?? createAudit({ folder: state, mask }),
    pending,
    writing: new Set(),
    needsTrusted(folder, workspace) {
      if (keepsCheckpoints) void history().then(({ checkpoint }) => checkpoint.begin(folder, workspace));
    },
    async end() {
      // A file that is being written is then whole, and nothing lies beside it; programs are ended meanwhile.
      const settled = [Promise.allSettled(pending), setTimeout(endMs, undefined, { ref: false })];
      await Promise.all([Promise.race(settled), jobs.endAll()]);
      outputs.close();
      await (await kept)?.settled();
    },
  };
  return session;
}

/** The states of work trees that a history keeps. */
const checkpointsOf = (history: Session['history']): Session['checkpoints'] => ({
  take: async (...given) => (await history()).checkpoint.take(...given),
  isReady: async (...given) => (await history()).checkpoint.isReady(...given),
});

/** The history of this machine: what was changed through toolcrib, and states of work trees. */
export async function historyOf(environment: Environment): Promise<History> {
  const { History } = await import('../machine/history/history.ts');
  return new History({
    state: userFolder('state', environment.host),
    run: environment.run,
    async git() {
      const installation = (await environment.discovery()).installed.get('git');
      // A version manager's shim asks the project which git to start, and can be told one that lies there.
      if (!installation || installation.shim !== undefined) return undefined;
      const { program, leading } = installation;
      return { program, leading, env: await environment.childEnvironment([], {}) };
    },
  });
}
