import { ProtocolError, ProtocolErrorCode, type Client } from '@modelcontextprotocol/client';
import { connect } from './connect.ts';
import { sanitize } from '../machine/sanitize.ts';
import { table } from './print.ts';
import { parseCommandLine, serveOptions, UsageError, workingFolder } from './usage.ts';

type Arguments = Record<string, unknown>;

/**
 * Runs `toolcrib call TOOL [--json ARGS | key=value…]`: makes one call through a real client. Prints the text
 * of the answer, or with --output json the whole of it. Exit code 1 when the tool reports a failure, 130 when
 * the person ended it. Without a tool it lists the tools; with --help, the parameters of one.
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
  const toolArguments = values.json === undefined ? fromPairs(words) : fromJson(values.json);
  if (String(toolArguments['background']) === 'true')
    throw new UsageError(
      'call: a job ends with its server, and that of `call` with the call: no background.',
    );

  // A person chooses tools by name, and may choose any.
  const { root = [workingFolder()], expose = 'all' } = values;
  const client = await connect({ ...values, root, expose });
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  try {
    if (name === undefined || values.help) return await explain(client, name);
    const result = await finished(client, { name, arguments: toolArguments }, interrupted.signal);
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

export type CallRequest = Parameters<Client['callTool']>[0];
type CallResult = Awaited<ReturnType<Client['callTool']>>;

/** The control characters that clear the line of progress. */
const clearedLine = '\r\u001B[K';

/** Makes a call, shows its progress on a terminal, and returns its result. */
async function finished(client: Client, call: CallRequest, signal: AbortSignal): Promise<CallResult> {
  const { isTTY, columns = 80 } = process.stderr;
  const onprogress = ({ message = '' }) => {
    const line = sanitize(message).replaceAll(/\s+/g, ' ');
    process.stderr.write(clearedLine + line.slice(0, columns - 1));
  };
  const once = () => client.callTool(call, { signal, ...(isTTY && { onprogress }) });
  try {
    let result = await once();
    // A longer call goes on as a job, which would end with the server of this command: the same call joins
    // it.
    while (result._meta?.['toolcrib/job'] !== undefined) result = await once();
    return result;
  } finally {
    if (isTTY) process.stderr.write(clearedLine);
  }
}

function printResult({ content, isError, _meta }: CallResult): void {
  const out = isError ? process.stderr : process.stdout;
  for (const part of content) {
    const other = `[${part.type}${'mimeType' in part ? ` ${part.mimeType}` : ''}]`;
    out.write(`${part.type === 'text' ? part.text : other}\n`);
  }
  // Each call is a session of its own, so write_file learns from this version that the file has been seen.
  const version = _meta?.['toolcrib/version'];
  if (version !== undefined) process.stderr.write(`[version=${String(version)}]\n`);
}

/** Refuses `--limit 3`, which most programs accept, with a hint at `limit=3`. */
function withoutDashes(args: string[]): string[] {
  const known = [...Object.keys(serveOptions), 'json', 'output', 'help'];
  const [tool, ...rest] = args;
  const stray = rest.find((arg) => /^--[a-z_]+$/.test(arg) && !known.includes(arg.slice(2)));
  if (tool === undefined || stray === undefined) return args;
  throw new UsageError(`${stray}: parameters of a tool are given as key=value: ${stray.slice(2)}=…`);
}

async function explain(client: Client, name: string | undefined): Promise<number> {
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
 * Reads `limit=5 paths=src paths=test` and `paths='["src"]'`: the server converts each value to the type of
 * its parameter.
 */
function fromPairs(words: readonly string[]): Arguments {
  const all: Record<string, string[]> = {};
  for (const word of words) {
    const [, key, value] = /^([^=]+)=([^]*)$/.exec(word) ?? [];
    if (key === undefined || value === undefined) throw new UsageError(`${word}: expected key=value.`);
    all[key] ??= [];
    all[key].push(value);
  }
  const pairs = Object.entries(all).map(([key, values]) => [key, values.length > 1 ? values : values[0]]);
  return Object.fromEntries(pairs) as Arguments;
}
