// Our HTTP, with the tools in the place of ours that the official suite asks for: see scripts/conformance.mjs.
import { ProtocolError, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import type { Connection } from '../../src/server/connection.ts';
import { listen } from '../../src/server/wire/http/listen.ts';
import { Mcp } from '../../src/server/wire/http/mcp.ts';
import { readTokens } from '../../src/server/wire/http/tokens.ts';
import { codec, prompts, resourceAt, tools } from './fixtures.ts';

function build(): Server {
  const server = new Server(
    { name: 'toolcrib-conformance', version: '1' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: {},
        completions: {},
        logging: {},
      },
      requestState: { verify: codec.verify },
    },
  );
  const unknown = (name: string) => new ProtocolError(-32602, `There is no ${name}.`);
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(tools).map(([name, { params = {} }]) => ({
      name,
      description: `For the scenarios that call ${name}`,
      inputSchema: { type: 'object' as const, properties: params as never, required: Object.keys(params) },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const tool = tools[params.name];
    if (!tool) throw unknown(params.name);
    return tool.call((params.arguments ?? {}) as Record<string, string>, context);
  });
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([name, { params = [] }]) => ({
      name,
      description: `For the scenarios that get ${name}`,
      arguments: params.map((each) => ({ name: each, description: 'Any text', required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, context) => {
    const prompt = prompts[params.name];
    if (!prompt) throw unknown(params.name);
    return prompt.get(params.arguments ?? {}, context);
  });
  server.setRequestHandler('resources/list', () => ({
    resources: ['static-text', 'static-binary', 'watched-resource'].map((name) => ({
      uri: `test://${name}`,
      name,
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const resource = resourceAt(uri);
    if (!resource) throw new ResourceNotFoundError(uri);
    return resource;
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [] } }));
  return server;
}

const crib = { end: () => Promise.resolve() } as unknown as Connection;
const mcp = new Mcp(() => crib, 60_000, build);
const tokens = readTokens(process.argv[2] ?? '');
const { url } = await listen({ host: '127.0.0.1', port: 0, names: [], tokens }, mcp);
process.stderr.write(`serving ${url} as fixtures\n`);
