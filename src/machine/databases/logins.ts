import type { DatabaseEngine } from '../../core/discoverer.ts';
import { inSession, usualLimits, type OpenSession } from './database-session.ts';
import { schemesOf, targetName, targetOf, withoutSecrets, type KnownDatabases } from './target.ts';

/** The login of a connection that the operator has named. */
export interface Login {
  /** A profile of the settings, or DATABASE_URL. */
  readonly name: string;
  /** Without the password: `ada@db.example:5432/shop`. Undefined for an address that is none. */
  readonly database?: string;
  /** The rest of "this login …", for one that a read-only transaction does not bind. */
  readonly beyond?: string;
  /** The server could not be asked: why. */
  readonly failure?: string;
}

/** Milliseconds for each of them; a person waits. */
const mostMs = 3000;

/**
 * Connects to each database that the operator has named, and looks at what its login may do. Never rejects.
 */
export function loginsOf(known: KnownDatabases): Promise<Login[]> {
  const address = known.environment.host.env['DATABASE_URL'] ?? '';
  const engines = Object.keys(schemesOf) as DatabaseEngine[];
  const inEnvironment = engines.filter((engine) => schemesOf[engine].test(address));
  return Promise.all([
    ...Object.entries(known.settings.databases).map(([name, { engine }]) =>
      loginOf(name, engine, name, known),
    ),
    ...inEnvironment.map((engine) => loginOf('DATABASE_URL', engine, undefined, known)),
  ]);
}

async function loginOf(
  name: string,
  engine: DatabaseEngine,
  profile: string | undefined,
  known: KnownDatabases,
): Promise<Login> {
  try {
    const target = targetOf(engine, { profile }, known);
    const database = withoutSecrets(targetName(target), target.secrets);
    const look = async (openSession: OpenSession) =>
      inSession(
        { openSession, target, limits: usualLimits },
        AbortSignal.timeout(mostMs),
        async (_, beyond) => beyond,
      );
    try {
      const { openSession } = await (engine === 'mysql'
        ? import('./mysql-session.ts')
        : import('./postgres-session.ts'));
      const beyond = await look(openSession);
      return { name, database, ...(beyond !== undefined && { beyond }) };
    } catch (error) {
      const { message, code } = error as { message?: string; code?: unknown };
      return { name, database, failure: withoutSecrets(message || String(code), target.secrets) };
    }
  } catch (error) {
    return { name, failure: error instanceof Error ? error.message : String(error) };
  }
}
