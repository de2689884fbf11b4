import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { connect } from './connect.ts';
import { sanitize } from '../machine/sanitize.ts';
import { table } from './print.ts';
import { parseCommandLine, serveOptions, UsageError, workingFolder } from './usage.ts';

type Arguments = Record<string, unknown>;

/**
 * `toolcrib call TOOL [--json ARGS | key=value…]`: one call through a real client. Prints the text of the
 * answer, or with --output json the whole of it. Exit code 1 when the tool says it failed, 130 when the
 * person ended it. Without a tool: the tools there are; with --help: the parameters of one.
 */
export async function callCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine({
    args: withoutDashes(args),
    allowPositionals: true,
    options: {
      ...serveOptions,
      json: { type: 'string' },
      output: { type: 'string', default: 'text' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (!['text', 'json'].includes(values.output)) throw new UsageError('--output: text or json.');
  const [name, ...words] = positionals;
  if (values.json !== undefined && words.length > 0)
    throw new UsageError('call: give either --json or key=value, not both.');
  const given = values.json === undefined ? fromPairs(words) : fromJson(values.json);
  if (String(given['background']) === 'true')
    throw new UsageError(
      'call: a job ends with its server, and that of `call` with the call: no background.',
    );

  // A person chooses by name, and may choose any.
  const { root = [workingFolder()], expose = 'all' } = values;
  const client = await connect({ ...values, root, expose });
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  try {
    if (name === undefined || values.help) return await explain(client, name);
    const result = await finished(client, { name, arguments: given }, interrupted.signal);
    if (values.output === 'json') process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    else printResult(result);
    return result.isError ? 1 : 0;
  } catch (error) {
    if (interrupted.signal.aborted) return 130;
    const message = error instanceof Error ? error.message : String(error);
    const isWrong = error instanceof ProtocolError && error.code === ProtocolErrorCode.InvalidParams;
    if (isWrong || error instanceof UsageError) throw new UsageError(message);
    process.stderr.write(`toolcrib: ${message}\n`);
    return 1;
  } finally {
    await client.close();
  }
}

type CallClient = Awaited<ReturnType<typeof connect>>;
type CallCommand = Parameters<CallClient['callTool']>[0];
type CalledTool = Awaited<ReturnType<CallClient['callTool']>>;

/** Where a line of progress begins anew. */
const clearedLine = '\r\u001B[K';

/** The result of a call, whose progress is shown on a terminal. */
async function finished(client: CallClient, call: CallCommand, signal: AbortSignal): Promise<CalledTool> {
  const { isTTY, columns = 80 } = process.stderr;
  const onprogress = ({ message = '' }) => {
    const line = sanitize(message).replaceAll(/\s+/g, ' ');
    process.stderr.write(clearedLine + line.slice(0, columns - 1));
  };
  const once = () => client.callTool(call, { signal, ...(isTTY && { onprogress }) });
  try {
    let result = await once();
    // What takes longer goes on as a job, which would end with the server of this command: the same call
    // joins it.
    while (result._meta?.['toolcrib/job'] !== undefined) result = await once();
    return result;
  } finally {
    if (isTTY) process.stderr.write(clearedLine);
  }
}

function printResult({ content, isError, _meta }: CalledTool): void {
  const out = isError ? process.stderr : process.stdout;
  for (const part of content) {
    const other = `[${part.type}${'mimeType' in part ? ` ${part.mimeType}` : ''}]`;
    out.write(`${part.type === 'text' ? part.text : other}\n`);
  }
  // Each call is a session of its own, so this is how write_file knows that the file has been seen.
  const version = _meta?.['toolcrib/version'];
  if (version !== undefined) process.stderr.write(`[version=${String(version)}]\n`);
}

/** `--limit 3` is how most programs take it, so what is meant is said. */
function withoutDashes(args: string[]): string[] {
  const known = [...Object.keys(serveOptions), 'json', 'output', 'help'];
  const [tool, ...rest] = args;
  const stray = rest.find((arg) => /^--[a-z_]+$/.test(arg) && !known.includes(arg.slice(2)));
  if (tool === undefined || stray === undefined) return args;
  throw new UsageError(`${stray}: parameters of a tool are given as key=value: ${stray.slice(2)}=…`);
}

async function explain(client: CallClient, name: string | undefined): Promise<number> {
  const { tools } = await client.listTools();
  if (name === undefined) {
    const rows = table(tools.map((listed) => [listed.name, listed.description ?? '']));
    process.stdout.write(`${rows}\ntoolcrib call TOOL --help tells its parameters.\n`);
    return 0;
  }
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new UsageError(`there is no tool ${name}; toolcrib call lists them.`);
  const { properties = {}, required = [] } = tool.inputSchema;
  const lines = Object.entries(properties).map(([key, property]) => {
    const { type, description, default: usual, enum: choices } = property as Record<string, unknown>;
    const facts = [
      required.includes(key) ? 'required' : '',
      Array.isArray(choices) ? choices.join(' | ') : String(type ?? ''),
      usual === undefined ? '' : `default ${JSON.stringify(usual)}`,
    ];
    const says = key === 'cwd' ? 'Folder to run in' : String(description ?? '');
    return `  ${key}  (${facts.filter(Boolean).join(', ')})  ${says}\n`;
  });
  process.stdout.write(`${tool.name}: ${tool.description}\n\n${lines.join('')}`);
  return 0;
}

function fromJson(text: string): Arguments {
  try {
    const value = JSON.parse(text) as Arguments | null;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    throw new UsageError(`--json: ${error instanceof Error ? error.message : 'not JSON'}`);
  }
  throw new UsageError('--json: expected an object, for example {"limit": 5}');
}

/**
 * `limit=5 paths=src paths=test`, `paths='["src"]'`: the server reads each value as what its parameter asks
 * for.
 */
function fromPairs(words: readonly string[]): Arguments {
  const all: Record<string, string[]> = {};
  for (const word of words) {
    const [, key, value] = /^([^=]+)=([^]*)$/.exec(word) ?? [];
    if (key === undefined || value === undefined) throw new UsageError(`${word}: expected key=value.`);
    (all[key] ??= []).push(value);
  }
  const pairs = Object.entries(all).map(([key, values]) => [key, values.length > 1 ? values : values[0]]);
  return Object.fromEntries(pairs) as Arguments;
}
