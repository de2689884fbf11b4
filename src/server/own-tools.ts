import type { AskReason } from '../core/policy.ts';
import type { CallContext, ToolResult, Workspace } from '../core/tool.ts';
import type { Jobs } from '../machine/jobs/jobs.ts';
import type { Machine } from '../machine/machine.ts';
import type { OutputStore } from '../machine/output-store/output-store.ts';

/** What the tools that are about the crib itself need of it. */
export interface OwnServices extends Pick<Machine, 'host' | 'run' | 'which' | 'discovery' | 'report'> {
  readonly jobs: Jobs;
  readonly outputs: OutputStore;
  /** Makes environments for children; see childEnvironment(). */
  environment(names: readonly string[], settings: Readonly<Record<string, string>>): Record<string, string>;
  /** Keeps the state of the work tree before a program starts; what the caller is told about that. Never rejects. */
  checkpoint?(folder: string, workspace: Workspace, signal: AbortSignal): Promise<string | undefined>;
  /** Another tool, as if it had been called itself: checked, decided about and asked about. */
  callTool(name: string, params: unknown, context: CallContext): Promise<ToolResult>;
}

/** Tools of our own that are about the crib itself. One line each. */
export const ownTools = {
  list_jobs: (services: OwnServices) => import('./tools/list-jobs.ts').then((m) => m.listJobs(services)),
  list_programs: (services: OwnServices) =>
    import('./list-programs.ts').then((m) => m.listPrograms(services)),
  read_job: (services: OwnServices) => import('./tools/read-job.ts').then((m) => m.readJob(services)),
  read_output: (services: OwnServices) =>
    import('./tools/read-output.ts').then((m) => m.readOutput(services)),
  run_command: (services: OwnServices) =>
    import('./tools/run-command.ts').then((m) => m.runCommand(services)),
  run_script: (services: OwnServices) => import('./tools/run-script.ts').then((m) => m.runScript(services)),
  start_job: (services: OwnServices) => import('./tools/start-job.ts').then((m) => m.startJob(services)),
  stop_job: (services: OwnServices) => import('./tools/stop-job.ts').then((m) => m.stopJob(services)),
  wait_job: (services: OwnServices) => import('./tools/wait-job.ts').then((m) => m.waitJob(services)),
  write_job: (services: OwnServices) => import('./tools/write-job.ts').then((m) => m.writeJob(services)),
};

/** Those that start programs no action describes: why a person is asked about each call. */
export const alwaysAsks: ReadonlyMap<string, AskReason> = new Map([
  ['run_command', 'command'],
  ['run_script', 'script'],
]);
/** Those that results of programs name: they belong to each toolset that has programs. */
export const companions: ReadonlySet<string> = new Set([
  'list_jobs',
  'read_job',
  'read_output',
  'stop_job',
  'wait_job',
]);
/** Those that only wait for what other calls have started. */
export const waitingTools: ReadonlySet<string> = new Set(['wait_job']);
