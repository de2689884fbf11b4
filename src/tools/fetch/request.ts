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

/**
 * What is not the public Internet: https://www.iana.org/assignments/iana-ipv4-special-registry, and
 * multicast.
 */
const reserved4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3';
/**
 * Of IPv6 all but 2000::/3, and in that what leads to IPv4 addresses or to nobody. IPv4 addresses written as
 * IPv6 ones, mapped or through NAT64, lie outside of it.
 */
const reserved6 = '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20';

/** Whether an address is one of the public Internet. */
export function isPublic({ address, family }: LookupAddress): boolean {
  const type = family === 4 ? 'ipv4' : 'ipv6';
  // One list for each family: a BlockList finds IPv4 addresses in IPv6 ranges.
  const list = new BlockList();
  for (const range of (family === 4 ? reserved4 : reserved6).split(' ')) {
    const [net = '', prefix] = range.split('/');
    list.addSubnet(net, Number(prefix), type);
  }
  return !list.check(address, type);
}

const isThisMachine = ({ address }: LookupAddress): boolean =>
  address.startsWith('127.') || address === '::1';

/** Whether a host is one of the three names of this machine. */
export const namesLoopback = (host: string): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/i.test(host);

/** An address of the web; undefined for any other. `from`: what it may be relative to. */
export function webAddress(text: string, from?: string): URL | undefined {
  const url = URL.canParse(text, from) ? new URL(text, from) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
  // With the dot at its end it is the same host, and no rule knows it.
  url.hostname = url.hostname.replace(/\.$/, '');
  return url;
}

/** The act in one line, as rules see it. */
export const subjectOf = ({ href }: URL): string => `fetch ${href}`;

/**
 * The answer to a request and where it came from, redirects followed and each looked at like the first
 * address. Throws EFFECT_DENIED for what may not be reached, UNREACHABLE, and what node:http throws.
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

/**
 * Of the first address rules were asked before; a redirect is not asked about, so a rule that would ask
 * refuses it.
 */
function refuseByRule(url: URL, rules: readonly Rule[]): void {
  const act = { tools: ['fetch_url'], subject: subjectOf(url), host: url.hostname };
  const against = rules.find(({ pattern, decision }) => decision !== 'allow' && fits(pattern, act));
  if (!against) return;
  const wayOut = against.decision === 'ask' ? 'Call fetch_url with it: then a person is asked.' : '';
  const message = `url: it leads to ${url.href}, which a rule stands against (${against.setting}).`;
  throw new ToolcribError('EFFECT_DENIED', message, wayOut);
}

function redirectOf({ statusCode = 0, headers: { location } }: IncomingMessage, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined;
  const url = webAddress(location, from.href);
  if (!url)
    throw new ToolcribError(
      'EFFECT_DENIED',
      `url: it redirects to ${location.slice(0, 200)}: no web address.`,
    );
  // Whoever redirects does not log in for us.
  url.username = '';
  url.password = '';
  return url;
}

/**
 * Asks one address. What was looked at is what is connected to, so that a name cannot change its mind in
 * between.
 */
function send(
  { url, method, loopback }: FetchRequest,
  { rules, signal, resolve }: Gate,
): Promise<IncomingMessage> {
  const { hostname } = url;
  const isNamed = rules.some(
    (rule) => rule.decision === 'allow' && namesHost(rule.pattern, 'fetch_url', hostname),
  );
  const open = (addresses: readonly LookupAddress[]): LookupAddress[] => {
    const isOpen = (one: LookupAddress) => isNamed || isPublic(one) || (loopback && isThisMachine(one));
    const found = addresses.filter(isOpen);
    if (found.length === 0) throw notOpen(hostname, addresses[0]);
    return found;
  };
  // Node asks for the addresses of names alone.
  const address = hostname.replaceAll(/[[\]]/g, '');
  if (isIP(address) > 0) open([{ address, family: isIP(address) }]);
  // With autoSelectFamily it wants all of them.
  const lookup = callbackify(async (host: string, _options: object) => open(await resolve(host)));
  const headers = {
    accept: 'text/markdown, text/html;q=0.9, application/json;q=0.9, text/*;q=0.8, */*;q=0.5',
    'accept-encoding': 'gzip',
    'user-agent': `toolcrib/${version}`,
  };
  // A dev server makes its own certificate, and nobody stands between this machine and itself.
  const tls = { rejectUnauthorized: !loopback };
  const connection = { lookup, autoSelectFamily: true, agent: false as const };
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((answer, reject) => {
    request(url, { method, headers, signal, ...connection, ...tls }, answer)
      .on('error', reject)
      // An answer that switches to another protocol is no response, and no error.
      .on('close', () => reject(new Error('the connection was closed')))
      .end();
  });
}

function notOpen(host: string, refused: LookupAddress | undefined): ToolcribError {
  if (!refused) return new ToolcribError('UNREACHABLE', `url: ${host} has no address.`);
  const { address } = refused;
  const is = host.includes(address) ? 'is' : `is ${address},`;
  return new ToolcribError(
    'EFFECT_DENIED',
    `url: ${host} ${is} a private or reserved address.`,
    'A server of this machine is reached as localhost, 127.0.0.1 or [::1], not by a redirect; ' +
      `anything else takes a rule of the operator: --rule "fetch_url(${host})=allow".`,
  );
}

/** What came of a body: all of it, its first mostBytes, or what came before it was `broken`. */
interface Body {
  readonly body: Buffer;
  readonly isCut: boolean;
  readonly broken?: unknown;
}

/** Reads a body, decompressed. */
export async function readBody(response: IncomingMessage): Promise<Body> {
  const isZipped = response.headers['content-encoding']?.toLowerCase() === 'gzip';
  // What went wrong is thrown where it is read.
  const stream = isZipped ? pipeline(response, createGunzip(), () => {}) : response;
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
