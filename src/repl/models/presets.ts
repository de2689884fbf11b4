import type { Endpoint } from './model.ts';

export interface Preset extends Endpoint {
  /** What its name alone stands for. */
  readonly defaultModel?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** In the order in which a key in the environment decides. */
const known: readonly [name: string, baseUrl: string, keyVariables: readonly string[], model?: string][] = [
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
  // Accounts of cloud.siliconflow.cn need `endpoints: {siliconflow: {baseUrl: https://api.siliconflow.cn/v1}}`.
  ['siliconflow', 'https://api.siliconflow.com/v1', ['SILICONFLOW_API_KEY'], 'deepseek-ai/DeepSeek-V4-Pro'],
  ['openrouter', 'https://openrouter.ai/api/v1', ['OPENROUTER_API_KEY'], 'openrouter/auto'],
  ['ollama', 'http://127.0.0.1:11434/v1', []],
  ['llamacpp', 'http://127.0.0.1:8080/v1', []],
  ['lmstudio', 'http://127.0.0.1:1234/v1', []],
];

/** The endpoints that need no configuration, where the environment says they are. */
export function presets(env: Env): Preset[] {
  const moved: Env = {
    anthropic: env.ANTHROPIC_BASE_URL,
    openai: env.OPENAI_BASE_URL,
    ollama: ollamaUrl(env.OLLAMA_HOST),
  };
  return known.map(([name, usual, keyVariables, model]) => {
    const baseUrl = moved[name] || usual;
    // Others' servers speak the chat wire or want the older headers, and have models of their own.
    const own = hostOf(baseUrl) === hostOf(usual);
    return {
      name,
      wire: name === 'anthropic' ? 'anthropic' : name === 'openai' && own ? 'responses' : 'chat',
      baseUrl,
      keyVariables,
      local: isLoopback(baseUrl),
      ...(own && model !== undefined && { defaultModel: model }),
      ...(name === 'anthropic' && !own && { oldAnthropicHeaders: true }),
    };
  });
}

/**
 * OLLAMA_HOST is what Ollama listens on: `host`, `host:port`, `:port` or a URL, whose scheme says which port is
 * meant.
 */
function ollamaUrl(listensOn = ''): string | undefined {
  const [, scheme, name, given] =
    /^(?:(https?):\/\/)?([\w.-]*|\[[\da-f:]+\])(?::(\d+))?(?:\/|$)/i.exec(listensOn.trim()) ?? [];
  // Listening everywhere is no address to go to.
  const host = name === '' || name === '0.0.0.0' || name === '[::]' ? '127.0.0.1' : name;
  const port = given ?? { http: '80', https: '443' }[scheme ?? ''] ?? '11434';
  return host && `${scheme ?? 'http'}://${host}:${port}/v1`;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');

/** Whether a URL leads to this machine. */
export const isLoopback = (url: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostOf(url)) || hostOf(url).endsWith('.localhost');
