import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import type { ToolDefinition } from './published.ts';

/** What is to be known of a listed tool beside itself. */
interface OwnFacts {
  /** What hosts that show a model only names find it by (`anthropic/searchHint`), in three to eight words. */
  readonly hint?: string;
  /** In the first request all the same (`anthropic/alwaysLoad`): what was put off is used less. */
  readonly always?: true;
  /** It starts programs, which may take longer than a call. */
  readonly starts?: true;
  /** Results of programs name it: it belongs to each toolset that has programs. */
  readonly companion?: true;
  /** It only waits for what other calls have started. */
  readonly waits?: true;
  /** It is asked for seldom: a part of the catalogue. */
  readonly unlisted?: true;
}

const [always, companion, starts, unlisted] = [true, true, true, true] as const;
const facts: Readonly<Record<string, OwnFacts>> = {
  apply_patch: { hint: 'apply a patch to several files', unlisted },
  change_packages: { hint: 'install, add, remove, update packages or dependencies', starts, companion },
  check: { hint: 'run tests, lint, type check, build', always, starts, companion },
  control_job: { hint: 'stop a dev server or job', companion },
  copy_path: { unlisted },
  delete_path: { unlisted },
  edit_file: { hint: 'edit a file, replace exact text', always },
  edit_files: { hint: 'edit several files at once' },
  fetch_url: { hint: 'fetch a web page or URL' },
  find_actions: { hint: 'find any other action or tool', always, companion },
  git_commit: { hint: 'commit changes, stage files', always },
  git_diff: { hint: 'show uncommitted changes as a diff', always },
  git_integrate: { hint: 'merge, rebase, cherry-pick, revert, resolve conflicts' },
  git_log: { hint: 'git history, list commits' },
  git_show: { hint: 'show a commit or an old file' },
  git_status: { hint: 'git status, branch, changed files', always },
  git_switch: { hint: 'switch, create, rename, delete a branch' },
  git_sync: { hint: 'fetch, pull, push to a remote' },
  grep: { hint: 'search text in files', always },
  list_files: { hint: 'list files, find by name or glob', always },
  list_programs: { unlisted },
  move_path: { unlisted },
  project: { hint: 'what this project is: overview', always, companion },
  query: { hint: 'query a SQL database, list tables', companion },
  read_file: { hint: 'read a file, image, PDF, notebook', always },
  read_output: { hint: 'read output of a job, wait for it', companion, waits: true },
  replace_in_files: { hint: 'rename or replace over many files' },
  run: { hint: 'run any command or program', always, starts },
  run_action: { hint: 'run an action that find_actions named', starts, companion },
  run_read_action: { hint: 'run a looking action of find_actions', starts, companion },
  run_task: { hint: 'run a script, start dev server', always, starts, companion },
  undo: { hint: 'undo changes, take back edits', always },
  write_file: { hint: 'create or write a file', always },
};

export const builtInFacts = (name: string): OwnFacts => facts[name] ?? {};

/** A tool as it stands in tools/list. */
export function asListed({ name, title, description, inputSchema, annotations }: ToolDefinition): ListedTool {
  const { hint, always: loads } = builtInFacts(name);
  const meta = { 'anthropic/searchHint': hint, ...(loads && { 'anthropic/alwaysLoad': true }) };
  return {
    name,
    title,
    description,
    inputSchema: inputSchema as ListedTool['inputSchema'],
    annotations,
    ...(hint && { _meta: meta }),
  };
}
