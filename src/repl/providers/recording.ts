import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ChatError } from '../errors.ts';
import { appendPrivately } from '../files/private-file.ts';
import type { Wire } from '../message.ts';
import { ProviderFailure } from './provider.ts';

/** One request as a line of a recording: what came back, as it came, and a hash of what was sent. */
interface Recorded {
  readonly v: 1;
  /** When it was made, in ms since 1970: lines are written when answers end. */
  readonly at: number;
  readonly path: string;
  /** SHA-256 of the body. */
  readonly body: string;
  /** 0 when there was no answer at all. */
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** The answer broke off. */
  readonly cut: boolean;
}
type Fetch = typeof fetch;

/**
 * The same fetch, but what it answers is added to a file that only this person can read. The key is not in it, even
 * where an answer repeats it. Throws USAGE when the file cannot be written.
 */
export function recording(fetched: Fetch, file: string): Fetch {
  const write = (text: string) => {
    try {
      appendPrivately(file, text);
    } catch (error) {
      throw new ChatError('USAGE', `The recording ${file} cannot be written.`, { cause: error });
    }
  };
  write('');
  return async (input, init) => {
    const request = { v: 1, at: Date.now(), ...requestOf(input, init) };
    const keep = (answer: Pick<Recorded, 'status' | 'type' | 'text' | 'cut'>) =>
      write(`${withoutSecrets(JSON.stringify({ ...request, ...answer }), init)}\n`);
    const response = await fetched(input, init).catch((error: unknown) => {
      keep({ status: 0, type: '', text: '', cut: true });
      throw error;
    });
    async function* seen(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      const chunks: Uint8Array[] = [];
      let cut = true;
      try {
        for await (const bytes of body) {
          chunks.push(bytes);
          yield bytes;
        }
        cut = false;
      } finally {
        // Also when whoever reads has gone.
        const type = response.headers.get('content-type') ?? '';
        keep({ status: response.status, type, text: Buffer.concat(chunks).toString(), cut });
      }
    }
    return new Response(response.body && ReadableStream.from(seen(response.body)), response);
  };
}

export interface Replay {
  readonly fetch: Fetch;
  /** How what was recorded is spoken to, as its paths tell. */
  readonly wires: readonly Wire[];
}

/**
 * Answers requests with what was recorded, in the order in which it was asked for. A request that is not as it was
 * recorded is one warning. Throws USAGE for a file that is no recording.
 */
export function replaying(file: string, warn: (text: string) => void): Replay {
  const left = recordedIn(file);
  const all = left.length;
  let requests = 0;
  let warned = false;
  return {
    wires: left.map(({ path }) =>
      path.endsWith('/messages') ? 'anthropic' : path.endsWith('/responses') ? 'responses' : 'chat',
    ),
    async fetch(input, init) {
      const { body } = requestOf(input, init);
      requests++;
      const found = left.shift();
      const missing = `${file} has ${all} answers, and this is request ${requests}.`;
      if (!found) throw new ProviderFailure('MODEL_REFUSED', missing);
      if (found.body !== body && !warned)
        warn(`Request ${requests} is not as it was recorded in ${file}: from here on, answers may not fit.`);
      warned ||= found.body !== body;
      const { status, type } = found;
      if (status === 0) throw new TypeError('fetch failed', { cause: broken });
      const headers = { 'content-type': type };
      return new Response(ReadableStream.from(bytesOf(found)), { status, headers });
    },
  };
}

/** How Node says that a connection has ended. */
const broken = { code: 'UND_ERR_SOCKET' };

async function* bytesOf({ text, cut }: Recorded): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
  if (cut) throw new TypeError('terminated', { cause: broken });
}

function recordedIn(file: string): Recorded[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    const found = lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as Recorded);
    if (found.some(({ v, text, body }) => v !== 1 || typeof text !== 'string' || typeof body !== 'string'))
      throw new TypeError('a line is of another kind');
    return found.sort((a, b) => a.at - b.at);
  } catch (error) {
    const message = `${file} cannot be read, or is no recording that --record made.`;
    throw new ChatError('USAGE', message, { cause: error });
  }
}

function requestOf(...[input, init]: Parameters<Fetch>): Pick<Recorded, 'path' | 'body'> {
  const { pathname: path } = new URL(input instanceof Request ? input.url : input);
  const sent = typeof init?.body === 'string' ? init.body : '';
  return { path, body: createHash('sha256').update(sent).digest('hex') };
}

/** What the headers of a request hold that nobody else may see is three dots. */
const withoutSecrets = (text: string, init: RequestInit | undefined): string =>
  [...new Headers(init?.headers)]
    .filter(([name]) => /auth|key|token|secret|cookie/.test(name))
    .map(([, value]) => value.replace(/^(?:bearer|basic)\s+/i, ''))
    // Shorter than that it is a word that answers may have.
    .filter((value) => value.length >= 8)
    .reduce((shown, value) => shown.replaceAll(value, '…'), text);
