import type { OpenAI } from 'openai';
import type { WireCall } from './wire.ts';

/**
 * The SDK's client for one request. No key or account is taken from the environment: they are not meant for every
 * endpoint.
 */
export async function openAiClient({ model, key, fetch }: WireCall): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  const { endpoint } = model;
  return new Client({
    baseURL: endpoint.baseUrl,
    // The SDK insists on a key; without one, its header is taken off again.
    apiKey: key ?? 'none',
    defaultHeaders: { ...(key === undefined ? { authorization: null } : {}), ...endpoint.headers },
    organization: null,
    project: null,
    webhookSecret: null,
    fetch,
    // Retries and timeouts are ours, and so is the terminal.
    maxRetries: 0,
    timeout: requestTimeoutMs,
    logLevel: 'off',
  });
}

/** Longer than any of ours, which end a request sooner: an SDK without a number would take its own. */
export const requestTimeoutMs = 60 * 60 * 1000;
