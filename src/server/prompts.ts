import {
  ProtocolError,
  ProtocolErrorCode,
  type GetPromptResult,
  type Prompt,
} from '@modelcontextprotocol/server';
import type { Connection } from './connection.ts';

interface OfferedPrompt extends Prompt {
  /** Without them it cannot be followed. */
  readonly tools: readonly string[];
  text(given: Readonly<Record<string, string>>): string;
}

const prompts: readonly OfferedPrompt[] = [
  {
    name: 'review_changes',
    title: 'Review my changes',
    description: 'Reads what has changed, runs the checks, and says what is wrong, worst first',
    arguments: [
      { name: 'base', description: 'Branch, tag or commit to compare with; else what is not committed' },
    ],
    tools: ['project', 'git_status', 'git_diff', 'check'],
    text: ({
      base,
    }) => `Review my changes${base ? ` since ${quoted(base)}` : ' that are not committed'}. Change nothing.

1. project, then git_status.
2. ${base ? `git_log, then git_diff with from=${quoted(base)}` : 'git_diff, and git_diff with staged=true'};
   form="stat" first if it is much.
3. read_file around what changed, and grep for who uses what was renamed, removed or given other parameters.
4. check with what="all".

Then tell me, with file:line: first what is wrong or can go wrong, then what is missing (tests, \
documents), then what
could be simpler. If nothing is wrong, say so.`,
  },
  {
    name: 'explain_failure',
    title: 'Explain this failure',
    description:
      'Finds out why tests, a check or a task fail, and proposes the smallest change that mends it',
    arguments: [
      { name: 'task', description: 'A task of the project, or test, lint, types, build; else the tests' },
      { name: 'container', description: 'A container that fails, in place of a task' },
    ],
    tools: ['check', 'run_task', 'read_output'],
    text: ({ task, container }) => `Explain why ${failing(task, container)}. Change nothing yet.

1. ${container ? logsOf(container) : taskCall(task)}. If it goes on as a job, read_output with wait_for="end".
2. If the output is long, read_output with pattern="error|fail" finds the first failure: later ones may \
follow from
   it.
3. read_file at the places it names, and grep for where the values come from; git_log and git_diff of \
these files, if
   they worked before.

Then tell me: what fails, why, with file:line, how sure you are and what would make you sure, and the \
smallest change
that mends it.`,
  },
  {
    name: 'prepare_commit',
    title: 'Prepare a commit',
    description:
      'Checks what has changed, splits it where it is several things, and commits it with a good message',
    arguments: [{ name: 'path', description: 'Only changes below this file or folder' }],
    tools: ['git_status', 'git_diff', 'git_commit', 'check'],
    text: ({ path }) => `Prepare a commit of my changes${path ? ` in ${quoted(path)}` : ''}.

1. git_status and git_diff${path ? ` with paths=[${quoted(path)}]` : ''}; git_log with limit=10 shows how \
messages
   are written here.
2. check with what="all". If something fails that these changes broke, tell me instead of going on.
3. Look for what does not belong in: debugging output, secrets, files that were made by programs.
4. If it is several things, propose several commits.
5. git_commit with paths and message: what and why, not how, in the style of the others. Do not push.`,
  },
  {
    name: 'onboard_me',
    title: 'Onboard me',
    description: 'What this project is, how it is built, tested and run, and where to begin',
    arguments: [
      { name: 'path', description: 'Folder of one package; else the whole project' },
      { name: 'table', description: 'A table of its database, to be explained as well' },
    ],
    tools: ['project', 'list_files', 'read_file'],
    text: ({
      path,
      table,
    }) => `Show me around this project${path ? `, its part ${quoted(path)}` : ''}. Change nothing.

1. project${path ? ` with cwd=${quoted(path)}` : ''}, then list_files with depth=2, and read_file of \
README and
   CONTRIBUTING, if there are any.
2. run_task without a task lists what can be run; git_log shows what is being worked on, where there is git.
3. read_file of the place where it begins, and of the files that most others \
need.${table ? aboutTable(table) : ''}

Then tell me on one page: what it is for, its parts and how they work together, how to install, run and \
test it (check
tells whether the tests pass here), what is unusual, and three places where a beginner could change \
something.`,
  },
];

const checks: ReadonlySet<string> = new Set(['test', 'lint', 'types', 'build', 'format', 'all']);

const failing = (task: string | undefined, container: string | undefined): string => {
  if (container) return `the container ${quoted(container)} fails`;
  return `${task ? quoted(task) : 'the tests'} of this project fail${task ? 's' : ''}`;
};

const logsOf = (container: string): string =>
  `find_actions with query="container logs" finds how to read those of ${quoted(container)}`;

const aboutTable = (table: string): string =>
  `\n4. query with table=${quoted(table)}, then a few of its rows; grep finds the code that uses it.`;

const taskCall = (task: string | undefined): string =>
  task === undefined || checks.has(task)
    ? `check with what="${task ?? 'test'}"`
    : `run_task with task=${quoted(task)}`;

const longest = 500;
const quoted = (text: string): string => JSON.stringify(text.slice(0, longest));

/** The prompts that the tools offered here suffice for. */
const offeredIn = (connection: Connection): OfferedPrompt[] =>
  prompts.filter(({ tools }) => tools.every((tool) => connection.tools.has(tool)));

export const listPrompts = (connection: Connection): Prompt[] =>
  offeredIn(connection).map(({ tools: _tools, text: _text, ...prompt }) => prompt);

/** The message of a prompt to a model. Throws InvalidParams for a prompt or an argument that there is not. */
export function getPrompt(
  connection: Connection,
  name: string,
  given: Readonly<Record<string, string>>,
): GetPromptResult {
  const offered = offeredIn(connection);
  const prompt = offered.find((one) => one.name === name);
  if (!prompt) throw invalid(`name: there is no prompt ${quoted(name)}; prompts are ${namesOf(offered)}.`);
  const { arguments: known = [], description = '' } = prompt;
  const stray = Object.keys(given).find((key) => !known.some((argument) => argument.name === key));
  if (stray !== undefined)
    throw invalid(`${stray}: there is no such argument of ${name}; it has ${namesOf(known)}.`);
  // An empty field of a form is nothing that was said.
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim() !== ''));
  const text = `${prompt.text(said)}\n\nThe names in it are those of tools of toolcrib.`;
  return { description, messages: [{ role: 'user', content: { type: 'text', text } }] };
}

const namesOf = (all: readonly { readonly name: string }[]): string =>
  all.map(({ name }) => name).join(', ') || 'none';

const invalid = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);
