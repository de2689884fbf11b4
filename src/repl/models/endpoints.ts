import type { ChatConfig } from '../config/config.ts';
import { ChatError, hint } from '../errors.ts';
import { runProgram } from '../files/program.ts';
import { familyOf, type Endpoint, type Model } from './model.ts';

/** `defaultModel`: what its name alone stands for. */
export type Preset = Endpoint & { readonly defaultModel?: string };
type ModelConfig = Pick<ChatConfig, 'model' | 'models' | 'endpoints'>;

type KnownEndpoint = readonly [
  name: string,
  baseUrl: string,
  keyVariables: readonly string[],
  model?: string,
];

/** The known endpoints, in the order in which a key in the environment decides. */
const knownEndpoints: readonly KnownEndpoint[] = [
  ['anthropic', 'https://api.anthropic.com', ['ANTHROPIC_API_KEY'], 'claude-sonnet-5'],
  ['openai', 'https://api.openai.com/v1', ['OPENAI_API_KEY'], 'gpt-5.6-terra'],
  [
    'gemini',
    'https://generativelanguage.googleapis.com/v1beta/openai/',
    ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    'gemini-flash-latest',
  ],
  ['deepseek', 'https://api.deepseek.com', ['DEEPSEEK_API_KEY'], 'deepseek-v4-pro'],
  ['minimax', 'https://api.minimax.io/v1', ['MINIMAX_API_KEY'], 'MiniMax-M3'],
  // Accounts of cloud.siliconflow.cn need `endpoints: {siliconflow: {baseUrl:
  // https://api.siliconflow.cn/v1}}`.
  ['siliconflow', 'https://api.siliconflow.com/v1', ['SILICONFLOW_API_KEY'], 'deepseek-ai/DeepSeek-V4-Pro'],
  ['openrouter', 'https://openrouter.ai/api/v1', ['OPENROUTER_API_KEY'], 'openrouter/auto'],
  ['ollama', 'http://127.0.0.1:11434/v1', []],
  ['llamacpp', 'http://127.0.0.1:8080/v1', []],
  ['lmstudio', 'http://127.0.0.1:1234/v1', []],
];
/** Servers of models that a person runs on their own machine. */
export const localNames: readonly string[] = ['ollama', 'llamacpp', 'lmstudio'];

/**
 * The known endpoints as environment and configuration change them, and the person's own. Throws
 * CONFIG_INVALID.
 */
