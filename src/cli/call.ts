import { connect } from './connect.ts';
import { asArguments, parseCommandLine, serveOptions, settingsOf, UsageError } from './usage.ts';

type Arguments = Record<string, unknown>;

/**
 * `toolcrib call TOOL [--json ARGS | key=value…]`: one call through a real client. Prints the text of the answer; exit
 * code 1 when the tool says it failed.
 */
export async function callCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine({
    args,
    allowPositionals: true,
    options: { ...serveOptions, json: { type: 'string' } },
  });
  settingsOf(values);
  const [name, ...words] = positionals;
  if (name === undefined) throw new UsageError('call: which tool? For example: toolcrib call git_status');
  if (values.json !== undefined && words.length > 0)
    throw new UsageError('call: give either --json or key=value, not both.');
  const given = values.json === undefined ? undefined : fromJson(values.json);
  const pairs = words.map(pairOf);

  const client = await connect(asArguments({ ...values, root: values.root ?? [process.cwd()] }));
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  try {
    const schema = pairs.length > 0 ? await schemaOf(client, name) : undefined;
    const result = await client.callTool(
      { name, arguments: given ?? fromPairs(pairs, schema) },
      { signal: interrupted.signal },
    );
    for (const part of result.content) {
      if (part.type === 'text') process.stdout.write(`${part.text}\n`);
      else process.stdout.write(`[${part.type}${'mimeType' in part ? ` ${part.mimeType}` : ''}]\n`);
    }
    return result.isError ? 1 : 0;
  } catch (error) {
    process.stderr.write(`toolcrib: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await client.close();
  }
}

async function schemaOf(client: Awaited<ReturnType<typeof connect>>, name: string): Promise<Arguments> {
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

/** `limit=5 paths=src paths=test`: a value is text unless the tool's schema says otherwise. */
function fromPairs(pairs: readonly Pair[], properties: Arguments | undefined): Arguments {
  const result: Arguments = {};
  for (const [key, value] of pairs) {
    const type = (properties?.[key] as { type?: string } | undefined)?.type;
    if (type === 'array') result[key] = [...((result[key] as unknown[] | undefined) ?? []), value];
    else result[key] = type === 'string' || type === undefined ? value : typed(value);
  }
  return result;
}

function typed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    // Not a number or boolean: the server says what it expected.
    return value;
  }
}
