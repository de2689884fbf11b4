import type { BuiltInTool } from './define-tool.ts';

type File = () => Promise<{ default: BuiltInTool }>;

/** Every built-in tool, loaded when it is called. Written from the folder by `npm run build`. */
export const builtInTools = {
  apply_patch: () => import('./files/apply-patch.ts'),
  change_packages: () => import('./change-packages.ts'),
  check: () => import('./check.ts'),
  control_job: () => import('./control-job.ts'),
  copy_path: () => import('./files/copy-path.ts'),
  delete_path: () => import('./files/delete-path.ts'),
  edit_file: () => import('./files/edit-file.ts'),
  edit_files: () => import('./files/edit-files.ts'),
  fetch_url: () => import('./fetch-url.ts'),
  find_actions: () => import('./find-actions.ts'),
  git_integrate: () => import('./git/git-integrate.ts'),
  git_switch: () => import('./git/git-switch.ts'),
  git_sync: () => import('./git/git-sync.ts'),
  grep: () => import('./files/grep.ts'),
  list_files: () => import('./files/list-files.ts'),
  list_programs: () => import('./list-programs.ts'),
  move_path: () => import('./files/move-path.ts'),
  project: () => import('./project.ts'),
  query: () => import('./query.ts'),
  read_file: () => import('./files/read-file.ts'),
  read_output: () => import('./read-output.ts'),
  replace_in_files: () => import('./files/replace-in-files.ts'),
  run: () => import('./run.ts'),
  run_action: () => import('./run-action.ts'),
  run_read_action: () => import('./run-read-action.ts'),
  run_task: () => import('./run-task.ts'),
  undo: () => import('./files/undo.ts'),
  write_file: () => import('./files/write-file.ts'),
} satisfies Record<string, File>;
