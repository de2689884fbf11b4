import { readFile } from 'node:fs/promises';

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

interface Protected {
  readonly sslmode: Protection;
  readonly sslrootcert?: string;
}

/**
 * Connects as PostgreSQL defines the kinds of protection: with `require` the certificate is looked at only where
 * authorities are named; with `prefer`, a server that cannot encrypt is asked a second time without.
 */
export async function connectProtected<C>(
  { sslmode, sslrootcert }: Protected,
  connect: (encryption?: Encryption) => Promise<C>,
): Promise<C> {
  if (sslmode === 'disable') return connect();
  // `system` stands for the authorities that Node trusts by itself.
  const named = sslrootcert !== undefined && sslrootcert !== 'system';
  try {
    return await connect({
      rejectUnauthorized: sslmode.startsWith('verify') || (sslmode === 'require' && named),
      ...(named && { ca: await readFile(sslrootcert, 'utf8') }),
      ...(sslmode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    });
  } catch (error) {
    // As the drivers for PostgreSQL and MySQL say it.
    const cannot = /does not support (?:SSL|secure)/.test((error as Error).message);
    if (sslmode !== 'prefer' || !cannot) throw error;
    return connect();
  }
}
