import type { Model } from '../models/model.ts';
import type { Body } from './provider.ts';

/** Longer than any time limit of ours, which ends a request sooner: an SDK without a number would take its own. */
const requestTimeoutMs = 60 * 60 * 1000;

/** What both SDKs' clients have in common. Their methods for messages write warnings to the terminal. */
interface Client {
  post(
    path: string,
    how: { body: Body; stream: boolean; signal: AbortSignal },
  ): { withResponse(): Promise<{ data: unknown; response: Response }> };
}

interface ClientOptions {
  readonly model: Model;
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
}

/** Loads the SDK and makes its client for one request. Retries and time limits are ours, and so is the terminal. */
export async function clientOf({ model, key, fetch }: ClientOptions): Promise<Client> {
  const { wire, baseUrl: baseURL, headers, oldAnthropicHeaders } = model.endpoint;
  const older = oldAnthropicHeaders && {
    authorization: null,
    ...(key !== undefined && { 'x-api-key': key }),
    'anthropic-version': '2023-06-01',
  };
  const options = {
    baseURL,
    // The SDKs insist on a key, or look for one in places of their own; without one, its header is taken off again.
    apiKey: key ?? 'none',
    defaultHeaders: { ...(key === undefined && { authorization: null }), ...older, ...headers },
    fetch,
    maxRetries: 0,
    timeout: requestTimeoutMs,
    logLevel: 'off' as const,
  };
  if (wire === 'anthropic') {
    const { default: Anthropic } = await import('@anthropic-ai/sdk');
    return new Anthropic(options);
  }
  const { default: OpenAI } = await import('openai');
  // No account is taken from the environment: it is not meant for every endpoint.
  return new OpenAI({ ...options, organization: null, project: null, webhookSecret: null });
}
