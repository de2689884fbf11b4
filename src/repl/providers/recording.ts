import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { ChatError } from '../errors.ts';
import type { Wire } from '../message.ts';
import { appendPrivately } from '../files/private-file.ts';
import { ProviderFailure } from './provider.ts';

/** One request as a line of a recording: what came back as it came, and of what was sent enough to know it again. */
interface Recorded {
  readonly v: 1;
  /** When it was made, in ms since 1970: lines are written when answers end. */
  readonly at: number;
  readonly method: string;
  /** Without the host and a query. */
  readonly path: string;
  /** SHA-256 of the body. */
  readonly body: string;
  /** Missing when there was no answer at all. */
  readonly status?: number;
  readonly type?: string;
  /** When each piece came, in ms after the request. */
  readonly chunks: readonly (readonly [ms: number, text: string])[];
  readonly end: 'whole' | 'cut' | 'aborted';
  /** The system's word for what cut it. */
  readonly code?: string;
}

type Fetch = typeof fetch;
type Warn = (text: string) => void;

/**
 * The same fetch, but what it answers is added to a file that only this person can read. The key is never in it,
 * even where an answer repeats it. Throws USAGE when the file cannot be written.
 */
export function recording(fetched: Fetch, file: string, warn: Warn): Fetch {
  try {
    appendPrivately(file, '');
  } catch (error) {
    throw new ChatError('USAGE', `The recording ${file} cannot be written.`, { cause: error });
  }
  return async (input, init) => {
    const began = performance.now();
    const line = { v: 1 as const, at: performance.timeOrigin + began, ...requestOf(input, init) };
    const answer: { status?: number; type?: string } = {};
    const chunks: [number, string][] = [];
    // Bytes in the middle of a character wait for the rest of it.
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let kept = false;
    const keep = (ended: Pick<Recorded, 'end' | 'code'>) => {
      if (kept) return;
      kept = true;
      try {
        appendPrivately(
          file,
          `${withoutSecrets({ ...line, ...answer, chunks, ...ended }, secretsOf(init))}\n`,
        );
      } catch {
        warn(`The recording ${file} can no longer be written: it has a gap.`);
      }
    };
    const broken = (error?: unknown) => {
      // A server that fell silent is given up by us, and not by the person.
      const byPerson = init?.signal?.aborted && !(init.signal.reason instanceof ProviderFailure);
      keep(byPerson ? { end: 'aborted' } : { end: 'cut', ...codeOf(error) });
    };
    // Whoever reads may be gone by then, and not notice.
    init?.signal?.addEventListener('abort', () => broken(), { once: true });
    async function* seen(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      try {
        for await (const bytes of body) {
          const text = decoder.decode(bytes, { stream: true });
          if (text !== '') chunks.push([Math.round(performance.now() - began), text]);
          yield bytes;
        }
        keep({ end: 'whole' });
      } catch (error) {
        broken(error);
        throw error;
      } finally {
        keep({ end: 'aborted' });
      }
    }
    const response = await fetched(input, init).catch((error: unknown) => {
      broken(error);
      throw error;
    });
    Object.assign(answer, { status: response.status, type: response.headers.get('content-type') ?? '' });
    if (response.body) return new Response(ReadableStream.from(seen(response.body)), response);
    keep({ end: 'whole' });
    return response;
  };
}

export interface Replay {
  readonly fetch: Fetch;
  /** How what was recorded is spoken to, as its paths tell. */
  readonly wires: readonly Wire[];
}

/**
 * Answers requests with what was recorded, in the order in which it was asked for, as fast as it is read. A request
 * that is not as it was recorded is one warning. Throws USAGE for a file that is no recording.
 */
