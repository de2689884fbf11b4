/** Those that start programs, which may take longer than a call. */
export const startingTools: ReadonlySet<string> = new Set([
  'change_packages',
  'check',
  'run',
  'run_action',
  'run_read_action',
  'run_task',
]);
/** Those that results of programs name: they belong to each toolset that has programs. */
export const companions: ReadonlySet<string> = new Set([
  'change_packages',
  'check',
  'control_job',
  'find_actions',
  'project',
  'query',
  'read_output',
  'run_action',
  'run_read_action',
  'run_task',
]);
/** Those that only wait for what other calls have started. */
export const waitingTools: ReadonlySet<string> = new Set(['read_output']);
/** Tools of our own that are asked for seldom: a part of the catalogue. */
export const unlisted: ReadonlySet<string> = new Set([
  'apply_patch',
  'copy_path',
  'delete_path',
  'list_programs',
  'move_path',
]);
