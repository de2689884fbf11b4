import type { LookupAddress } from 'node:dns';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ToolcribError } from '../../core/errors.ts';
import { fits, namesHost, type Rule } from '../../core/rule.ts';
import { version } from '../version.ts';
import { isLoopback, isPublic, namesLoopback } from './addresses.ts';

export interface FetchRequest {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD';
  /** Whether servers of this machine may answer: it was named, and by nobody else. */
  readonly loopback: boolean;
}

/** What a request may reach. */
export interface Gate {
  readonly rules: readonly Rule[];
  readonly signal: AbortSignal;
  /** The addresses of a name. */
  resolve(host: string): Promise<readonly LookupAddress[]>;
}

const mostRedirects = 5;
/** Of a body, after decompression. */
const mostBytes = 5 * 1024 * 1024;

/** The act in one line, as rules see it. */
export const subjectOf = ({ href }: URL): string => `fetch ${href}`;

/**
 * The answer to a request and where it came from, redirects followed and each looked at like the first address. Throws
 * EFFECT_DENIED for what may not be reached, UNREACHABLE, and what node:http throws.
 */
export async function respond(
  { url: given, method, loopback: allowed }: FetchRequest,
  gate: Gate,
): Promise<{ readonly url: URL; readonly response: IncomingMessage }> {
  let url = rawOf(given);
  let loopback = allowed;
  for (let hops = 0; hops <= mostRedirects; hops++) {
    if (url !== given) refuseByRule(url, gate.rules);
    const response = await send({ url, method, loopback }, gate);
    const target = redirectOf(response, url);
    if (target === undefined) return { url, response };
    response.destroy();
    // From this machine to itself, and never from elsewhere.
    loopback &&= namesLoopback(target.hostname);
    url = target;
  }
  throw new ToolcribError(
    'UNREACHABLE',
    `url: it redirects more than ${mostRedirects} times, at last to ${url.href}.`,
    'Give that address if it is what is meant.',
  );
}

/** A page of GitHub that shows a file is a program; the file itself is had elsewhere. */
function rawOf(url: URL): URL {
  const [, repository, file] = /^(\/[^/]+\/[^/]+)\/blob\/(.+)$/.exec(url.pathname) ?? [];
  if (url.host !== 'github.com' || repository === undefined) return url;
  return new URL(`https://raw.githubusercontent.com${repository}/${file}`);
}

/** Of the first address rules were asked before; a redirect is not asked about, so a rule that would ask refuses it. */
function refuseByRule(url: URL, rules: readonly Rule[]): void {
  const act = { tools: ['fetch_url'], subject: subjectOf(url), host: url.hostname };
  const against = rules.find(({ pattern, decision }) => decision !== 'allow' && fits(pattern, act));
  if (!against) return;
  const wayOut =
    against.decision === 'ask' ? 'Call fetch_url with that address: a person is asked then.' : '';
  const message = `url: it leads to ${url.href}, which a rule stands against (${against.setting}).`;
  throw new ToolcribError('EFFECT_DENIED', message, wayOut);
}

function redirectOf({ statusCode = 0, headers: { location } }: IncomingMessage, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined;
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new ToolcribError(
      'EFFECT_DENIED',
      `url: it redirects to ${location.slice(0, 200)}, which is not HTTP.`,
    );
  // Whoever redirects does not log in for us.
  url.username = '';
  url.password = '';
  return url;
}

/** Asks one address. What was looked at is what is connected to, so that a name cannot change its mind in between. */
async function send(
  { url, method, loopback }: FetchRequest,
  { rules, signal, resolve }: Gate,
): Promise<IncomingMessage> {
  const name = url.hostname.replaceAll(/[[\]]/g, '');
  const family = isIP(name);
  const addresses = family > 0 ? [{ address: name, family }] : await unlessAborted(resolve(name), signal);
  const isOpen = rules.some(
    ({ pattern, decision }) => decision === 'allow' && namesHost(pattern, 'fetch_url', url.hostname),
  );
  const refused = addresses.find((one) => !isPublic(one) && !isOpen && !(loopback && isLoopback(one)));
  if (refused) throw notOpen(url.hostname, refused);
  const lookup: LookupFunction = (_host, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(first ? null : new Error('no address'), first?.address ?? '', first?.family);
  };
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = {
    accept: 'text/markdown, text/html;q=0.9, application/json;q=0.9, text/*;q=0.8, */*;q=0.5',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': `toolcrib/${version}`,
  };
  // A dev server makes its own certificate, and nobody stands between this machine and itself.
  const isHere = loopback && addresses.every(isLoopback);
  return new Promise((answer, reject) => {
    request(url, { method, headers, signal, lookup, agent: false, rejectUnauthorized: !isHere }, answer)
      .on('error', reject)
      // An answer that switches to another protocol is no response, and no error.
      .on('close', () => reject(new Error('the connection was closed')))
      .end();
  });
}

function notOpen(host: string, { address }: LookupAddress): ToolcribError {
  const is = host.includes(address) ? 'is' : `is ${address},`;
  return new ToolcribError(
    'EFFECT_DENIED',
    `url: ${host} ${is} a private or reserved address.`,
    'A server of this machine is reached as localhost, 127.0.0.1 or [::1], not by a redirect; ' +
      `anything else takes a rule of the operator: "fetch_url(${host})": "allow".`,
  );
}

const unlessAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  Promise.race([
    promise,
    new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);

/** What came of a body: all of it, its first mostBytes, or what came before it was `broken`. */
interface Body {
  readonly body: Buffer;
  readonly isCut: boolean;
  readonly broken?: unknown;
}

/** Reads a body, decompressed. Throws OUTPUT_UNREADABLE. */
export async function readBody(response: IncomingMessage): Promise<Body> {
  const decompress = decompressorOf(response.headers['content-encoding']);
  // What went wrong is thrown where it is read.
  const stream = decompress ? pipeline(response, decompress, () => {}) : response;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostBytes) break;
    }
  } catch (broken) {
    return { body: Buffer.concat(chunks), broken, isCut: true };
  } finally {
    response.destroy();
  }
  return { body: Buffer.concat(chunks).subarray(0, mostBytes), isCut: size > mostBytes };
}

function decompressorOf(encoding = 'identity') {
  if (encoding === 'identity') return undefined;
  if (encoding === 'gzip') return createGunzip();
  if (encoding === 'deflate') return createInflate();
  if (encoding === 'br') return createBrotliDecompress();
  throw new ToolcribError(
    'OUTPUT_UNREADABLE',
    `The answer is encoded as ${encoding.slice(0, 100)}, which nobody asked for.`,
    'A program such as curl may understand it.',
  );
}
