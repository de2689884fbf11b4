import { readFile } from 'node:fs/promises';
import type { Target } from './target.ts';

/** What node:tls is told about the other side. */
export interface Encryption {
  rejectUnauthorized: boolean;
  ca?: string;
  cert?: string;
  key?: string;
  /** Left out: the certificate has to be made out to the host. */
  checkServerIdentity?: () => undefined;
}

/**
 * How a connection is encrypted, as PostgreSQL defines the kinds of protection: with `require` the certificate is looked
 * at only where authorities are named. Undefined: it is not.
 */
export async function encryptionOf(target: Target): Promise<Encryption | undefined> {
  const { protection, authorities, certificate, key } = target;
  if (protection === 'disable') return undefined;
  const read = (path: string | undefined) => (path === undefined ? undefined : readFile(path, 'utf8'));
  // `system` stands for the authorities that Node trusts by itself.
  const [ca, cert, privateKey] = await Promise.all([
    read(authorities === 'system' ? undefined : authorities),
    read(certificate),
    read(key),
  ]);
  const verifies = protection.startsWith('verify') || (protection === 'require' && ca !== undefined);
  return {
    rejectUnauthorized: verifies,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && privateKey !== undefined && { cert, key: privateKey }),
    ...(protection !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

/** Connects encrypted; with `prefer`, to a server that cannot encrypt, a second time without. */
export async function connectProtected<C>(
  target: Target,
  connect: (encryption: Encryption | undefined) => Promise<C>,
  cannotEncrypt: (error: unknown) => boolean,
): Promise<C> {
  const encryption = await encryptionOf(target);
  try {
    return await connect(encryption);
  } catch (error) {
    if (encryption === undefined || target.protection !== 'prefer' || !cannotEncrypt(error)) throw error;
    return connect(undefined);
  }
}
