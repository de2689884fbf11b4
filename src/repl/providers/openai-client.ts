import type { OpenAI } from 'openai';
import type { WireCall } from './wire.ts';

/** Longer than any time limit of ours, which ends a request sooner: an SDK without a number would take its own. */
const requestTimeoutMs = 60 * 60 * 1000;

/** What the clients of both SDKs are made of. Retries and time limits are ours, and so is the terminal. */
export const clientOptions = ({ model, key, fetch }: WireCall) => ({
  baseURL: model.endpoint.baseUrl,
  // The SDKs insist on a key, or look for one in places of their own; without one, its header is taken off again.
  apiKey: key ?? 'none',
  defaultHeaders: { ...(key === undefined && { authorization: null }), ...model.endpoint.headers },
  fetch,
  maxRetries: 0,
  timeout: requestTimeoutMs,
  logLevel: 'off' as const,
});

/** The SDK's client for one request. No account is taken from the environment: it is not meant for every endpoint. */
export async function openAiClient(call: WireCall): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  return new Client({ ...clientOptions(call), organization: null, project: null, webhookSecret: null });
}
