import type { ChatConfig } from '../config/config.ts';
import { hint } from '../config/nearest.ts';
import { ChatError } from '../errors.ts';
import { familyOf } from './families.ts';
import type { Capabilities, Endpoint, Model } from './model.ts';
import { isLoopback, presets, type Preset } from './presets.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Config = Pick<ChatConfig, 'model' | 'models' | 'endpoints'>;

/**
 * The model a name stands for: `endpoint/id`, an alias of the configuration, a bare id of a known family, or an
 * endpoint, for its usual model. Without a name: the configuration's, TOOLCRIB_MODEL's, that of the first endpoint
 * with a key in the environment. Throws NO_MODEL when nothing says which, USAGE for a name that stands for nothing.
 */
export function resolveModel(name: string | undefined, config: Config, env: Env): Model {
  const endpoints = endpointsOf(config, env);
  const wanted = name ?? config.model ?? (env.TOOLCRIB_MODEL || undefined);
  const usual = endpoints.find((endpoint) => endpoint.defaultModel !== undefined && hasKey(endpoint, env));
  if (wanted === undefined && !usual) throw new ChatError('NO_MODEL', whatToDo(endpoints, env));
  const asked = wanted ?? usual?.name ?? '';
  const alias = Object.hasOwn(config.models, asked) ? config.models[asked] : undefined;
  const { endpoint, id } = named(alias?.model ?? asked, endpoints, config);
  const { capabilities } = familyOf(id);
  // What the person knows of a model holds by whichever name it was asked for.
  const known = alias ?? Object.values(config.models).find(({ model }) => model === `${endpoint.name}/${id}`);
  const { model: _, ...configured } = known ?? { model: '' };
  return {
    endpoint,
    id,
    capabilities: { ...capabilities, ...localLimits(endpoint, capabilities), ...configured },
    configured,
  };
}

/** Names for `/model` and its completion, with what to know of each. */
export function listModels(config: Config, env: Env): { name: string; note: string }[] {
  const aliases = Object.entries(config.models).map(([name, { model }]) => ({ name, note: model }));
  const others = endpointsOf(config, env).map((endpoint) => {
    const { name, defaultModel, keyVariables } = endpoint;
    const key = hasKey(endpoint, env) || endpoint.local ? '' : `needs ${keyVariables.join(' or ')}`;
    if (defaultModel === undefined) return { name: `${name}/`, note: key || 'any model it has' };
    return { name: `${name}/${defaultModel}`, note: key };
  });
  return [...aliases, ...others];
}

/** With a key for an endpoint that was moved, only its model is missing. */
function whatToDo(endpoints: readonly Preset[], env: Env): string {
  const keyed = endpoints.find((endpoint) => endpoint.keyVariables.length > 0 && hasKey(endpoint, env));
  if (!keyed) return firstRunHelp;
  const { name, baseUrl } = keyed;
  return `There is a key for ${name}, which is at ${baseUrl} here and has no usual model there: --model ${name}/…`;
}

/** What a first run without anything says. */
const firstRunHelp = [
  'No model is chosen yet. docs/repl.md has all ways; three:',
  '  a key:          export ANTHROPIC_API_KEY=…  (or OPENAI_, GEMINI_API_KEY, …)',
  '  a local model:  toolcrib chat --model ollama/qwen3  (or lmstudio/…, …)',
  '  to keep it:     model: ollama/qwen3  in ~/.config/toolcrib/chat.yaml',
].join('\n');

function named(wanted: string, endpoints: readonly Preset[], config: Config): Pick<Model, 'endpoint' | 'id'> {
  const slash = wanted.indexOf('/');
  const before = slash < 0 ? wanted : wanted.slice(0, slash);
  const endpoint = endpoints.find(({ name }) => name === before);
  const id = slash < 0 ? (endpoint?.defaultModel ?? '') : wanted.slice(slash + 1);
  if (endpoint && id !== '') return { endpoint, id };
  if (endpoint)
    throw new ChatError('NO_MODEL', `${before} has no usual model. Name one of those it has: ${before}/…`);
  const names = endpoints.map(({ name }) => name);
  if (slash >= 0)
    throw new ChatError(
      'USAGE',
      `There is no endpoint "${before}".${hint(before, names) || ` There are: ${names.join(', ')}.`}`,
    );
  const home = endpoints.find(({ name }) => name === familyOf(wanted).endpoint);
  if (home) return { endpoint: home, id: wanted };
  const meant = hint(wanted, [...Object.keys(config.models), ...names]);
  throw new ChatError(
    'USAGE',
    `"${wanted}" is no known model.${meant} Write endpoint/model, for example ollama/${wanted}.`,
  );
}

/** Local servers are started with far less context than a model could have; what is too small a guess costs little. */
const localLimits = (
  { local, name }: Endpoint,
  { contextWindow, maxOutput }: Capabilities,
): Partial<Capabilities> =>
  local && ['ollama', 'llamacpp', 'lmstudio'].includes(name)
    ? { contextWindow: Math.min(contextWindow, 32_768), maxOutput: Math.min(maxOutput, 8192) }
    : {};

/** The known ones as the configuration changes them, and its own. */
function endpointsOf({ endpoints: given }: Config, env: Env): Preset[] {
  // Where an endpoint is decides how it is spoken to, whoever says so.
  const known = presets({
    ...env,
    OPENAI_BASE_URL: given.openai?.baseUrl ?? env.OPENAI_BASE_URL,
    ANTHROPIC_BASE_URL: given.anthropic?.baseUrl ?? env.ANTHROPIC_BASE_URL,
  });
  const own = Object.keys(given).filter((name) => !known.some((preset) => preset.name === name));
  const bare = own.map((name): Preset => {
    if (given[name]?.baseUrl === undefined)
      throw new ChatError('CONFIG_INVALID', `chat.yaml: endpoints.${name} needs baseUrl.`);
    const older = given[name].wire === 'anthropic' && { oldAnthropicHeaders: true };
    return { name, wire: 'chat', baseUrl: '', keyVariables: [], local: false, ...older };
  });
  return [...known, ...bare].map((preset) => {
    const endpoint = { ...preset, ...given[preset.name] };
    return {
      ...endpoint,
      local: given[preset.name]?.local ?? isLoopback(endpoint.baseUrl),
      // Who names a program for the key wants it to be asked.
      ...(endpoint.keyCommand && { keyVariables: [] }),
      // The SDK adds it.
      ...(endpoint.wire === 'anthropic' && { baseUrl: endpoint.baseUrl.replace(/(\/v1)?\/*$/, '') }),
    };
  });
}

/** The environment without the keys of models: no server has any business with them. */
export function withoutKeys(config: Config, env: Env): Env {
  const keys = new Set(
    [...presets(env), ...Object.values(config.endpoints)].flatMap((one) => one.keyVariables ?? []),
  );
  return Object.fromEntries(Object.entries(env).filter(([name]) => !keys.has(name)));
}

const hasKey = ({ keyVariables, keyCommand }: Endpoint, env: Env): boolean =>
  keyCommand !== undefined || keyVariables.some((name) => env[name]);
