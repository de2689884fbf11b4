/** A call of a tool. Tools are named here and nowhere else in these tests, as names change and what is promised does not. */
export interface Act {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

const act = (name: string, given: Record<string, unknown> = {}): Act => ({ name, arguments: given });

/** The same act with more parameters. */
export const also = ({ name, arguments: given }: Act, more: Record<string, unknown>): Act =>
  act(name, { ...given, ...more });

// Files
export const readFile = (path: string) => act('read_file', { path });
export const readFiles = (...paths: string[]) => act('read_file', { paths });
export const listFolder = (path = '.') => act('list_files', { path });
export const findFiles = (pattern: string) => act('list_files', { glob: pattern });
export const searchText = (pattern: string, path = '.') => act('grep', { pattern, path });
export const writeFile = (path: string, content: string) => act('write_file', { path, content });
export const editFile = (path: string, before: string, after: string) =>
  act('edit_file', { path, old_string: before, new_string: after });
export const deletePath = (path: string) => act('delete_path', { path });
export const movePath = (from: string, to: string) => act('move_path', { from, to });

// Git
export const status = () => act('git_status');
export const diff = (from?: string) => act('git_diff', from === undefined ? {} : { from });
export const log = (ref?: string) => act('git_log', ref === undefined ? {} : { ref });
export const show = (ref = 'HEAD') => act('git_show', { ref });
export const blame = (path: string) => act('git_blame', { path });
export const fileAt = (file: string, ref = 'HEAD') => show(`${ref}:${file}`);
export const searchCommitted = (pattern: string) => act('git_grep', { pattern });
export const branches = () => act('git_branches');
export const tags = () => act('git_tags');
export const stashes = () => act('git_stashes');
export const remotes = () => act('git_remotes');
export const stage = (...paths: string[]) => act('git_add', { paths });
export const commit = (message: string) => act('git_commit', { message, all: true });
export const createBranch = (branch: string) => act('git_create_branch', { branch });
export const restoreFiles = (...paths: string[]) => act('git_restore', { paths });
export const resetHard = (ref = 'HEAD') => act('git_reset_hard', { ref });
export const fetchFrom = (remote: string) => act('git_fetch', { remote });
export const pushTo = (remote: string, branch = 'main') => act('git_push', { remote, branch });

/** All that looks into a repository that has the file `src/a.txt`. */
export const looksOfGit = (): Act[] => [
  status(),
  diff(),
  log(),
  show(),
  blame('src/a.txt'),
  fileAt('src/a.txt'),
  searchCommitted('one'),
  branches(),
];

/** All that only looks, for a project that has the file `src/a.txt`. */
export const looks = (): Act[] => [
  readFile('src/a.txt'),
  listFolder(),
  findFiles('**/*.txt'),
  searchText('one'),
  ...looksOfGit(),
  tags(),
  stashes(),
  remotes(),
];

// Code of the project, and any program
export const runScript = (script: string, ...args: string[]) => act('npm_run', { task: script, args });
/** An action by its name, through the catalogue. */
export const namedAction = (action: string, given: Record<string, unknown>) =>
  act('run_action', { action, arguments: given });
export const runTask = (task: string) => act('run_task', { task });
export const runFile = (file: string, ...args: string[]) => act('node_run', { file, args });
export const runProgram = (program: string, ...args: string[]) => act('run', { command: program, args });
/** Programs, as a person would type them. */
export const runLine = (command: string) => act('run', { command });
/** A development server. */
export const serve = (port?: number) =>
  act('run_action', { action: 'vite_dev', arguments: port === undefined ? {} : { port } });
/** The same act in a folder of the project. */
export const inFolder = (folder: string, one: Act) => also(one, { cwd: folder });

// What is kept: each takes what an answer said
const found = (pattern: RegExp, said: string): string => {
  const match = pattern.exec(said)?.[1];
  if (match === undefined) throw new Error(`no ${pattern.source} in: ${said}`);
  return match;
};
export const jobIn = (said: string): string =>
  found(/(?:^|\n)(?:[^\n]*; )?([a-z0-9-]+-\d+) (?:is|was|failed)/, said);
export const undo = (said: string) => act('undo', { since: found(/\bchange ([\w-]+)/, said) });
export const undoLast = (last = 1) => act('undo', { last });
export const keptOutput = (said: string) =>
  act('read_output', { id: found(/\bread_output id=([\w-]+)/, said) });
export const outputPage = (said: string, line: number, lines: number) =>
  also(keptOutput(said), { start_line: line, end_line: line + lines - 1 });
export const outputEnd = (said: string, lines: number) => also(keptOutput(said), { tail: lines });
export const outputMatches = (said: string, pattern: string) => also(keptOutput(said), { pattern });
export const startJob = ({ name, arguments: given }: Act) =>
  name === 'run'
    ? act(name, { ...given, background: true })
    : act('run_action', { action: name, arguments: given, background: true });
export const waitForJob = (said: string) =>
  act('read_output', { id: jobIn(said), wait_for: 'end', timeout: 20 });
export const stopJob = (said: string) => act('control_job', { id: jobIn(said), action: 'stop' });

// Databases
export const querySqlite = (database: string, sql: string) => act('sqlite3_query', { database, sql });

export const queryPostgres = (sql: string) => act('psql_query', { sql });
export const changePostgres = (sql: string) => act('psql_execute', { sql });

/** The arguments of the operator on the command line. */
export const operator = {
  readOnly: ['--read-only'],
  withoutCheckpoints: ['--no-checkpoints'],
  onlyFiles: ['--toolsets', 'files'],
  denies: ({ name }: Act) => ['--rule', `${name}=deny`],
  deniesPath: (pattern: string) => ['--rule', `read(${pattern})=deny`],
  allowsProgram: (line: string) => ['--rule', `run(${line})=allow`],
  questions: (who: 'server' | 'host' | 'none') => ['--questions', who],
} as const;