export function replaying(file: string, warn: Warn): Replay {
  const left = recordedIn(file);
  const all = left.length;
  let requests = 0;
  let warned = false;
  return {
    wires: left.map(({ path }) => wireOf(path)),
    async fetch(input, init) {
      const { body } = requestOf(input, init);
      requests++;
      // A name for the session is asked for in the background: sooner or later than when it was recorded.
      const same = left.findIndex((one) => one.body === body);
      const [found] = left.splice(Math.max(0, same), 1);
      if (!found) {
        const text = `${file} has ${all} answers, and this is request ${requests}.`;
        throw new ProviderFailure('MODEL_REFUSED', text);
      }
      if (same < 0 && !warned) {
        warned = true;
        warn(`Request ${requests} is not as it was recorded in ${file}: from here on, answers may not fit.`);
      }
      const { status, type = '' } = found;
      if (status === undefined) throw endOf(found);
      const hasBody = ![204, 205, 304].includes(status);
      const answer = hasBody ? ReadableStream.from(piecesOf(found, init?.signal)) : null;
      return new Response(answer, { status, headers: { 'content-type': type } });
    },
  };
}

const wireOf = (path: string): Wire =>
  path.endsWith('/messages') ? 'anthropic' : path.endsWith('/responses') ? 'responses' : 'chat';

async function* piecesOf(
  found: Recorded,
  signal: AbortSignal | null | undefined,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const [, text] of found.chunks) {
    // Keys and signals are looked at between pieces.
    await setImmediate();
    signal?.throwIfAborted();
    yield encoder.encode(text);
  }
  if (found.end !== 'whole') throw endOf(found);
}

/** What an answer without an end of its own ends with: as fetch says it, or as the person did. */
function endOf({ end, status, code }: Recorded): Error {
  if (end === 'aborted')
    return new ProviderFailure('INTERRUPTED', 'This answer was interrupted when it was recorded.');
  const cause = Object.assign(new Error(code), { code });
  return new TypeError(status === undefined ? 'fetch failed' : 'terminated', { cause });
}

function recordedIn(file: string): Recorded[] {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ChatError('USAGE', `The recording ${file} cannot be read.`, { cause: error });
  }
  const lines = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      const found = JSON.parse(line) as Recorded;
      if (found.v === 1 && Array.isArray(found.chunks) && typeof found.body === 'string') return [found];
    } catch {
      // Said below, as for what is JSON but no recording.
    }
    throw new ChatError('USAGE', `${file}:${index + 1}: this is no line of a recording that --record made.`);
  });
  return lines.sort((a, b) => a.at - b.at);
}

function requestOf(...[input, init]: Parameters<Fetch>): Pick<Recorded, 'method' | 'path' | 'body'> {
  const { pathname: path } = new URL(input instanceof Request ? input.url : input);
  const sent = typeof init?.body === 'string' ? init.body : '';
  return { method: init?.method ?? 'GET', path, body: createHash('sha256').update(sent).digest('hex') };
}

function codeOf(error: unknown): { code?: string } {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && typeof at.code === 'string') return { code: at.code };
  return {};
}

/**
 * What the headers of a request hold that nobody else may see. Shorter than that it is a word that answers may
 * have.
 */
const secretsOf = (init: RequestInit | undefined): string[] =>
  [...new Headers(init?.headers)]
    .filter(([name]) => /auth|key|token|secret|cookie/.test(name))
    .map(([, value]) => value.replace(/^(?:bearer|basic)\s+/i, ''))
    .filter((value) => value.length >= 8);

/** The line, in which a secret is three dots, in whichever way JSON may have it. */
function withoutSecrets(line: Recorded, secrets: readonly string[]): string {
  const written = (character: string) => {
    if (/\w/.test(character)) return character;
    const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return `(?:\\\\*\\u${hex}|\\\\+u${hex})`;
  };
  const patterns = secrets.map((secret) => new RegExp([...secret].map(written).join(''), 'gi'));
  const whole = line.chunks.map(([, text]) => text).join('');
  // It may have come in two pieces: then they are one.
  const repeats = patterns.some((pattern) => whole.search(pattern) >= 0);
  const safe = repeats ? { ...line, chunks: [[line.chunks.at(-1)?.[0], whole]] } : line;
  return patterns.reduce((text, pattern) => text.replace(pattern, '…'), JSON.stringify(safe));
}
