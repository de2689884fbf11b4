import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { ChatError } from '../errors.ts';
import type { Wire } from '../message.ts';
import { appendPrivately } from '../files/private-file.ts';
import { ProviderFailure } from './provider.ts';

/** One request as a line of a recording: what came back as it came, and a hash of what was sent. */
interface Recorded {
  readonly v: 1;
  /** When it was made, in ms since 1970: lines are written when answers end. */
  readonly at: number;
  readonly path: string;
  /** SHA-256 of the body. */
  readonly body: string;
  /** Missing when there was no answer at all. */
  readonly status?: number;
  readonly type?: string;
  readonly text: string;
  readonly end: 'whole' | 'cut' | 'aborted';
  /** The system's word for what cut it. */
  readonly code?: string;
}
type Fetch = typeof fetch;

/**
 * The same fetch, but what it answers is added to a file that only this person can read. The key is never in it,
 * even where an answer repeats it. Throws USAGE when the file cannot be written.
 */
export function recording(fetched: Fetch, file: string, warn: (text: string) => void): Fetch {
  const write = (line: string) => {
    try {
      appendPrivately(file, line);
    } catch (error) {
      throw new ChatError('USAGE', `The recording ${file} cannot be written.`, { cause: error });
    }
  };
  write('');
  return async (input, init) => {
    const line: Record<string, unknown> = { v: 1, at: Date.now(), ...requestOf(input, init) };
    const chunks: Uint8Array[] = [];
    const keep = (end: Recorded['end']) => {
      if ('end' in line) return;
      line['end'] = end;
      line['text'] = withoutSecrets(Buffer.concat(chunks).toString(), init);
      try {
        write(`${JSON.stringify(line)}\n`);
      } catch {
        warn(`The recording ${file} can no longer be written: it has a gap.`);
      }
    };
    // A server that fell silent is given up by us, and not by the person. Whoever reads may be gone by then.
    const broken = (error?: unknown) => {
      for (let at = error; at instanceof Error; at = at.cause) if ('code' in at) line['code'] = at.code;
      keep(init?.signal?.aborted && !(init.signal.reason instanceof ProviderFailure) ? 'aborted' : 'cut');
    };
    init?.signal?.addEventListener('abort', () => broken(), { once: true });
    async function* seen(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      try {
        for await (const bytes of body) {
          chunks.push(bytes);
          yield bytes;
        }
        keep('whole');
      } catch (error) {
        broken(error);
        throw error;
      } finally {
        keep('aborted');
      }
    }
    const response = await fetched(input, init).catch((error: unknown) => {
      broken(error);
      throw error;
    });
    Object.assign(line, { status: response.status, type: response.headers.get('content-type') ?? '' });
    if (response.body) return new Response(ReadableStream.from(seen(response.body)), response);
    keep('whole');
    return response;
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
      // A name for the session is asked for in the background: sooner or later than when it was recorded.
      const same = left.findIndex((one) => one.body === body);
      const [found] = left.splice(Math.max(0, same), 1);
      if (!found)
        throw new ProviderFailure(
          'MODEL_REFUSED',
          `${file} has ${all} answers, and this is request ${requests}.`,
        );
      if (same < 0 && !warned) {
        warned = true;
        warn(`Request ${requests} is not as it was recorded in ${file}: from here on, answers may not fit.`);
      }
      const { status, type = '' } = found;
      if (status === undefined) throw endOf(found);
      return new Response(ReadableStream.from(piecesOf(found)), {
        status,
        headers: { 'content-type': type },
      });
    },
  };
}

async function* piecesOf(found: Recorded): AsyncGenerator<Uint8Array> {
  // Keys and signals are looked at first.
  await setImmediate();
  yield new TextEncoder().encode(found.text);
  if (found.end !== 'whole') throw endOf(found);
}

/** What an answer without an end of its own ends with: as fetch says it, or as the person did. */
function endOf({ end, status, code }: Recorded): Error {
  if (end === 'aborted')
    return new ProviderFailure('INTERRUPTED', 'This answer was interrupted when it was recorded.');
  return new TypeError(status === undefined ? 'fetch failed' : 'terminated', {
    cause: Object.assign(new Error(code), { code }),
  });
}

function recordedIn(file: string): Recorded[] {
  try {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
    const found = lines.map((line) => JSON.parse(line) as Recorded);
    if (found.some(({ v, text, body }) => v !== 1 || typeof text !== 'string' || typeof body !== 'string'))
      throw new TypeError('a line is of another kind');
    return found.sort((a, b) => a.at - b.at);
  } catch (error) {
    throw new ChatError('USAGE', `${file} cannot be read, or is no recording that --record made.`, {
      cause: error,
    });
  }
}

function requestOf(...[input, init]: Parameters<Fetch>): Pick<Recorded, 'path' | 'body'> {
  const { pathname: path } = new URL(input instanceof Request ? input.url : input);
  const sent = typeof init?.body === 'string' ? init.body : '';
  return { path, body: createHash('sha256').update(sent).digest('hex') };
}

/** What the headers of a request hold that nobody else may see is three dots, in whichever way JSON may write it. */
function withoutSecrets(text: string, init: RequestInit | undefined): string {
  const escapes = (character: string) => {
    if (/\w/.test(character)) return character;
    const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return `(?:\\\\*\\u${hex}|\\\\+u${hex})`;
  };
  return (
    [...new Headers(init?.headers)]
      .filter(([name]) => /auth|key|token|secret|cookie/.test(name))
      .map(([, value]) => value.replace(/^(?:bearer|basic)\s+/i, ''))
      // Shorter than that it is a word that answers may have.
      .filter((value) => value.length >= 8)
      .reduce((shown, value) => shown.replace(new RegExp([...value].map(escapes).join(''), 'gi'), '…'), text)
  );
}
