import { describe, expect, it } from 'vitest';
import type { ChatConfig } from '../../../src/repl/config/config.ts';
import { listModels, resolveModel } from '../../../src/repl/models/choose-model.ts';
import { familyOf } from '../../../src/repl/models/families.ts';
import { nameOf } from '../../../src/repl/models/model.ts';
import { presets } from '../../../src/repl/models/presets.ts';

const none = { models: {}, endpoints: {} };
const named = (name: string | undefined, config: Partial<ChatConfig> = {}, env = {}) =>
  nameOf(resolveModel(name, { ...none, ...config }, env));
const endpoint = (name: string, env: Record<string, string> = {}) =>
  presets(env).find((each) => each.name === name)!;

describe('a model', () => {
  it('is named by endpoint and id, by the id of a known family, by an alias or by its endpoint', () => {
    const models = { fast: { model: 'ollama/qwen3' } };
    expect(named('openrouter/anthropic/claude-sonnet-5')).toBe('openrouter/anthropic/claude-sonnet-5');
    expect(named('gpt-5.6-luna')).toBe('openai/gpt-5.6-luna');
    expect(named('claude-haiku-4-5')).toBe('anthropic/claude-haiku-4-5');
    expect(named('MiniMax-M3')).toBe('minimax/MiniMax-M3');
    expect(named('fast', { models })).toBe('ollama/qwen3');
    expect(named('deepseek')).toBe('deepseek/deepseek-v4-pro');
  });

  it('is otherwise that of the configuration, of the environment, or of the first key', () => {
    expect(named(undefined, { model: 'ollama/a' }, { TOOLCRIB_MODEL: 'ollama/b' })).toBe('ollama/a');
    expect(named(undefined, {}, { TOOLCRIB_MODEL: 'ollama/b', OPENAI_API_KEY: 'k' })).toBe('ollama/b');
    expect(named(undefined, {}, { GOOGLE_API_KEY: 'k', OPENROUTER_API_KEY: 'k' })).toBe(
      'gemini/gemini-flash-latest',
    );
    expect(named(undefined, { endpoints: { openai: { keyCommand: ['x'] } } })).toMatch(/^openai\//);
  });

  it('that nothing names is explained in four lines', () => {
    expect(() => named(undefined)).toThrow(expect.objectContaining({ code: 'NO_MODEL' }));
    const moved = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'https://gateway.example' };
    expect(() => named(undefined, {}, moved)).toThrow(/no usual model there: --model anthropic\/…/);
    expect(() => named(undefined, {}, { ANTHROPIC_API_KEY: '' })).toThrow(/^([^\n]+\n){3}[^\n]+$/);
    expect(() => named('ollama')).toThrow(/ollama has no usual model/);
  });

  it('that there is not is refused with the name that was probably meant', () => {
    expect(() => named('olama/x')).toThrow(/no endpoint "olama"\. Did you mean "ollama"\?/);
    expect(() => named('zzz/x')).toThrow(/There are: anthropic, openai/);
    expect(() => named('fats', { models: { fast: { model: 'ollama/x' } } })).toThrow(/Did you mean "fast"\?/);
    expect(() => named('qwen3:8b')).toThrow(/for example ollama\/qwen3:8b/);
  });

  it('can do what the configuration says, by whichever name it is called', () => {
    const config = {
      ...none,
      models: { mine: { model: 'ollama/qwen3', contextWindow: 9000, tools: false } },
    };
    for (const name of ['mine', 'ollama/qwen3'])
      expect(resolveModel(name, config, {}).capabilities).toMatchObject({
        contextWindow: 9000,
        tools: false,
        thinking: true,
      });
    expect(resolveModel('ollama/qwen3:4b', config, {}).capabilities).toMatchObject({
      contextWindow: 32_768,
      tools: true,
    });
  });
});

