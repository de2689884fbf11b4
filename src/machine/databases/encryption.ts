import { readFile } from 'node:fs/promises';
import type { Target } from './target.ts';

/**
 * How much a connection is protected, from less to more. `prefer`: encrypted where the server can; `verify-ca`: by a
 * certificate of an authority that is trusted; `verify-full`: and made out to this host.
 */
export type Protection = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** The kinds by the names of PostgreSQL (`verify-full`) and of MySQL (`VERIFY_IDENTITY`). */
const protections: readonly (readonly [RegExp, Protection])[] = [
  [/^disabled?$/i, 'disable'],
  [/^(?:allow|prefer|preferred)$/i, 'prefer'],
  [/^required?$/i, 'require'],
  [/^verify[-_]ca$/i, 'verify-ca'],
];

/** A kind by either name. One that is not known is taken for the strongest, never for less. */
export const protectionOf = (name: string): Protection =>
  protections.find(([names]) => names.test(name))?.[1] ?? 'verify-full';

/** What node:tls is told about the other side. */
export interface Encryption {
  rejectUnauthorized: boolean;
  ca?: string;
  /** Left out: the certificate has to be made out to the host. */
  checkServerIdentity?: () => undefined;
}

/**
 * How a connection is encrypted, as PostgreSQL defines the kinds of protection: with `require` the certificate is
 * looked at only where authorities are named. Undefined: it is not.
 */
async function encryptionOf(target: Target): Promise<Encryption | undefined> {
  const { protection, authorities } = target;
  if (protection === 'disable') return undefined;
  // `system` stands for the authorities that Node trusts by itself.
  const named = authorities !== undefined && authorities !== 'system';
  return {
    rejectUnauthorized: protection.startsWith('verify') || (protection === 'require' && named),
    ...(named && { ca: await readFile(authorities, 'utf8') }),
    ...(protection !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

/** Connects encrypted; with `prefer`, to a server that cannot encrypt, a second time without. */
export async function connectProtected<C>(
  target: Target,
  connect: (encryption: Encryption | undefined) => Promise<C>,
  cannotEncrypt: (error: { message?: string; code?: string }) => boolean,
): Promise<C> {
  const encryption = await encryptionOf(target);
  try {
    return await connect(encryption);
  } catch (error) {
    if (!encryption || target.protection !== 'prefer' || !cannotEncrypt(error as Error)) throw error;
    return connect(undefined);
  }
}
