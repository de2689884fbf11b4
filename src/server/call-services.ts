import type { Settings } from '../core/settings.ts';
import { createAudit, type RecordCall } from '../machine/audit/audit.ts';
import { cacheFolder, stateFolder } from '../own-files/own-files.ts';
import { createLimit, type Admit } from '../machine/limited.ts';
import type { Host } from '../machine/host.ts';
import { Jobs } from '../machine/jobs/jobs.ts';
import { OutputStore } from '../machine/output-store/output-store.ts';
import { createMask, type Mask } from '../machine/secrets/mask.ts';
import type { Trust } from '../machine/trust/trust.ts';

/** What all calls of one server share. */
export interface CallServices {
  readonly admit: Admit;
  readonly jobs: Jobs;
  readonly outputs: OutputStore;
  /** For what leaves the server, and nothing else. */
  readonly mask: Mask;
  readonly recordCall: RecordCall;
  /** Loaded when it is first asked. */
  trust(): Promise<Trust>;
}

/** What several toolboxes of one process share, and what tells this process from others that serve the same clients. */
export interface SharedServices {
  readonly recordCall?: RecordCall;
  readonly instance?: string;
  /** Called with the handle of each job that has ended. */
  jobEnded?(handle: string): void;
}

/** For what leaves the server. The password in the address of a database is a secret, wherever the address stands. */
export function maskOf({ env }: Pick<Host, 'env'>, { databases }: Pick<Settings, 'databases'>): Mask {
  const addresses = Object.entries(databases).map(([name, { url }]) => [`database ${name}`, url]);
  return createMask({ ...env, ...Object.fromEntries(addresses) });
}

/** The services of this machine, none of which does anything before it is used. */
export function createCallServices(
  host: Host,
  settings: Settings,
  { recordCall, instance, jobEnded }: SharedServices,
): CallServices {
  const { platform, env, home } = host;
  const { budgets } = settings;
  const state = stateFolder(platform, env, home);
  const mask = maskOf(host, settings);
  let trust: Promise<Trust> | undefined;
  return {
    admit: createLimit(budgets.calls),
    jobs: new Jobs(instance, jobEnded),
    outputs: new OutputStore({ folder: cacheFolder(platform, env, home), budgets, instance }),
    mask,
    recordCall: recordCall ?? createAudit({ folder: state, mask }),
    trust: () =>
      (trust ??= import('../machine/trust/trust.ts').then((m) => m.createTrust({ folder: state }))),
  };
}
