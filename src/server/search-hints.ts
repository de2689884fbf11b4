/**
 * What hosts that show a model only names find a tool by (`anthropic/searchHint`), in three to eight words. Those with
 * `always` are in the first request all the same (`anthropic/alwaysLoad`): what was put off is used less.
 */
const hints: Readonly<Record<string, { readonly hint: string; readonly always?: true }>> = {
  apply_patch: { hint: 'apply a patch to several files' },
  change_packages: { hint: 'install, add, remove, update packages or dependencies' },
  check: { hint: 'run tests, lint, type check, build', always: true },
  control_job: { hint: 'stop a dev server or job' },
  edit_file: { hint: 'edit a file, replace exact text', always: true },
  edit_files: { hint: 'edit several files at once' },
  fetch_url: { hint: 'fetch a web page or URL' },
  find_actions: { hint: 'find any other action or tool', always: true },
  git_commit: { hint: 'commit changes, stage files', always: true },
  git_diff: { hint: 'show uncommitted changes as a diff', always: true },
  git_integrate: { hint: 'merge, rebase, cherry-pick, revert, resolve conflicts' },
  git_log: { hint: 'git history, list commits' },
  git_show: { hint: 'show a commit or an old file' },
  git_status: { hint: 'git status, branch, changed files', always: true },
  git_switch: { hint: 'switch, create, rename, delete a branch' },
  git_sync: { hint: 'fetch, pull, push to a remote' },
  grep: { hint: 'search text in files', always: true },
  list_files: { hint: 'list files, find by name or glob', always: true },
  project: { hint: 'what this project is: overview', always: true },
  query: { hint: 'query a SQL database, list tables' },
  read_file: { hint: 'read a file, image, PDF, notebook', always: true },
  read_output: { hint: 'read output of a job, wait for it' },
  replace_in_files: { hint: 'rename or replace over many files' },
  run: { hint: 'run any command or program', always: true },
  run_action: { hint: 'run an action that find_actions named' },
  run_read_action: { hint: 'run a looking action of find_actions' },
  run_task: { hint: 'run a script, start dev server', always: true },
  undo: { hint: 'undo changes, take back edits', always: true },
  write_file: { hint: 'create or write a file', always: true },
};

/** `_meta` of a listed tool; undefined where there is nothing to say. */
export function searchMeta(name: string): Record<string, unknown> | undefined {
  const found = hints[name];
  return (
    found && {
      'anthropic/searchHint': found.hint,
      ...(found.always && { 'anthropic/alwaysLoad': true }),
    }
  );
}
