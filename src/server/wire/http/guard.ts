import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import type { Tokens } from './tokens.ts';

/** The address of a server, and the clients that it lets in. */
export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly tokens: Tokens;
  /** Its names beside localhost. */
  readonly names: readonly string[];
}

/** Lets a request in: the number of its token, by which a client is known, or the refusal. */
export type Guard = (incoming: IncomingMessage) => number | Response;

/** True for an address that is reached from this machine alone. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * Makes the guard that lets requests in by their token. A page in a browser
 * that reaches us under a name of its own (DNS rebinding) says so in Host and Origin.
 */
export function createGuard({ tokens, host, names }: Listening): Guard {
  const known = [...localhostAllowedHostnames(), ...names];
  const isKnown = (header: string | undefined): boolean => {
    const checked = validateHostHeader(header, known);
    if (checked.ok) return true;
    // Nobody can rebind an address that stands for itself.
    const { hostname = '' } = checked;
    return !isLoopback(host) && isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
  };
  return ({ headers }) => {
    if (!isKnown(headers.host))
      return refusal(403, `Host: ${headers.host} is none of ours; see --allow-host.`);
    if (!validateOriginHeader(headers.origin, known).ok)
      return refusal(403, `Origin: ${headers.origin} may not ask us; see --allow-host.`);
    const token = tokens.indexIn(headers.authorization);
    if (token !== undefined) return token;
    const isWrong = headers.authorization !== undefined;
    return refusal(
      401,
      `Authorization: Bearer and a token are required${isWrong ? '; this is none of ours' : ''}.`,
      {
        'www-authenticate': `Bearer realm="toolcrib"${isWrong ? ', error="invalid_token"' : ''}`,
      },
    );
  };
}

/** An answer that is an error of the protocol, for a request whose id is not known. */
export const refusal = (
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code = -32000,
): Response => Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
