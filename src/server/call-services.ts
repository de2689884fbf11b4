import type { Settings } from '../core/settings.ts';
import { createAudit, type Audit } from '../machine/audit/audit.ts';
import { createAdmission, type Admission } from '../machine/fair-limits.ts';
import { cacheFolder, stateFolder } from '../machine/folders.ts';
import type { Host } from '../machine/host.ts';
import { createJobs, type Jobs } from '../machine/jobs/jobs.ts';
import { createOutputStore, type OutputStore } from '../machine/output-store/output-store.ts';
import { createRedactor, type Redactor } from '../machine/redact/redactor.ts';
import type { Trust } from '../machine/trust/trust.ts';

/** What all calls of one server share. */
export interface CallServices {
  readonly admission: Admission;
  readonly jobs: Jobs;
  readonly outputs: OutputStore;
  readonly redactor: Redactor;
  readonly audit: Audit;
  /** Loaded when it is first asked. */
  trust(): Promise<Trust>;
}

/** The services of this machine, none of which does anything before it is used. */
export function createCallServices(
  { platform, env, home }: Host,
  { budgets, databases }: Settings,
): CallServices {
  const state = stateFolder(platform, env, home);
  // The password in the address of a database is a secret, wherever the address stands.
  const addresses = Object.entries(databases).map(([name, { url }]) => [`database ${name}`, url]);
  const redactor = createRedactor({ env: { ...env, ...Object.fromEntries(addresses) } });
  let trust: Promise<Trust> | undefined;
  return {
    admission: createAdmission({ ...budgets, callsPerSecond: 1000 }),
    jobs: createJobs({ budgets: () => budgets }),
    outputs: createOutputStore({ folder: cacheFolder(platform, env, home), budgets, redactor }),
    redactor,
    audit: createAudit({ folder: state, redactor }),
    trust: () =>
      (trust ??= import('../machine/trust/trust.ts').then((m) => m.createTrust({ folder: state }))),
  };
}
