import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { connect } from './connect.ts';
import { presentable } from '../machine/presentable.ts';
import {
  asArguments,
  checkRoots,
  parseCommandLine,
  serveOptions,
  settingsOf,
  UsageError,
  workingFolder,
} from './usage.ts';

type Arguments = Record<string, unknown>;

/**
 * `toolcrib call TOOL [--json ARGS | key=value…]`: one call through a real client. Prints the text of the answer, or
 * with --output json the whole of it. Exit code 1 when the tool says it failed, 130 when the person ended it. Without
 * a tool: the tools there are; with --help: the parameters of one.
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
  settingsOf(values);
  if (!['text', 'json'].includes(values.output)) throw new UsageError('--output: text or json.');
  await checkRoots(values.root ?? []);
  const [name, ...words] = positionals;
  if (values.json !== undefined && words.length > 0)
    throw new UsageError('call: give either --json or key=value, not both.');
  const given = values.json === undefined ? undefined : fromJson(values.json);
  const pairs = words.map(pairOf);

  // A person chooses by name, and may choose any.
  const options = { ...values, root: values.root ?? [workingFolder()], expose: values.expose ?? 'all' };
  const client = await connect(asArguments(options));
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  try {
    if (name === undefined || values.help) return await explain(client, name);
    const properties = pairs.length > 0 ? await propertiesOf(client, name) : undefined;
    const call = { name, arguments: given ?? fromPairs(pairs, properties) };
    if (call.arguments['background'] === true)
      throw new UsageError(
        'call: a job ends with its server, and that of `call` with the call: no background.',
      );
    const result = await finished(client, call, interrupted.signal);
    if (values.output === 'json') process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    else printResult(result);
    return result.isError ? 1 : 0;
  } catch (error) {
    if (interrupted.signal.aborted) return 130;
    if (error instanceof UsageError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.InvalidParams)
      throw new UsageError(message);
    process.stderr.write(`toolcrib: ${message}\n`);
    return 1;
  } finally {
    await client.close();
  }
}

type Client = Awaited<ReturnType<typeof connect>>;
type Call = Parameters<Client['callTool']>[0];
type Result = Awaited<ReturnType<Client['callTool']>>;

/** Where a line of progress begins anew. */
const clearedLine = '\r\u001B[K';

/** The result of a call, whose progress is shown on a terminal. */
async function finished(client: Client, call: Call, signal: AbortSignal): Promise<Result> {
  const { isTTY, columns = 80 } = process.stderr;
  const onprogress = ({ message = '' }) => {
    const line = presentable(message).replaceAll(/\s+/g, ' ');
    process.stderr.write(clearedLine + line.slice(0, columns - 1));
  };
  const once = () => client.callTool(call, { signal, ...(isTTY && { onprogress }) });
  try {
    let result = await once();
    // What takes longer goes on as a job, which would end with the server of this command: the same call joins it.
    while (result._meta?.['toolcrib/job'] !== undefined) result = await once();
    return result;
  } finally {
    if (isTTY) process.stderr.write(clearedLine);
  }
}

function printResult({ content, isError, _meta }: Result): void {
  const out = isError ? process.stderr : process.stdout;
  for (const part of content) {
    if (part.type === 'text') out.write(`${part.text}\n`);
    else out.write(`[${part.type}${'mimeType' in part ? ` ${part.mimeType}` : ''}]\n`);
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

async function explain(client: Client, name: string | undefined): Promise<number> {
  const { tools } = await client.listTools();
  const tool = tools.find((candidate) => candidate.name === name);
  if (name === undefined) {
    const width = Math.max(...tools.map((listed) => listed.name.length));
    for (const listed of tools) process.stdout.write(`${listed.name.padEnd(width)}  ${listed.description}\n`);
    process.stdout.write('\ntoolcrib call TOOL --help tells its parameters.\n');
    return 0;
  }
  if (!tool) throw new UsageError(`there is no tool ${name}; toolcrib call lists them.`);
  process.stdout.write(`${tool.name}: ${tool.description}\n\n`);
  for (const [key, property] of Object.entries(tool.inputSchema.properties ?? {})) {
    const { type, description, default: usual, enum: choices } = property as Record<string, unknown>;
    const facts = [
      tool.inputSchema.required?.includes(key) ? 'required' : '',
      Array.isArray(choices) ? choices.join(' | ') : String(type ?? ''),
      usual === undefined ? '' : `default ${JSON.stringify(usual)}`,
    ].filter(Boolean);
    process.stdout.write(
      `  ${key}  (${facts.join(', ')})  ${key === 'cwd' ? 'Folder to run in' : String(description ?? '')}\n`,
    );
  }
  return 0;
}

async function propertiesOf(client: Client, name: string): Promise<Arguments> {
  const { tools } = await client.listTools();
  const tool = tools.find((candidate) => candidate.name === name);
  return (tool?.inputSchema.properties ?? {}) as Arguments;
}

function fromJson(text: string): Arguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--json: ${error instanceof Error ? error.message : 'not JSON'}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError('--json: expected an object, for example {"limit": 5}');
  }
  return value as Arguments;
}

type Pair = readonly [key: string, value: string];

function pairOf(word: string): Pair {
  const end = word.indexOf('=');
  if (end < 1) throw new UsageError(`${word}: expected key=value.`);
  return [word.slice(0, end), word.slice(end + 1)];
}

/** `limit=5 paths=src paths=test`, `paths='["src"]'`: a value is text unless the tool's schema says otherwise. */
function fromPairs(pairs: readonly Pair[], properties: Arguments | undefined): Arguments {
  const result: Arguments = {};
  for (const [key, value] of pairs) {
    const type = (properties?.[key] as { type?: string } | undefined)?.type;
    if (type === 'array')
      result[key] = [...((result[key] as unknown[] | undefined) ?? []), ...items(key, value)];
    else result[key] = type === 'string' || type === undefined ? value : typed(value);
  }
  return result;
}

/** One item, or a whole list as JSON. */
function items(key: string, value: string): unknown[] {
  if (!value.startsWith('[')) return [value];
  const list = typed(value);
  if (Array.isArray(list)) return list;
  throw new UsageError(
    `${key}: ${value} is no JSON (did the shell take its quotes?); ${key}=a ${key}=b says the same.`,
  );
}

function typed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    // Not a number or boolean: the server says what it expected.
    return value;
  }
}
