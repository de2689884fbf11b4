import type { CallToolResult, CompleteRequestParams, CompleteResult } from '@modelcontextprotocol/server';
import { fileTemplate, outputTemplate } from './resources.ts';
import type { ClientRequest } from './connection.ts';
import { callTool, nobody } from './call-tool.ts';

/** Completes the beginning of a value. */
type Complete = (begun: string, requested: ClientRequest) => Promise<string[]>;

/** MCP allows no more. */
const mostValues = 100;

/** The lines of a tool's answer but its notes; none where it cannot be had without asking. */
async function linesOf(
  requested: ClientRequest,
  name: string,
  args: Record<string, unknown> = {},
): Promise<string[]> {
  if (!requested.connection.tools.has(name)) return [];
  const result = await callTool(requested, { name, arguments: args }, nobody);
  if (!('content' in result) || result.isError) return [];
  const [part] = (result as CallToolResult).content;
  return part?.type === 'text' ? part.text.split('\n').filter((line) => !line.startsWith('[')) : [];
}

/** Completions from the lists of some tools. */
const namedBy =
  (...tools: string[]): Complete =>
  async (_begun, requested) => {
    const lists = await Promise.all(tools.map((tool) => linesOf(requested, tool)));
    // The first line counts them; a star marks the branch one is on.
    return lists.flatMap(([, ...rows]) => rows.map((row) => /^(?:\* )?(\S+)/.exec(row)?.[1] ?? ''));
  };
const refs = namedBy('git_branches', 'git_tags');
const containers = namedBy('docker_ps_all', 'podman_ps_all');
const tables = namedBy('query');

const tasks: Complete = async (_begun, requested) => {
  const [, ...rows] = await linesOf(requested, 'run_task');
  return ['test', 'lint', 'types', 'build', ...rows.map((row) => /^(.+?) \(/.exec(row)?.[1] ?? '')];
};

/** Of the folder that has been written so far. */
const paths: Complete = async (begun, requested) => {
  const folder = begun.slice(0, begun.lastIndexOf('/') + 1);
  const entries = await linesOf(requested, 'list_files', folder === '' ? {} : { path: folder });
  return entries.filter((name) => name !== '.git/').map((name) => folder + name);
};

/** An address of a file has its path without the first slash. */
const absolutePaths: Complete = async (begun, requested) => {
  const isWindows = /^[A-Za-z]:/.test(begun);
  const found = await paths(isWindows ? begun : `/${begun}`, requested);
  return found.map((path) => (isWindows ? path : path.slice(1)));
};

const handles: Complete = async (_begun, requested) =>
  (await linesOf(requested, 'read_output')).map((row) => /^([\w-]+):? /.exec(row)?.[1] ?? '');

/** Completions by prompt or template, and argument. */
const kinds: Readonly<Record<string, Complete>> = {
  'review_changes base': refs,
  'explain_failure task': tasks,
  'explain_failure container': containers,
  'prepare_commit path': paths,
  'onboard_me path': paths,
  'onboard_me table': tables,
  [`${outputTemplate} handle`]: handles,
  [`${fileTemplate} path`]: absolutePaths,
};

/** Values for an argument of a prompt or an address. Asks nobody: what needs that completes to nothing. */
export async function complete(
  requested: ClientRequest,
  { ref, argument: { name, value } }: CompleteRequestParams,
): Promise<CompleteResult> {
  const kind = kinds[`${ref.type === 'ref/prompt' ? ref.name : ref.uri} ${name}`];
  const known = kind ? await kind(value, requested) : [];
  const fitting = [...new Set(known)].filter((one) => one !== '' && one.startsWith(value));
  const values = fitting.slice(0, mostValues);
  return { completion: { values, total: fitting.length, hasMore: fitting.length > values.length } };
}
