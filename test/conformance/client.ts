// The client of `toolcrib chat`, driven by the official suite (npm run conformance): it connects to the address it is
// given, calls every tool with what its schema wants, accepts each question with its defaults, and leaves.
import { Toolbox } from '../../src/repl/toolbox/toolbox.ts';

type Schema = { properties?: Record<string, Schema>; required?: string[]; type?: string; default?: unknown };

const samples: Readonly<Record<string, unknown>> = {
  number: 5,
  integer: 5,
  boolean: true,
  array: [],
  object: {},
};
const sampleOf = ({ default: usual, type = 'string' }: Schema): unknown => usual ?? samples[type] ?? 'value';
const argumentsFor = ({ properties = {} }: Schema) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, sampleOf(schema)]));
const defaultsOf = ({ properties = {} }: Schema) =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, { default: usual }]) =>
      usual === undefined ? [] : [[name, usual]],
    ),
  );

const url = process.argv.at(-1) ?? '';
const toolbox = new Toolbox({
  clientInfo: { name: 'toolcrib-chat', version: '0' },
  env: process.env,
  roots: () => [process.cwd()],
  elicit: ({ requestedSchema = {} }: { requestedSchema?: unknown }) =>
    Promise.resolve({ action: 'accept', content: defaultsOf(requestedSchema as Schema) }) as never,
  log() {},
  warn: (text) => process.stderr.write(`${text}\n`),
});
await toolbox.add({
  name: 'suite',
  url,
  args: [],
  env: {},
  headers: {},
  trust: true,
  protocol: 'auto',
  timeout: 20_000,
  isOwn: false,
});
type Wanted = { toolCalls?: readonly { name: string; arguments: Record<string, unknown> }[] };
const { toolCalls } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Wanted;
const usual = toolbox
  .tools()
  .map(({ tool, inputSchema }) => ({ name: tool, arguments: argumentsFor(inputSchema as Schema) }));
for (const { name, arguments: given } of toolCalls ?? usual) {
  const tool = toolbox.tools().find((one) => one.tool === name);
  if (!tool) continue;
  const { text } = await tool.call(given, {
    signal: new AbortController().signal,
  });
  process.stderr.write(`${tool.tool}: ${text.slice(0, 200)}\n`);
}
const failed = toolbox.servers().some(({ state }) => state !== 'ready');
await toolbox.close();
process.exit(failed ? 1 : 0);
