import type { LookupAddress } from 'node:dns';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { pipeline } from 'node:stream';
import { callbackify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { ToolcribError } from '../../core/errors.ts';
import { fits, namesHost, type Rule } from '../../core/rule.ts';
import { version } from '../../machine/version.ts';

/** A request for one address of the web. */
export interface FetchRequest {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD';
  /** Servers of this machine may answer: the caller has named this machine itself, not a redirect. */
  readonly loopback: boolean;
}

/** A response, and the address that it came from after redirects. */
export interface FetchResponse {
  readonly url: URL;
  readonly response: IncomingMessage;
}

/** The rules, cancellation and name resolution of a request. */
export interface FetchContext {
  readonly rules: readonly Rule[];
  readonly signal: AbortSignal;
  /** Resolves a host name to its addresses. */
  resolve(host: string): Promise<readonly LookupAddress[]>;
}

const mostRedirects = 5;
/** Bytes of a body that are read at most, after decompression. */
const mostBytes = 5 * 1024 * 1024;

/**
 * IPv4 ranges that are not the public Internet: https://www.iana.org/assignments/iana-ipv4-special-registry,
 * and multicast.
 */
const reserved4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3';
/**
 * IPv6 ranges that are not the public Internet: all but 2000::/3, and in that the ranges that lead to IPv4
 * addresses or to nobody. IPv4 addresses written as IPv6 ones, mapped or through NAT64, are outside of
 * 2000::/3.
 */
const reserved6 = '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20';

/** Says whether an address belongs to the public Internet. */
export function isPublic({ address, family }: LookupAddress): boolean {
  const type = family === 4 ? 'ipv4' : 'ipv6';
  // One list for each family, as a BlockList finds IPv4 addresses in IPv6 ranges.
  const list = new BlockList();
  for (const range of (family === 4 ? reserved4 : reserved6).split(' ')) {
    const [net = '', prefix] = range.split('/');
    list.addSubnet(net, Number(prefix), type);
  }
  return !list.check(address, type);
}

const isThisMachine = ({ address }: LookupAddress): boolean =>
  address.startsWith('127.') || address === '::1';

/** Says whether a host is one of the three names of this machine. */
export const isLoopbackName = (host: string): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/i.test(host);

/** Parses an http or https URL, which may be relative to `from`; undefined for anything else. */
export function parseWebAddress(text: string, from?: string): URL | undefined {
  const url = URL.canParse(text, from) ? new URL(text, from) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
  // With a dot at its end it is the same host, but no rule would match it.
  url.hostname = url.hostname.replace(/\.$/, '');
  return url;
}

/** The subject of a fetch, which rules match. */
export const subjectOf = ({ href }: URL): string => `fetch ${href}`;

/**
 * Sends a request and follows redirects, each checked like the first address; returns the response with the
 * URL it came from. Throws EFFECT_DENIED for an address that may not be reached, UNREACHABLE, and what
 * node:http throws.
 */
export async function requestPage(
  { url: requested, method, loopback: mayLoopback }: FetchRequest,
  context: FetchContext,
): Promise<FetchResponse> {
  let url = rawFileOf(requested);
  let loopback = mayLoopback;
  for (let hops = 0; hops <= mostRedirects; hops++) {
    if (url !== requested) refuseByRule(url, context.rules);
    const response = await send({ url, method, loopback }, context);
    const target = redirectOf(response, url);
    if (target === undefined) return { url, response };
    response.destroy();
    // This machine may redirect to itself; no other machine may redirect to it.
    loopback = loopback && isLoopbackName(target.hostname);
    url = target;
  }
  throw new ToolcribError(
    'UNREACHABLE',
    `url: it redirects more than ${mostRedirects} times, at last to ${url.href}.`,
    'Give that address if it is what is meant.',
  );
}

/**
 * The address of the raw file for a page of GitHub that shows a file by scripts; any other address as it is.
 */
function rawFileOf(url: URL): URL {
  const [, repository, file] = /^(\/[^/]+\/[^/]+)\/blob\/(.+)$/.exec(url.pathname) ?? [];
  if (url.host !== 'github.com' || repository === undefined) return url;
  return new URL(`https://raw.githubusercontent.com${repository}/${file}`);
}

/**
 * Throws EFFECT_DENIED for a redirect that a rule denies or would ask about: nobody can be asked in the
 * middle of a fetch. The rules for the first address have been decided before.
 */
function refuseByRule(url: URL, rules: readonly Rule[]): void {
  const act = { tools: ['fetch_url'], subject: subjectOf(url), host: url.hostname };
  const rule = rules.find(({ pattern, decision }) => decision !== 'allow' && fits(pattern, act));
  if (!rule) return;
  const wayOut = rule.decision === 'ask' ? 'Call fetch_url with it: then a person is asked.' : '';
  const message = `url: it leads to ${url.href}, which a rule stands against (${rule.setting}).`;
  throw new ToolcribError('EFFECT_DENIED', message, wayOut);
}

function redirectOf({ statusCode = 0, headers: { location } }: IncomingMessage, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined;
  const url = parseWebAddress(location, from.href);
  if (!url)
    throw new ToolcribError(
      'EFFECT_DENIED',
      `url: it redirects to ${location.slice(0, 200)}: no web address.`,
    );
  // A server that redirects does not choose the name we log in with.
  url.username = '';
  url.password = '';
  return url;
}

/**
 * Sends a request to one address. The addresses that were checked are the ones connected to, so that a name
 * cannot resolve to another one in between.
 */
function send(
  { url, method, loopback }: FetchRequest,
  { rules, signal, resolve }: FetchContext,
): Promise<IncomingMessage> {
  const { hostname } = url;
  const isNamed = rules.some(
    (rule) => rule.decision === 'allow' && namesHost(rule.pattern, 'fetch_url', hostname),
  );
  const isReachable = (address: LookupAddress) =>
    isNamed || isPublic(address) || (loopback && isThisMachine(address));
  const reachable = (addresses: readonly LookupAddress[]): LookupAddress[] => {
    const allowed = addresses.filter(isReachable);
    if (allowed.length === 0) throw addressRefusal(hostname, addresses[0]);
    return allowed;
  };
  // Node calls `lookup` for names only, so that an address in numbers is checked here.
  const address = hostname.replaceAll(/[[\]]/g, '');
  if (isIP(address) > 0) reachable([{ address, family: isIP(address) }]);
  // With autoSelectFamily, Node takes a list of addresses.
  const lookup = callbackify(async (host: string, _options: object) => reachable(await resolve(host)));
  const headers = {
    accept: 'text/markdown, text/html;q=0.9, application/json;q=0.9, text/*;q=0.8, */*;q=0.5',
    'accept-encoding': 'gzip',
    'user-agent': `toolcrib/${version}`,
  };
  // Dev servers sign their own certificates, and nobody can listen between this machine and itself.
  const tls = { rejectUnauthorized: !loopback };
  const connection = { lookup, autoSelectFamily: true, agent: false as const };
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((onResponse, reject) => {
    request(url, { method, headers, signal, ...connection, ...tls }, onResponse)
      .on('error', reject)
      // A server that switches to another protocol causes neither a response nor an error.
      .on('close', () => reject(new Error('the connection was closed')))
      .end();
  });
}

function addressRefusal(host: string, refused: LookupAddress | undefined): ToolcribError {
  if (!refused) return new ToolcribError('UNREACHABLE', `url: ${host} has no address.`);
  const { address } = refused;
  const verb = host.includes(address) ? 'is' : `is ${address},`;
  return new ToolcribError(
    'EFFECT_DENIED',
    `url: ${host} ${verb} a private or reserved address.`,
    'A server of this machine is reached as localhost, 127.0.0.1 or [::1], not by a redirect; ' +
      `anything else takes a rule of the operator: --rule "fetch_url(${host})=allow".`,
  );
}

/** A body that was read: all of it, its first bytes, or those that came before `error`. */
export interface ResponseBody {
  readonly bytes: Buffer;
  readonly isCut: boolean;
  readonly error?: unknown;
}

/** Reads a body and decompresses it. */
export async function readBody(response: IncomingMessage): Promise<ResponseBody> {
  const isZipped = response.headers['content-encoding']?.toLowerCase() === 'gzip';
  // Errors of the pipeline are thrown by the loop that reads from it.
  const stream = isZipped ? pipeline(response, createGunzip(), () => {}) : response;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostBytes) break;
    }
  } catch (error) {
    return { bytes: Buffer.concat(chunks), error, isCut: true };
  } finally {
    response.destroy();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, mostBytes), isCut: size > mostBytes };
}
