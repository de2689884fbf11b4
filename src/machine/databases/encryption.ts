import { readFile } from 'node:fs/promises';

/**
 * How much a connection is protected, from less to more. `prefer`: encrypted where the server can; `verify-ca`: by a
 * certificate of an authority that is trusted; `verify-full`: and made out to this host.
 */
export type Protection = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** A kind by its name of PostgreSQL (`verify-full`) or MySQL (`VERIFY_IDENTITY`). An unknown one is the strongest. */
export function protectionOf(name: string): Protection {
  if (/^disabled?$/i.test(name)) return 'disable';
  if (/^(?:allow|prefer|preferred)$/i.test(name)) return 'prefer';
  if (/^required?$/i.test(name)) return 'require';
  return /^verify[-_]ca$/i.test(name) ? 'verify-ca' : 'verify-full';
}

/** What node:tls is told. Without the last one the certificate has to be made out to the host. */
export type Encryption = { rejectUnauthorized: boolean; ca?: string; checkServerIdentity?: () => undefined };

/**
 * Connects as PostgreSQL defines the kinds of protection: with `require` the certificate is looked at only where
 * authorities are named; with `prefer`, a server that cannot encrypt is asked a second time without.
 */
export async function connectProtected<C>(
  { sslmode, sslrootcert }: { readonly sslmode: Protection; readonly sslrootcert?: string },
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
