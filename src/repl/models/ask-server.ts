import { listOf, objectOf, type JsonObject } from '../text/json.ts';
import { localNames, type Preset } from './endpoints.ts';
import type { Capabilities, Model } from './model.ts';

/** A server on this machine answers at once or is busy with something else; one elsewhere has a way to go. */
const patienceMs = { local: 1000, remote: 5000 };

/**
 * The first of these endpoints that answers, as a name of a model; undefined when none does. All are asked at
 * the same time. `keyFor`: what each has to be asked with.
 */
export async function findModel(
  endpoints: readonly Preset[],
  keyFor: (endpoint: Preset) => Promise<string | undefined>,
): Promise<string | undefined> {
  const found = await Promise.all(
    endpoints.map(async (endpoint) => {
      const { name, baseUrl, wire, local } = endpoint;
      const key = await keyFor(endpoint).catch(() => undefined);
      const headers = key === undefined ? {} : { authorization: `Bearer ${key}`, 'x-api-key': key };
      const url = `${baseUrl.replace(/\/$/, '')}${wire === 'anthropic' ? '/v1' : ''}/models`;
      const listed = await jsonFrom(url, { headers, redirect: 'error' }, local ? 'local' : 'remote');
      const ids = listOf(listed['data']).map((each) => objectOf(each)['id']);
      // Another kind of server may listen there: what it sends is shown only when it looks like an id.
      const id = ids.find((one) => typeof one === 'string' && /^[\x21-\x7e]{1,200}$/.test(one));
      return id === undefined ? undefined : `${name}/${String(id)}`;
    }),
  );
  return found.find((name) => name !== undefined);
}

/**
 * A model of Ollama, llama.cpp or LM Studio with what its server says of it: the context it was started with,
 * whether it can call tools, see, think; what the person has configured stays. As it was, for others and
 * without an answer.
 */
export async function askModelServer(model: Model): Promise<Model> {
  const { endpoint, id, capabilities } = model;
  if (!localNames.includes(endpoint.name)) return model;
  const origin = endpoint.baseUrl.replace(/\/v1\/?$/, '');
  const known = await capabilityProbes[endpoint.name]?.(origin, id, capabilities);
  return { ...model, capabilities: { ...capabilities, ...known, ...model.configured } };
}

type CapabilityProbe = (origin: string, id: string, guess: Capabilities) => Promise<Partial<Capabilities>>;

const capabilityProbes: Readonly<Record<string, CapabilityProbe>> = {
  async llamacpp(origin) {
    const props = await jsonFrom(`${origin}/props`);
    return windowOf(objectOf(props['default_generation_settings'])['n_ctx']);
  },
  async lmstudio(origin, id) {
    const details = await jsonFrom(`${origin}/api/v0/models/${id}`);
    return windowOf(details['loaded_context_length'] ?? details['max_context_length']);
  },
  async ollama(origin, id, { contextWindow }) {
    const details = await jsonFrom(`${origin}/api/show`, {
      method: 'POST',
      body: JSON.stringify({ model: id }),
    });
    const info = Object.entries(objectOf(details['model_info']));
    const trained = info.find(([key]) => key.endsWith('.context_length'))?.[1];
    const set = /^num_ctx\s+(\d+)/m.exec(String(details['parameters']))?.[1];
    const can = listOf(details['capabilities']);
    const [tools, images, thinking] = ['tools', 'vision', 'thinking'].map((one) => can.includes(one));
    return {
      ...windowOf(set === undefined ? Math.min(Number(trained), contextWindow) : Number(set)),
      // Older ones do not say.
      ...(can.length > 0 && { tools: tools === true, images: images === true, thinking: thinking === true }),
    };
  },
};

const windowOf = (tokens: unknown): Partial<Capabilities> =>
  typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0
    ? { contextWindow: tokens, maxOutput: Math.min(8192, Math.ceil(tokens / 4)) }
    : {};

/** A JSON object, which is empty when none comes in time. */
async function jsonFrom(
  url: string,
  init: RequestInit = {},
  where: keyof typeof patienceMs = 'local',
): Promise<JsonObject> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs[where]) });
    return response.ok ? objectOf(await response.json()) : {};
  } catch {
    // Nobody there, or somebody who speaks otherwise: nothing is known.
    return {};
  }
}
