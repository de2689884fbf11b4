/** Those that start programs, which may take longer than a call. */
export const startingTools: ReadonlySet<string> = new Set([
  'run_action',
  'run_command',
  'run_read_action',
  'run_script',
]);
/** Those that results of programs name: they belong to each toolset that has programs. */
export const companions: ReadonlySet<string> = new Set([
  'find_actions',
  'list_jobs',
  'read_job',
  'read_output',
  'run_action',
  'run_read_action',
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
  'list_programs',
  'move_path',
]);
