import type { Settings } from '../core/settings.ts';
import type { Tool } from '../core/tool.ts';
import type { Checkpoint } from '../machine/actions/run-action.ts';
import type { Jobs } from '../machine/jobs/jobs.ts';
import type { Machine } from '../machine/environment.ts';
import type { OutputStore } from '../machine/output-store/output-store.ts';
import type { ToolRegistry } from './registry/tool-registry.ts';
import type { Catalogue } from './published.ts';

/** What the tools that are about the crib itself need of it. */
export interface OwnServices extends Pick<
  Machine,
  'host' | 'run' | 'which' | 'present' | 'discovery' | 'report'
> {
  readonly jobs: Pick<Jobs, 'list' | 'find'>;
  readonly outputs: Pick<OutputStore, 'list' | 'find'>;
  /** Makes environments for children; see childEnvironment(). */
  environment(names: readonly string[], settings: Readonly<Record<string, string>>): Record<string, string>;
  /** Left out where no states are kept. */
  readonly checkpoint?: Checkpoint;
  readonly manifest: Catalogue;
  readonly offered: ToolRegistry;
  /** Databases of the settings. */
  readonly databases: Settings['databases'];
  /** Whether servers of this machine may be asked: only those who sit at it speak to us over standard input. */
  readonly loopback: boolean;
  /** Finds out anew what is installed, when that may have changed. */
  refresh(): Promise<void>;
  /** Another tool by its name. Throws UNKNOWN_TOOL. */
  load(name: string): Promise<Tool>;
}

/** Tools of our own that are about the crib itself. One line each. */
export const builtInTools: Readonly<Record<string, (services: OwnServices) => Promise<Tool>>> = {
  check: (services) => import('../tools/check.ts').then((m) => m.check(services)),
  change_packages: (services) =>
    import('../tools/change-packages.ts').then((m) => m.changePackages(services)),
  project: (services) => import('../tools/project.ts').then((m) => m.project(services)),
  query: (services) => import('../tools/query.ts').then((m) => m.query(services)),
  run_task: (services) => import('../tools/run-task.ts').then((m) => m.runTask(services)),
  fetch_url: (services) => import('../tools/fetch-url.ts').then((m) => m.fetchUrl(services)),
  find_actions: (services) => import('../tools/find-actions.ts').then((m) => m.findActions(services)),
  control_job: (services) => import('../tools/control-job.ts').then((m) => m.controlJob(services)),
  list_programs: (services) => import('../tools/list-programs.ts').then((m) => m.listPrograms(services)),
  read_output: (services) => import('../tools/read-output.ts').then((m) => m.readOutput(services)),
  run: (services) => import('../tools/run.ts').then((m) => m.runTool(services)),
  run_action: (services) => import('../tools/run-action.ts').then((m) => m.runAction(services)),
  run_read_action: (services) => import('../tools/run-action.ts').then((m) => m.runReadAction(services)),
};
