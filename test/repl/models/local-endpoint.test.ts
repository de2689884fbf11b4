import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { resolveModel } from '../../../src/repl/models/choose-model.ts';
import { askLocalModel, findLocalEndpoint } from '../../../src/repl/models/local-endpoint.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serving(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

/** The real fetch, with the usual ports led to those of this test; nobody is at the others. */
const leading =
  (ports: Record<string, number>): typeof fetch =>
  (url, init) => {
    const to = new URL(String(url));
    const port = ports[to.port];
    if (port === undefined) return Promise.reject(new TypeError('fetch failed'));
    to.port = String(port);
    return fetch(to, init);
  };

/** Enough for a busy machine. */
const long = 10_000;

const json =
  (answer: unknown): RequestListener =>
  (_, response) =>
    response.end(JSON.stringify(answer));

it('finds the first server that has models', async () => {
  const llamacpp = await serving(json({ data: [{ id: 'a.gguf' }, { id: 'evil\u001b[2J' }, null] }));
  const lmstudio = await serving(json({ data: [{ id: 'b' }] }));
  const found = await findLocalEndpoint(leading({ 8080: llamacpp, 1234: lmstudio }), {}, long);
  expect(found).toMatchObject({ endpoint: 'llamacpp', models: ['a.gguf'] });
});

it('finds none where others listen, or nobody answers in time', async () => {
  const other = await serving((_, response) => response.end('<html>'));
  const refusing = await serving((_, response) => response.writeHead(500).end('{"data":[{"id":"a"}]}'));
  const silent = await serving(() => undefined);
  expect(
    await findLocalEndpoint(leading({ 8080: other, 1234: refusing, 11434: silent }), {}),
  ).toBeUndefined();
});

it('looks for Ollama where OLLAMA_HOST says, and only on this machine', async () => {
  const ollama = await serving(json({ data: [{ id: 'qwen3:8b' }] }));
  expect(await findLocalEndpoint(leading({ 99: ollama }), { OLLAMA_HOST: ':99' }, long)).toMatchObject({
    endpoint: 'ollama',
    models: ['qwen3:8b'],
  });
  expect(await findLocalEndpoint(leading({ 99: ollama }), { OLLAMA_HOST: 'gpu.example:99' })).toBeUndefined();
});

const model = (name: string, env = {}) => resolveModel(name, { models: {}, endpoints: {} }, env);

it('asks llama.cpp for the context it was started with', async () => {
  const port = await serving((request, response) => {
    response.end(
      JSON.stringify(request.url === '/props' ? { default_generation_settings: { n_ctx: 4096 } } : {}),
    );
  });
  const asked = await askLocalModel(model('llamacpp/x'), leading({ 8080: port }), long);
  expect(asked.capabilities).toMatchObject({ contextWindow: 4096, maxOutput: 1024, tools: true });
});

it('asks Ollama what a model can do', async () => {
  let body = '';
  const port = await serving((request, response) => {
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const answer = {
        capabilities: ['completion', 'vision'],
        parameters: 'stop "x"\nnum_ctx   16384',
        model_info: { 'gemma3.context_length': 131_072 },
      };
      response.end(JSON.stringify(request.url === '/api/show' ? answer : {}));
    });
  });
  const asked = await askLocalModel(model('ollama/gemma3'), leading({ 11434: port }), long);
  expect(asked.capabilities).toMatchObject({
    contextWindow: 16_384,
    tools: false,
    images: true,
    thinking: false,
  });
  expect(JSON.parse(body)).toEqual({ model: 'gemma3' });
});

it('believes the person more than the server', async () => {
  const port = await serving(
    json({ capabilities: ['tools', 'vision'], parameters: 'num_ctx 16384', model_info: {} }),
  );
  const models = { q: { model: 'ollama/qwen3', tools: false, contextWindow: 8192 } };
  const mine = resolveModel('q', { models, endpoints: {} }, {});
  const asked = await askLocalModel(mine, leading({ 11434: port }), long);
  expect(asked.capabilities).toMatchObject({ tools: false, contextWindow: 8192, images: true });
});

it('leaves a model as it is when nobody answers', async () => {
  for (const name of ['llamacpp/x', 'ollama/x', 'openai/x']) {
    const before = model(name);
    expect(await askLocalModel(before, leading({}))).toEqual(before);
  }
});
