import { listOf, objectOf, type JsonObject } from '../text/json.ts';
import type { Capabilities, Model } from './model.ts';
import { presets } from './presets.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A server on this machine answers at once or is busy with something else. */
const usualPatienceMs = 300;

/**
 * The name of a model server that runs on this machine and the models it has; undefined when none answers. Ollama,
 * llama.cpp and LM Studio are asked at the same time; when several answer, the first in this order counts.
 */
export async function findLocalEndpoint(
  fetch: typeof globalThis.fetch,
  env: Env,
  patienceMs = usualPatienceMs,
): Promise<{ endpoint: string; models: string[] } | undefined> {
  const asked = asking(fetch, patienceMs);
  const servers = presets(env).filter(
    ({ local, name }) => local && ['ollama', 'llamacpp', 'lmstudio'].includes(name),
  );
  const found = await Promise.all(
    servers.map(async ({ name, baseUrl }) => {
      const ids = listOf((await asked(`${baseUrl}/models`))['data']).map((each) => objectOf(each)['id']);
      // Another kind of server may listen there: what it sends is shown only when it looks like an id.
      const models = ids.filter((id) => typeof id === 'string' && /^[\x21-\x7e]{1,200}$/.test(id));
      return { endpoint: name, models: models as string[] };
    }),
  );
  return found.find(({ models }) => models.length > 0);
}

/**
 * A model of Ollama or llama.cpp with what its server says of it: the context it was started with, whether it can
 * call tools, see, think; what the person has configured stays. As it was, for other endpoints and when there is no
 * answer.
 */
export async function askLocalModel(
  model: Model,
  fetch: typeof globalThis.fetch,
  patienceMs = usualPatienceMs,
): Promise<Model> {
  const { endpoint, id, capabilities } = model;
  const origin = endpoint.baseUrl.replace(/\/v1\/?$/, '');
  const asked = asking(fetch, patienceMs);
  let known: Partial<Capabilities> = {};
  if (endpoint.name === 'llamacpp') {
    known = windowOf(objectOf((await asked(`${origin}/props`))['default_generation_settings'])['n_ctx']);
  } else if (endpoint.name === 'ollama') {
    const told = await asked(`${origin}/api/show`, { model: id });
    const info = Object.entries(objectOf(told['model_info']));
    const trained = info.find(([key]) => key.endsWith('.context_length'))?.[1];
    const set = /^num_ctx\s+(\d+)/m.exec(String(told['parameters']))?.[1];
    const can = listOf(told['capabilities']);
    known = {
      ...windowOf(set === undefined ? Math.min(Number(trained), capabilities.contextWindow) : Number(set)),
      // Older ones do not say.
      ...(can.length > 0 && {
        tools: can.includes('tools'),
        images: can.includes('vision'),
        thinking: can.includes('thinking'),
      }),
    };
  }
  return { ...model, capabilities: { ...capabilities, ...known, ...model.configured } };
}

const windowOf = (tokens: unknown): Partial<Capabilities> =>
  typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0
    ? { contextWindow: tokens, maxOutput: Math.min(8192, Math.ceil(tokens / 4)) }
    : {};

/** Asks for a JSON object, which is empty when none comes in time. */
const asking =
  (fetch: typeof globalThis.fetch, patienceMs: number) =>
  async (url: string, body?: unknown): Promise<JsonObject> => {
    try {
      const response = await fetch(url, {
        signal: AbortSignal.timeout(patienceMs),
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      });
      return response.ok ? objectOf(await response.json()) : {};
    } catch {
      // Nobody there, or somebody who speaks otherwise: nothing is known.
      return {};
    }
  };
