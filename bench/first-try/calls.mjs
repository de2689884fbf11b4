// Every listed tool as the models of five hosts would write its call: the names, the forms and the additions that their
// own tools have taught them. What is meant is the same for all, and seen by its effect.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cart } from './project.mjs';

const git = ({ folder }, ...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
const change = ({ write }) => write('src/cart.mjs', cart.replace('// The cart.', '// The cart of a shop.'));
const explanation = 'To see what is there';
const [before, after] = ['(sum, price) => sum + price', '(sum, price) => sum + price * 2'];
const another = ['Math.round(price * 100)', 'Math.floor(price * 100)'];
const [one, two] = [
  ['src/cart.mjs', before, after],
  ['src/money.mjs', ...another],
];
const file = 'src/cart.mjs';
const isEdited = ({ read }) => read(file).includes(after);
const areEdited = (at) => isEdited(at) && at.read('src/money.mjs').includes(another[1]);
const job =
  "node -e \"process.stdin.on('data',(d)=>console.log('got '+d));console.log('ready');setInterval(()=>{},1000)\"";
const startJob = async (at) => {
  const said = await at.call('run', { command: job, background: true });
  at.job = /\bnode-\d+\b/.exec(said)?.[0] ?? 'node-1';
};
const sql = 'SELECT name FROM goods WHERE price > 40';
const blame = ({ answer }) => /The cart/.test(answer) && /Ada Byron/.test(answer);
const isTagged = (at) => git(at, 'tag', '--list', 'v2') === 'v2';
const isOnNew = (at) => git(at, 'branch', '--show-current') === 'fix/new';

export const hosts = ['Claude Code', 'Codex', 'Gemini CLI', 'VS Code', 'Cursor, opencode'];

/** Of each tool, what is to be done before, the calls of the hosts in their order, and whether it was done. */
export const calls = {
  project: {
    of: ({ folder }) => [
      {},
      { workdir: folder },
      { dir_path: '.' },
      { workspaceFolder: folder },
      { explanation },
    ],
    did: ({ answer }) => /hello/.test(answer) && /main/.test(answer),
  },
  read_file: {
    of: ({ folder }) => [
      { file_path: join(folder, file), offset: 2, limit: 2 },
      { file_path: file, offset: '2', limit: '2' },
      { file_path: file, start_line: '2', end_line: '3' },
      { filePath: join(folder, file), startLine: 2, endLine: 3 },
      {
        target_file: file,
        start_line_one_indexed: 2,
        end_line_one_indexed_inclusive: 3,
        should_read_entire_file: false,
      },
    ],
    did: ({ answer }) =>
      /export function/.test(answer) && /const prices/.test(answer) && !/The cart|reduce/.test(answer),
  },
  list_files: {
    of: ({ folder }) => [
      { pattern: 'src/**/*.mjs' },
      { dir_path: join(folder, 'src'), depth: '2', limit: 50 },
      { pattern: '**/*.mjs', dir_path: 'src', respect_git_ignore: true },
      { query: 'src/**/*.mjs', maxResults: 20 },
      { glob_pattern: '**/*.mjs', target_directory: 'src' },
    ],
    did: ({ answer }) =>
      /cart\.mjs/.test(answer) && /money\.mjs/.test(answer) && !/package\.json/.test(answer),
  },
  grep: {
    of: () => [
      { pattern: 'function total', path: 'src', output_mode: 'content', '-n': true, '-A': 1, head_limit: 20 },
      { pattern: 'function total', include: '*.mjs', path: 'src', limit: '20' },
      { pattern: 'function total', dir_path: 'src', include: '*.mjs', case_sensitive: 'true' },
      { query: 'function total(', isRegexp: false, includePattern: 'src/**', maxResults: 20 },
      {
        pattern: 'FUNCTION TOTAL',
        path: 'src',
        '-i': 'true',
        output_mode: 'content',
        type: 'js',
        explanation,
      },
    ],
    did: ({ answer }) => /src\/cart\.mjs/.test(answer) && /2[:-]?\s?export function total/.test(answer),
  },
  edit_file: {
    of: ({ folder }) => [
      { file_path: join(folder, file), old_string: before, new_string: after, replace_all: false },
      { path: file, old_str: before, new_str: after },
      {
        file_path: file,
        instruction: 'Twice the price',
        old_string: before,
        new_string: after,
        expected_replacements: '1',
      },
      { filePath: join(folder, file), oldString: before, newString: after, explanation },
      { filePath: file, oldString: before, newString: after, replaceAll: 'false' },
    ],
    did: isEdited,
  },
  edit_files: {
    of: ({ folder }) => [
      {
        edits: [one, two].map(([path, old_string, new_string]) => ({
          file_path: join(folder, path),
          old_string,
          new_string,
        })),
      },
      { edits: [one, two].map(([path, old_str, new_str]) => ({ path, old_str, new_str })) },
      {
        edits: JSON.stringify(
          [one, two].map(([file_path, old_string, new_string]) => ({ file_path, old_string, new_string })),
        ),
      },
      {
        explanation,
        replacements: [one, two].map(([filePath, oldString, newString]) => ({
          filePath,
          oldString,
          newString,
          explanation,
        })),
      },
      {
        edits: JSON.stringify(
          [one, two].map(([filePath, oldString, newString]) => ({
            filePath,
            oldString,
            newString,
            replaceAll: false,
          })),
        ),
      },
    ],
    did: areEdited,
  },
  replace_in_files: {
    of: () => [
      { pattern: '\\bprice\\b', replacement: 'cost', path: 'src', glob: '*.mjs' },
      { pattern: '\\bprice\\b', replacement: 'cost', include: '*.mjs', path: 'src' },
      { pattern: '\\bprice\\b', replacement: 'cost', dir_path: 'src', include: '**/*.mjs', dry_run: 'false' },
      { query: '\\bprice\\b', replacement: 'cost', isRegexp: true, includePattern: 'src/**' },
      { pattern: '\\bprice\\b', replace: 'cost', target_directory: 'src', explanation },
    ],
    did: ({ read }) =>
      !/\bprice\b/.test(read(file)) &&
      read(file).split('cost').length === 5 &&
      /cost/.test(read('src/money.mjs')),
  },
  write_file: {
    of: ({ folder }) => [
      { file_path: join(folder, 'src/new.mjs'), content: 'export const now = 1;\n' },
      { path: 'src/new.mjs', contents: 'export const now = 1;\n' },
      { file_path: 'src/new.mjs', content: 'export const now = 1;\n', ai_proposed_content: '' },
      { filePath: join(folder, 'src/new.mjs'), content: 'export const now = 1;\n', explanation },
      { file_path: 'src/new.mjs', contents: 'export const now = 1;\n' },
    ],
    did: ({ read }) => read('src/new.mjs') === 'export const now = 1;\n',
  },
  undo: {
    before: (at) => at.call('edit_file', { path: file, old_string: before, new_string: after }),
    of: () => [{ last: 1 }, { count: '1' }, { steps: 1 }, { last: '1', explanation }, { n: 1 }],
    did: (at) => !isEdited(at) && /took back/i.test(at.answer),
  },
  check: {
    of: ({ folder }) => [
      { what: 'test', description: 'Run the tests' },
      { what: 'test', workdir: folder },
      { what: 'test', only: 'src/cart.test.mjs' },
      { what: 'test', files: [join(folder, 'src/cart.test.mjs')] },
      { what: 'tests', only: '["src/cart.test.mjs"]', again: 'false' },
    ],
    did: ({ answer }) => /1 passed/.test(answer),
  },
  run_task: {
    of: ({ folder }) => [
      { task: 'hello', args: ['there'] },
      { task: 'hello', args: ['there'], workdir: folder },
      { task: 'hello', args: '["there"]' },
      { id: 'hello', args: ['there'], workspaceFolder: folder },
      { script: 'hello', args: 'there' },
    ],
    did: ({ answer }) => /hello from there/.test(answer),
  },
  run: {
    of: ({ folder }) => [
      { command: 'node hello.mjs you | cat', description: 'Say hello', timeout: 120000 },
      { cmd: 'node hello.mjs you | cat', workdir: folder, yield_time_ms: 1000, max_output_tokens: 6000 },
      {
        command: 'node hello.mjs you | cat',
        description: 'Say hello',
        dir_path: '.',
        is_background: 'false',
      },
      {
        command: 'node hello.mjs you | cat',
        explanation,
        goal: 'Say hello',
        isBackground: false,
        timeout: 60000,
      },
      {
        command: 'cd src && node ../hello.mjs you',
        is_background: false,
        explanation,
        working_directory: folder,
      },
    ],
    did: ({ answer }) => /hello from you/.test(answer),
  },
  read_output: {
    before: startJob,
    of: ({ job: id }) => [
      { bash_id: id, filter: 'ready' },
      { session_id: id },
      { id, tail: '5' },
      { id, explanation },
      { job_id: id, wait_for: 'ready', timeout: '5' },
    ],
    did: ({ answer }) => /ready/.test(answer),
    then: (at) => at.call('control_job', { id: at.job, action: 'stop' }),
  },
  control_job: {
    before: startJob,
    of: ({ job: id }) => [
      { shell_id: id, action: 'stop' },
      { session_id: id, action: 'stop' },
      { id, action: 'stop', description: 'Not needed any more' },
      { id, action: 'stop', explanation },
      { job_id: id, action: 'stop' },
    ],
    did: async (at) =>
      !/not found|invalid/i.test(at.answer) && !/running/.test(await at.call('read_output', { id: at.job })),
  },
  git_status: {
    before: change,
    of: ({ folder }) => [
      {},
      { workdir: folder },
      { dir_path: '.' },
      { repositoryPath: folder },
      { repo_path: folder },
    ],
    did: ({ answer }) => /src\/cart\.mjs/.test(answer) && /main/.test(answer),
  },
  git_diff: {
    before: change,
    of: ({ folder }) => [
      {},
      { paths: file, workdir: folder },
      { path: file },
      { repositoryPath: folder, staged: 'false' },
      { repo_path: folder, target: 'HEAD' },
    ],
    did: ({ answer }) => /\+\/\/ The cart of a shop/.test(answer),
  },
  git_log: {
    of: ({ folder }) => [
      { limit: 2, paths: ['src'] },
      { max_count: '2', workdir: folder, path: 'src' },
      { limit: '2', paths: 'src' },
      { count: 2, paths: '["src"]', explanation },
      { repo_path: folder, max_count: 2, paths: ['src'] },
    ],
    did: ({ answer }) => /Third/.test(answer) && /Money/.test(answer) && !/A cart|Lock/.test(answer),
  },
  git_show: {
    of: ({ folder }) => [
      { ref: 'HEAD~1' },
      { revision: 'HEAD~1', workdir: folder },
      { commit: 'HEAD~1' },
      { ref: 'HEAD~1', explanation },
      { repo_path: folder, revision: 'HEAD~1' },
    ],
    did: ({ answer }) => /Third/.test(answer) && /\+export const third/.test(answer),
  },
  git_commit: {
    before: change,
    of: ({ folder }) => [
      { message: 'Say whose cart', paths: ['src'] },
      { message: 'Say whose cart', paths: file, workdir: folder },
      { message: 'Say whose cart', files: [file] },
      { message: 'Say whose cart', all: 'true', explanation },
      { repo_path: folder, message: 'Say whose cart', files: '["src/cart.mjs"]' },
    ],
    did: (at) =>
      git(at, 'log', '-1', '--format=%s') === 'Say whose cart' && git(at, 'status', '--porcelain') === '',
  },
  git_switch: {
    before: (at) => {
      if (git(at, 'branch', '--list', 'fix/new')) git(at, 'branch', '-D', 'fix/new');
    },
    of: ({ folder }) => [
      { action: 'create', branch: 'fix/new' },
      { action: 'create', name: 'fix/new', workdir: folder },
      { action: 'create', branch_name: 'fix/new' },
      { action: 'create', branch: 'fix/new', start_point: 'main', explanation },
      { repo_path: folder, action: 'create', branch_name: 'fix/new', base_branch: 'main' },
    ],
    did: isOnNew,
  },
  git_integrate: {
    of: ({ folder }) => [
      { action: 'merge', branch: 'side' },
      { action: 'merge', ref: 'side', workdir: folder },
      { action: 'cherry_pick', commits: 'side' },
      { action: 'cherry-pick', commits: ['side'], explanation },
      { repo_path: folder, action: 'cherry_pick', commits: '["side"]' },
    ],
    did: ({ folder }) => existsSync(join(folder, 'src/aside.mjs')),
  },
  git_sync: {
    before: change,
    of: ({ folder }) => [
      { action: 'fetch', remote: 'origin' },
      { action: 'fetch', workdir: folder },
      { action: 'fetch', remote: 'origin', prune: 'true' },
      { action: 'fetch', repositoryPath: folder, explanation },
      { action: 'fetch', repo_path: folder, remote_name: 'origin' },
    ],
    did: ({ answer, isError }) => !isError && /main/.test(answer),
  },
  change_packages: {
    of: ({ folder }) => [
      { action: 'remove', packages: ['left'] },
      { action: 'remove', packages: 'left', workdir: folder },
      { action: 'remove', package: 'left' },
      { action: 'remove', packageList: ['left'], workspacePath: folder },
      { action: 'uninstall', packages: '["left"]', dev: 'false' },
    ],
    did: ({ read }) => !/left/.test(read('package.json')),
  },
  query: {
    of: () => [
      { sql },
      { query: sql },
      { sql, limit: '5', database: 'shop.db' },
      { query: sql, database: 'shop.db', explanation },
      { sql, db_path: 'shop.db' },
    ],
    did: ({ answer }) => /tea/.test(answer) && !/cup/.test(answer),
  },
  fetch_url: {
    of: ({ url }) => [
      { url, prompt: 'What does green tea cost?' },
      { url, method: 'get' },
      { url, prompt: 'The price of green tea' },
      { urls: [url], query: 'green tea' },
      { url, format: 'markdown', timeout: '30' },
    ],
    did: ({ answer }) => /4\.20/.test(answer),
  },
  find_actions: {
    of: () => [
      { query: 'who changed this line' },
      { query: 'who changed this line', limit: '5' },
      { query: 'who changed this line', program: 'git' },
      { query: 'who changed this line', maxResults: 5, explanation },
      { search_term: 'who changed this line', explanation },
    ],
    did: ({ answer }) => /git_blame/.test(answer),
  },
  run_read_action: {
    of: () => [
      { action: 'git_blame', arguments: { path: file } },
      { action: 'git_blame', arguments: JSON.stringify({ path: file }) },
      { action: 'git_blame', args: { path: file } },
      { action: 'git_blame', parameters: { path: file } },
      { name: 'git_blame', arguments: JSON.stringify({ path: file }) },
    ],
    did: blame,
  },
  run_action: {
    before: (at) => {
      if (git(at, 'tag', '--list', 'v2')) git(at, 'tag', '--delete', 'v2');
    },
    of: () => [
      { action: 'git_tag', arguments: { tag: 'v2' } },
      { action: 'git_tag', arguments: '{"tag":"v2"}' },
      { action: 'git_tag', args: { tag: 'v2' } },
      { action: 'git_tag', parameters: { tag: 'v2' }, explanation },
      { action_name: 'git_tag', arguments: '{"tag":"v2"}' },
    ],
    did: isTagged,
  },
};

const patch = `*** Begin Patch
*** Update File: src/cart.mjs
@@
-  return prices.reduce(${before}, 0);
+  return prices.reduce(${after}, 0);
*** End Patch`;

/** Tools that are not listed, by the names that hosts have for their own; each maps to one of ours. */
export const foreign = [
  ['bash', { command: 'node hello.mjs you' }, ({ answer }) => /hello from you/.test(answer)],
  ['shell', { command: 'node hello.mjs you' }, ({ answer }) => /hello from you/.test(answer)],
  ['run_shell_command', { command: 'node hello.mjs you' }, ({ answer }) => /hello from you/.test(answer)],
  ['glob', { pattern: 'src/*.mjs' }, ({ answer }) => /cart\.mjs/.test(answer)],
  ['apply_patch', { input: patch }, isEdited],
  [
    'str_replace_based_edit_tool',
    { command: 'str_replace', path: file, old_str: before, new_str: after },
    isEdited,
  ],
  ['replace', { file_path: file, old_string: before, new_string: after }, isEdited],
  ['git_rebase', { branch: 'side' }, ({ folder }) => existsSync(join(folder, 'src/aside.mjs'))],
];
