import type { Settings } from '../core/settings.ts';
import type { Tool } from '../core/tool.ts';
import type { Checkpoint } from '../machine/actions/run-program.ts';
import type { Jobs } from '../machine/jobs/jobs.ts';
import type { Machine } from '../machine/machine.ts';
import type { OutputStore } from '../machine/output-store/output-store.ts';
import type { Catalogue } from './catalogue/find-actions.ts';

/** What the tools that are about the crib itself need of it. */
export interface OwnServices extends Pick<
  Machine,
  'host' | 'run' | 'which' | 'present' | 'discovery' | 'report'
> {
  readonly jobs: Jobs;
  readonly outputs: OutputStore;
  /** Makes environments for children; see childEnvironment(). */
  environment(names: readonly string[], settings: Readonly<Record<string, string>>): Record<string, string>;
  /** Left out where no states are kept. */
  readonly checkpoint?: Checkpoint;
  readonly catalogue: Catalogue;
  /** Databases of the settings. */
  readonly databases: Settings['databases'];
  /** Whether servers of this machine may be asked: only those who sit at it speak to us over standard input. */
  readonly loopback: boolean;
  /** Another tool by its name. Throws UNKNOWN_TOOL. */
  load(name: string): Promise<Tool>;
}

/** Tools of our own that are about the crib itself. One line each. */
export const ownTools = {
  check: (services: OwnServices) => import('./roles/check.ts').then((m) => m.check(services)),
  change_packages: (services: OwnServices) =>
    import('./roles/change-packages.ts').then((m) => m.changePackages(services)),
  project: (services: OwnServices) => import('./roles/project.ts').then((m) => m.project(services)),
  query: (services: OwnServices) => import('./roles/query.ts').then((m) => m.query(services)),
  run_task: (services: OwnServices) => import('./roles/run-task.ts').then((m) => m.runTask(services)),
  fetch_url: (services: OwnServices) => import('./fetch/fetch-url.ts').then((m) => m.fetchUrl(services)),
  find_actions: ({ catalogue }: OwnServices) =>
    import('./catalogue/find-actions.ts').then((m) => m.findActions(catalogue)),
  control_job: (services: OwnServices) =>
    import('./tools/control-job.ts').then((m) => m.controlJob(services)),
  list_programs: (services: OwnServices) =>
    import('./list-programs.ts').then((m) => m.listPrograms(services)),
  read_output: (services: OwnServices) =>
    import('./tools/read-output.ts').then((m) => m.readOutput(services)),
  run: (services: OwnServices) => import('./tools/run.ts').then((m) => m.runTool(services)),
  run_action: (services: OwnServices) =>
    import('./catalogue/run-action.ts').then((m) => m.runAction(services)),
  run_read_action: (services: OwnServices) =>
    import('./catalogue/run-action.ts').then((m) => m.runReadAction(services)),
};
