import type { DatabaseEngine } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { DatabaseProfile } from '../../core/settings.ts';
import type { Host } from '../host.ts';
import { addressOf, isDatabase, schemesOf, type Protection, type Said } from './address.ts';
import { mysqlDefaults } from './mysql-defaults.ts';
import { postgresDefaults } from './postgres-defaults.ts';

/** Where to connect, and as whom. */
export interface Target extends Said {
  readonly engine: DatabaseEngine;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly protection: Protection;
  /** Where this was decided, for people: `profile shop`, `DATABASE_URL`, `PGHOST`. */
  readonly from: string;
  /** What must not be shown: the password, and an address that has it. */
  readonly secrets: readonly string[];
}

/** What is known of databases on this machine. */
export interface DatabaseServices {
  readonly host: Pick<Host, 'env' | 'home' | 'platform'>;
  /** By name, from the settings of the operator. */
  readonly profiles: Readonly<Record<string, DatabaseProfile>>;
  /** The absolute path of a program by its name. */
  which(name: string): Promise<string | undefined>;
}

/** What a call may say about where to connect; everything else is the operator's. */
export interface Wanted {
  readonly profile?: string | undefined;
  readonly database?: string | undefined;
}

/**
 * Where a call connects: the profile it names, else DATABASE_URL when it is of this engine, else what the variables and
 * files say that the engine's own programs read. Throws ARG_INVALID for a profile that is not there or is of another
 * engine, CONFIG_INVALID for an address that is none, also in DATABASE_URL.
 */
export async function targetOf(
  engine: DatabaseEngine,
  wanted: Wanted,
  services: DatabaseServices,
): Promise<Target> {
  const { said, from, address } = addressed(engine, wanted.profile, services);
  const defaults = engine === 'postgresql' ? postgresDefaults : mysqlDefaults;
  const { target, from: known } = await defaults(
    { ...said, ...(wanted.database !== undefined && { database: wanted.database }) },
    services.host,
  );
  const { password } = target;
  const secrets = [address, password, password && encodeURIComponent(password)];
  return {
    ...target,
    engine,
    from: from ?? known,
    secrets: secrets.filter((secret): secret is string => secret !== undefined && secret !== ''),
  };
}

interface Addressed {
  said: Said;
  from?: string;
  address?: string | undefined;
}

function addressed(
  engine: DatabaseEngine,
  profile: string | undefined,
  { profiles, host }: DatabaseServices,
): Addressed {
  if (profile !== undefined) return ofProfile(engine, profile, profiles, host.env);
  const address = host.env['DATABASE_URL'];
  if (address && !isDatabase(address)) {
    // It may be mistyped: what the defaults say is another database then than the one that was meant.
    throw new ToolcribError(
      'CONFIG_INVALID',
      'DATABASE_URL: is not the address of a database of a known kind.',
      'Expected postgresql://… or mysql://…; the operator has to change it, or name a profile.',
    );
  }
  const isOurs = address !== undefined && schemesOf[engine].test(address);
  return isOurs
    ? { said: addressOf(address, engine, 'DATABASE_URL'), from: 'DATABASE_URL', address }
    : { said: {} };
}

function ofProfile(
  engine: DatabaseEngine,
  name: string,
  profiles: DatabaseServices['profiles'],
  env: Host['env'],
): Addressed {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile?.engine !== engine) {
    const names = Object.keys(profiles).filter((known) => profiles[known]?.engine === engine);
    throw new ToolcribError(
      'ARG_INVALID',
      `profile: ${JSON.stringify(name)} is no ${engine} database of the settings.`,
      names.length > 0
        ? `There is ${names.join(', ')}.`
        : 'There is none; leave it out to use DATABASE_URL or what the programs of the server use.',
    );
  }
  const from = `profile ${name}`;
  const { url, urlFrom } = profile;
  const address = url ?? (urlFrom === undefined ? undefined : env[urlFrom]);
  if (address !== undefined) return { said: addressOf(address, engine, from), from, address };
  if (urlFrom === undefined) return { said: {}, from };
  throw new ToolcribError(
    'CONFIG_INVALID',
    `${from}: the variable ${urlFrom} is not in the environment of the server.`,
    'The operator has to set it, or to change the settings.',
  );
}
