import type { Environment } from '../../src/machine/environment.ts';
import type { Session } from '../../src/machine/session.ts';

type Parts = Partial<Omit<Session, 'environment'>> & { readonly environment?: Partial<Environment> };

/** A session of which a test needs some parts only; a tool that uses another one fails. */
export const sessionOf = ({ environment = {}, ...parts }: Parts): Session =>
  ({ ...parts, environment }) as unknown as Session;
