/** Those that start programs, which may take longer than a call. */
export const startingTools: ReadonlySet<string> = new Set([
  'change_packages',
  'check',
  'run_action',
  'run_command',
  'run_read_action',
  'run_script',
  'run_task',
]);
/** Those that results of programs name: they belong to each toolset that has programs. */
export const companions: ReadonlySet<string> = new Set([
  'change_packages',
  'check',
  'find_actions',
  'list_jobs',
  'read_job',
  'project',
  'query',
  'read_output',
  'run_action',
  'run_read_action',
  'run_task',
  'stop_job',
  'wait_job',
]);
/** Those that only wait for what other calls have started. */
export const waitingTools: ReadonlySet<string> = new Set(['wait_job']);
/** Tools of our own that are asked for seldom: a part of the catalogue. */
export const unlisted: ReadonlySet<string> = new Set([
  'apply_patch',
  'copy_path',
  'delete_path',
  'list_jobs',
  'list_programs',
  'move_path',
  'read_job',
  'run_script',
  'wait_job',
  'write_job',
]);
