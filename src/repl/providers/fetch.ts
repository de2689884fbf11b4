import { readFileSync } from 'node:fs';
import { ChatError } from '../errors.ts';
import { jsonLinesTo } from '../files/chat-files.ts';
import type { Wire } from '../message.ts';

/** The response to one request, as it came: a line of a recording. */
interface RecordedResponse {
  /** The time it was made, in ms since 1970: lines are written when answers end. */
  readonly at: number;
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** The answer broke off. */
  readonly cut: boolean;
}
/** The signature of fetch, with which the SDKs call it. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Makes the same fetch, but what it answers is added to a file that only this person can read. The key is not
 * in it, even where an answer repeats it. Throws USAGE when the file cannot be written.
 */
export function recording(fetched: Fetch, file: string): Fetch {
  const write = jsonLinesTo(file, 'recording');
  return async (url, init) => {
    const at = Date.now();
    const { pathname: path } = new URL(url);
    const response = await fetched(url, init);
    const sent = new Headers(init?.headers);
    const key = sent.get('x-api-key') ?? sent.get('authorization')?.replace(/^Bearer /i, '');
    async function* kept(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      const chunks: Uint8Array[] = [];
      let cut = true;
      try {
        for await (const bytes of source) {
          chunks.push(bytes);
          yield bytes;
        }
        cut = false;
      } finally {
        // Also when whoever reads has gone.
        const all = Buffer.concat(chunks).toString();
        const text = key ? all.replaceAll(key, '…') : all;
        const type = response.headers.get('content-type') ?? '';
        write({ at, path, status: response.status, type, text, cut } satisfies RecordedResponse);
      }
    }
    return new Response(response.body && ReadableStream.from(kept(response.body)), response);
  };
}

/**
 * Answers requests with what was recorded, in the order of the requests; `wire`: how that was spoken to.
 * Throws USAGE for what is no recording.
 */
export function replaying(file: string): { readonly fetch: Fetch; readonly wire: Wire } {
  const recorded = recordedIn(file);
  let requests = 0;
  const { path } = recorded[0] ?? {};
  return {
    wire: path?.endsWith('/messages') ? 'anthropic' : path?.endsWith('/responses') ? 'responses' : 'chat',
    async fetch() {
      const found = recorded[requests];
      requests++;
      const missing = `${file} has ${recorded.length} answers, and this is request ${requests}.`;
      if (!found) throw new ChatError('MODEL_REFUSED', missing);
      const { status, type } = found;
      return new Response(ReadableStream.from(bytesOf(found)), { status, headers: { 'content-type': type } });
    },
  };
}

async function* bytesOf({ text, cut }: RecordedResponse): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
  // As Node says that a connection has ended.
  if (cut) throw new TypeError('terminated', { cause: { code: 'UND_ERR_SOCKET' } });
}

function recordedIn(file: string): RecordedResponse[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    const found = lines
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as RecordedResponse);
    if (found.some(({ text }) => typeof text !== 'string')) throw new TypeError('a line is of another kind');
    return found.sort((a, b) => a.at - b.at);
  } catch (error) {
    const message = `${file} cannot be read, or is no recording that --record made.`;
    throw new ChatError('USAGE', message, { cause: error });
  }
}

/** The redirects that are followed, as by a browser: more are a circle. */
const mostRedirects = 20;

/**
 * Follows redirects only as long as they stay with the same server: fetch itself would hand the key and the
 * whole conversation on to whomever it names.
 */
async function withinOrigin(given: Fetch, url: URL, init: RequestInit, hops = 0): Promise<Response> {
  const response = await given(url, { ...init, redirect: 'manual' });
  const location = /^30[12378]$/.test(String(response.status)) ? response.headers.get('location') : null;
  if (location === null) return response;
  await response.body?.cancel();
  const to = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  if (to?.origin === url.origin && hops < mostRedirects) return withinOrigin(given, to, init, hops + 1);
  throw new ChatError(
    'MODEL_REFUSED',
    `The endpoint sends requests on to ${to?.origin ?? 'nowhere'}, which is not asked: it would get ` +
      'the key and ' +
      "all that was said. If that is right, make it the endpoint's baseUrl.",
  );
}

/** The time that a server may be silent; the SDKs wait twice as long for its first word. */
const idleMs = 300_000;

/**
 * A fetch that stays with its server, and whose responses fail when nothing at all has come for so long,
 * whether before the first byte or after it. Every byte counts, a ping too: how long a model thinks is its
 * own affair.
 */
export function guardedFetch(given: Fetch): Fetch {
  return async (url, init) => {
    const silence = new AbortController();
    const message = `Nothing came for ${idleMs / 1000} seconds.`;
    const failure = new ChatError('MODEL_UNREACHABLE', message, { retryable: true });
    // Whoever stops reading says nothing: the clock must not keep the program from ending.
    const clock = setTimeout(() => silence.abort(failure), idleMs).unref();
    const signal = init?.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;
    const response = await withinOrigin(given, new URL(url), { ...init, signal });
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        clock.refresh();
        controller.enqueue(bytes);
      },
      flush: () => clearTimeout(clock),
    });
    return new Response(response.body?.pipeThrough(watched), response);
  };
}