describe('an endpoint', () => {
  it('of OpenAI elsewhere speaks chat, and needs no key on this machine', () => {
    expect(endpoint('openai')).toMatchObject({
      wire: 'responses',
      baseUrl: 'https://api.openai.com/v1',
      local: false,
    });
    expect(endpoint('openai', { OPENAI_BASE_URL: 'http://localhost:8000/v1' })).toMatchObject({
      wire: 'chat',
      local: true,
    });
    expect(endpoint('openai', { OPENAI_BASE_URL: 'https://proxy.example/v1' })).toMatchObject({
      wire: 'chat',
      local: false,
    });
    const { endpoint: changed } = resolveModel(
      'openai/x',
      { ...none, endpoints: { openai: { baseUrl: 'http://[::1]:1/v1' } } },
      {},
    );
    expect(changed).toMatchObject({ wire: 'chat', local: true, baseUrl: 'http://[::1]:1/v1' });
  });

  it('of Anthropic elsewhere gets the older headers, and never /v1 twice', () => {
    expect(endpoint('anthropic').oldAnthropicHeaders).toBeUndefined();
    const { endpoint: changed } = resolveModel('anthropic/x', none, {
      ANTHROPIC_BASE_URL: 'https://api.minimax.io/anthropic/v1/',
    });
    expect(changed).toMatchObject({ baseUrl: 'https://api.minimax.io/anthropic', oldAnthropicHeaders: true });
  });

  it.each([
    ['', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
    [':9999', 'http://127.0.0.1:9999/v1'],
    ['gpu:1', 'http://gpu:1/v1'],
    ['https://o.example/', 'https://o.example:443/v1'],
    ['not a host', 'http://127.0.0.1:11434/v1'],
  ])('of Ollama is where OLLAMA_HOST says: %j', (host, baseUrl) => {
    expect(endpoint('ollama', { OLLAMA_HOST: host })).toMatchObject({
      baseUrl,
      keyVariables: [],
      local: baseUrl.includes('127'),
    });
  });

  it('may be the own one of a person', () => {
    const endpoints = {
      work: { baseUrl: 'https://llm.example/v1', wire: 'anthropic' as const, keyCommand: ['pass', 'x'] },
    };
    expect(resolveModel('work/m', { ...none, endpoints }, {}).endpoint).toEqual({
      name: 'work',
      wire: 'anthropic',
      baseUrl: 'https://llm.example',
      keyVariables: [],
      keyCommand: ['pass', 'x'],
      local: false,
      oldAnthropicHeaders: true,
    });
    expect(() => resolveModel('work/m', { ...none, endpoints: { work: {} } }, {})).toThrow(
      /endpoints\.work needs baseUrl/,
    );
  });
});

it.each([
  ['gpt-5.6-sol', { contextWindow: 922_000, images: true, thinking: true }],
  ['gpt-5', { contextWindow: 272_000 }],
  ['openai/gpt-4o-mini', { contextWindow: 128_000, maxOutput: 16_000 }],
  ['claude-opus-5-5', { contextWindow: 1_000_000, maxOutput: 128_000 }],
  ['anthropic/claude-sonnet-4.6', { contextWindow: 1_000_000 }],
  ['claude-haiku-4-5-20251001', { contextWindow: 200_000, maxOutput: 64_000 }],
  ['claude-opus-4-20250514', { maxOutput: 32_000 }],
  ['models/gemini-3.8-flash', { contextWindow: 1_048_000 }],
  ['deepseek-ai/DeepSeek-V4-Pro', { echoReasoning: 'calls', thinking: true }],
  ['deepseek-ai/DeepSeek-V3.1', { thinkingOrTools: true }],
  ['tinyllama:1.1b', { tools: false }],
  [
    'what-is-this',
    { contextWindow: 128_000, maxOutput: 8000, tools: true, images: false, echoReasoning: 'if_sent' },
  ],
])('knows what %s can do', (id, known) => {
  expect(familyOf(id).capabilities).toMatchObject(known);
});

it('knows no model whose answer fills its window', () => {
  for (const { defaultModel = 'unknown' } of presets({})) {
    const { contextWindow, maxOutput } = familyOf(defaultModel).capabilities;
    expect(maxOutput).toBeLessThan(contextWindow);
  }
});

it('lists aliases and endpoints, with what is missing', () => {
  const list = listModels({ ...none, models: { fast: { model: 'ollama/x' } } }, { OPENAI_API_KEY: 'k' });
  expect(list[0]).toEqual({ name: 'fast', note: 'ollama/x' });
  expect(list).toContainEqual({ name: 'openai/gpt-5.6-terra', note: '' });
  expect(list).toContainEqual({
    name: 'gemini/gemini-flash-latest',
    note: 'needs GEMINI_API_KEY or GOOGLE_API_KEY',
  });
  expect(list).toContainEqual({ name: 'ollama/', note: 'any model it has' });
});
