import type { Endpoint } from './model.ts';

export interface Preset extends Endpoint {
  /** What its name alone stands for. */
  readonly defaultModel?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The endpoints that need no configuration, in the order in which a key in the environment decides. */
export function presets(env: Env): Preset[] {
  const plain = (
    name: string,
    baseUrl: string,
    keyVariables: readonly string[],
    defaultModel?: string,
  ): Preset => ({
    name,
    wire: 'chat',
    baseUrl,
    keyVariables,
    local: isLoopback(baseUrl),
    ...(defaultModel !== undefined && { defaultModel }),
  });
  return [
    anthropic(env),
    openai(env),
    plain(
      'gemini',
      'https://generativelanguage.googleapis.com/v1beta/openai/',
      ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      'gemini-flash-latest',
    ),
    plain('deepseek', 'https://api.deepseek.com', ['DEEPSEEK_API_KEY'], 'deepseek-v4-pro'),
    plain('minimax', 'https://api.minimax.io/v1', ['MINIMAX_API_KEY'], 'MiniMax-M3'),
    // Accounts of cloud.siliconflow.cn need `endpoints: {siliconflow: {baseUrl: https://api.siliconflow.cn/v1}}`.
    plain(
      'siliconflow',
      'https://api.siliconflow.com/v1',
      ['SILICONFLOW_API_KEY'],
      'deepseek-ai/DeepSeek-V4-Pro',
    ),
    plain('openrouter', 'https://openrouter.ai/api/v1', ['OPENROUTER_API_KEY'], 'openrouter/auto'),
    plain('ollama', `${ollamaOrigin(env.OLLAMA_HOST)}/v1`, []),
    plain('llamacpp', 'http://127.0.0.1:8080/v1', []),
    plain('lmstudio', 'http://127.0.0.1:1234/v1', []),
  ];
}

/** Others' servers speak the chat wire; only OpenAI's own has all of Responses. */
function openai({ OPENAI_BASE_URL: elsewhere }: Env): Preset {
  const baseUrl = elsewhere || 'https://api.openai.com/v1';
  const own = hostOf(baseUrl) === 'api.openai.com';
  return {
    name: 'openai',
    wire: own ? 'responses' : 'chat',
    baseUrl,
    keyVariables: ['OPENAI_API_KEY'],
    local: isLoopback(baseUrl),
    ...(own && { defaultModel: 'gpt-5.6-terra' }),
  };
}

/** Compatible servers of others want the older headers. */
function anthropic({ ANTHROPIC_BASE_URL: elsewhere }: Env): Preset {
  const baseUrl = elsewhere || 'https://api.anthropic.com';
  const own = hostOf(baseUrl) === 'api.anthropic.com';
  return {
    name: 'anthropic',
    wire: 'anthropic',
    baseUrl,
    keyVariables: ['ANTHROPIC_API_KEY'],
    local: isLoopback(baseUrl),
    ...(own ? { defaultModel: 'claude-sonnet-5' } : { oldAnthropicHeaders: true }),
  };
}

/** OLLAMA_HOST is what Ollama listens on: `host`, `host:port`, `:port` or a URL. */
function ollamaOrigin(listensOn = ''): string {
  const text = listensOn.trim().replace(/\/+$/, '');
  const url = /^https?:\/\//.test(text) ? text : `http://${text.replace(/^:/, '127.0.0.1:')}`;
  if (text === '' || !URL.canParse(url)) return 'http://127.0.0.1:11434';
  const { protocol, hostname, port } = new URL(url);
  // Listening everywhere is no address to go to.
  const host = /^(0\.0\.0\.0|\[::\])$/.test(hostname) ? '127.0.0.1' : hostname;
  // A URL without a port means that of its scheme; anything else means Ollama's.
  return `${protocol}//${host}:${port || (url === text ? (protocol === 'https:' ? '443' : '80') : '11434')}`;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');

/** Whether a URL leads to this machine. */
export const isLoopback = (url: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostOf(url)) || hostOf(url).endsWith('.localhost');