export function endpointsOf({ endpoints }: Pick<ModelConfig, 'endpoints'>, env: NodeJS.ProcessEnv): Preset[] {
  const moved: NodeJS.ProcessEnv = {
    anthropic: env.ANTHROPIC_BASE_URL,
    openai: env.OPENAI_BASE_URL,
    ollama: ollamaUrl(env.OLLAMA_HOST),
  };
  const own = Object.keys(endpoints).filter((name) => !knownEndpoints.some(([one]) => one === name));
  return [...knownEndpoints, ...own.map((name): KnownEndpoint => [name, '', []])].map(
    ([name, usual, keyVariables, defaultModel]) => {
      const given = endpoints[name] ?? {};
      const baseUrl = given.baseUrl ?? (moved[name] || usual);
      if (baseUrl === '')
        throw new ChatError('CONFIG_INVALID', `chat.yaml: endpoints.${name} needs baseUrl.`);
      // Others' servers speak the chat wire, and have models of their own.
      const isUsual = hostOf(baseUrl) === hostOf(usual);
      const usualWire = name === 'anthropic' ? name : name === 'openai' && isUsual ? 'responses' : 'chat';
      const { wire = usualWire } = given;
      return {
        keyVariables,
        local: isLoopback(baseUrl),
        ...given,
        name,
        wire,
        // The SDK adds it.
        baseUrl: wire === 'anthropic' ? baseUrl.replace(/(\/v1)?\/*$/, '') : baseUrl,
        // Who names a program for the key wants it to be asked.
        ...(given.keyCommand && { keyVariables: [] }),
        ...(isUsual && defaultModel !== undefined && { defaultModel }),
      };
    },
  );
}

/** OLLAMA_HOST is what Ollama listens on: `host`, `host:port`, `:port` or a URL. */
function ollamaUrl(listensOn = ''): string | undefined {
  const [, scheme = 'http', name, port = '11434'] =
    /^(?:(https?):\/\/)?([\w.-]*)(?::(\d+))?\/?$/i.exec(listensOn.trim()) ?? [];
  if (listensOn === '' || name === undefined) return undefined;
  // Listening everywhere is no address to go to.
  return `${scheme}://${name === '' || name === '0.0.0.0' ? '127.0.0.1' : name}:${port}/v1`;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');
const isLoopback = (url: string): boolean => /^(.*\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(hostOf(url));

/**
 * The model a name stands for: `endpoint/id`, an alias of the configuration, a bare id of a known family, or
 * an endpoint, for its usual model. Without a name: the configuration's, TOOLCRIB_MODEL's, that of the first
 * endpoint with a key in the environment. Throws NO_MODEL when nothing says which, USAGE for a name that
 * stands for nothing.
 */
export function resolveModel(name: string | undefined, config: ModelConfig, env: NodeJS.ProcessEnv): Model {
  const endpoints = endpointsOf(config, env);
  const usual = endpoints.find((endpoint) => endpoint.defaultModel !== undefined && hasKey(endpoint, env));
  const asked = name ?? config.model ?? (env.TOOLCRIB_MODEL || usual?.name);
  if (asked === undefined) throw new ChatError('NO_MODEL', firstRunHelp);
  const alias = Object.hasOwn(config.models, asked) ? config.models[asked] : undefined;
  const { endpoint, id } = named(alias?.model ?? asked, endpoints, config);
  const { capabilities } = familyOf(id);
  // Local servers are started with far less context than a model could have, until they say otherwise.
  const { contextWindow, maxOutput } = capabilities;
  const isLocal = endpoint.local && localNames.includes(endpoint.name);
  const limits = isLocal && {
    contextWindow: Math.min(contextWindow, 32_768),
    maxOutput: Math.min(maxOutput, 8192),
  };
  // What the person knows of a model holds by whichever name it was asked for.
  const isThis = ({ model }: { model: string }) => model === `${endpoint.name}/${id}`;
  const { model: _, ...configured } = alias ?? Object.values(config.models).find(isThis) ?? { model: '' };
  return { endpoint, id, capabilities: { ...capabilities, ...limits, ...configured }, configured };
}

/** The help of a first run without any model. */
const firstRunHelp = [
  'No model is chosen yet. docs/repl.md has all ways; three:',
  '  a key:          export ANTHROPIC_API_KEY=…  (or OPENAI_, GEMINI_API_KEY, …)',
  '  a local model:  toolcrib chat --model ollama/qwen3  (or lmstudio/…, …)',
  '  to keep it:     model: ollama/qwen3  in ~/.config/toolcrib/chat.yaml',
].join('\n');

/** Names for `/model` and its completion, with what to know of each. */
export function listModels(config: ModelConfig, env: NodeJS.ProcessEnv): { name: string; note: string }[] {
  const aliases = Object.entries(config.models).map(([name, { model }]) => ({ name, note: model }));
  const others = endpointsOf(config, env).map((endpoint) => {
    const { name, defaultModel = '', keyVariables, local } = endpoint;
    const lacksKey = !local && !hasKey(endpoint, env);
    const usual = defaultModel === '' ? 'any model it has' : '';
    return { name: `${name}/${defaultModel}`, note: lacksKey ? `needs ${keyVariables.join(' or ')}` : usual };
  });
  return [...aliases, ...others];
}

function named(wanted: string, endpoints: readonly Preset[], config: ModelConfig) {
  const [before = '', ...after] = wanted.split('/');
  const endpoint = endpoints.find(({ name }) => name === before);
  const id = after.length === 0 ? (endpoint?.defaultModel ?? '') : after.join('/');
  if (endpoint && id !== '') return { endpoint, id };
  if (endpoint)
    throw new ChatError('NO_MODEL', `${before} has no usual model. Name one of those it has: ${before}/…`);
  const names = endpoints.map(({ name }) => name);
  if (after.length > 0) {
    const meant = hint(before, names) || ` There are: ${names.join(', ')}.`;
    throw new ChatError('USAGE', `There is no endpoint "${before}".${meant}`);
  }
  const home = endpoints.find(({ name }) => name === familyOf(wanted).endpoint);
  if (home) return { endpoint: home, id: wanted };
  const meant = hint(wanted, [...Object.keys(config.models), ...names]);
  const form = `Write endpoint/model, for example ollama/${wanted}.`;
  throw new ChatError('USAGE', `"${wanted}" is no known model.${meant} ${form}`);
}

/** The environment without the keys of models: no server has any business with them. */
export function withoutKeys(config: ModelConfig, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const given = Object.values(config.endpoints).flatMap(({ keyVariables = [] }) => keyVariables);
  const keys = new Set([...knownEndpoints.flatMap(([, , keyVariables]) => keyVariables), ...given]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !keys.has(name)));
}

export const hasKey = ({ keyVariables, keyCommand }: Endpoint, env: NodeJS.ProcessEnv): boolean =>
  keyCommand !== undefined || keyVariables.some((name) => env[name]);

/** A password manager may ask the person for its own password. */
const keyCommandMs = 120_000;

/**
 * Makes a finder of the keys of endpoints: in the environment, else the first line its program prints, which
 * is asked once. Undefined when the endpoint needs none. Throws NO_KEY, which never holds anything of what
 * was printed.
 */
export function keyFinder(env: NodeJS.ProcessEnv): (endpoint: Endpoint) => Promise<string | undefined> {
  const printed = new Map<string, Promise<string>>();
  return async ({ name, keyVariables, keyCommand, local }) => {
    const variable = keyVariables.find((each) => env[each]?.trim());
    if (variable !== undefined) return usable(env[variable]?.trim() ?? '', variable);
    if (keyCommand) {
      const key = printed.get(name) ?? ask(keyCommand);
      printed.set(name, key);
      // The next request may try again: perhaps the safe was locked.
      key.catch(() => printed.delete(name));
      return key;
    }
    if (local || keyVariables.length === 0) return undefined;
    const key = `endpoints.${name}.keyCommand in chat.yaml`;
    const ways = `Set ${keyVariables.join(' or ')}, or name a program that prints it: ${key}.`;
    throw new ChatError('NO_KEY', `${name} needs a key. ${ways}`);
  };
}

/** Runs a key command. Its own words may hold what it printed, and are told to nobody. */
async function ask(command: readonly string[]): Promise<string> {
  const program = `"${command.join(' ')}"`;
  const ran = await runProgram(command, { timeoutMs: keyCommandMs }).catch(() => undefined);
  if (ran?.exitCode === 0) return usable(ran.stdout.trim().split(/\r?\n/)[0]?.trim() ?? '', program);
  const how = ran ? `ended with exit code ${ran.exitCode}` : 'could not be started';
  throw new ChatError(
    'NO_KEY',
    `${program}, which should print the key, ${how}. Run it yourself to see why.`,
  );
}

/**
 * Checks a key: what fits no header would come back, key and all, in the error of whoever tries to send it.
 */
function usable(key: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const why = key === '' ? 'it is empty.' : 'there are blanks or characters in it that no key has.';
  throw new ChatError('NO_KEY', `${from} gives no key: ${why}`);
}
