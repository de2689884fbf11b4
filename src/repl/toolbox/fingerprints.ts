import { createHash } from 'node:crypto';
import type { ServerConfig } from '../config/server-config.ts';
import { isObject } from '../text/json.ts';

/** The shortest limit of the model wires (OpenAI: `^[a-zA-Z0-9_-]{1,64}$`). */
const mostCharacters = 64;

/**
 * `mcp__server__tool`, as a model sees it. It depends on nothing but the two names, so it is the same in every run:
 * what had to be changed or cut, and a server name that could be read two ways (`a__b`, `a_`), gets a hash of both.
 */
export function toolName(server: string, tool: string): string {
  const wanted = `mcp__${server}__${tool}`;
  const clean = wanted.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (clean === wanted && wanted.length <= mostCharacters && !/__|_$/.test(server)) return wanted;
  const suffix = fingerprint([server, tool]).slice(0, 8);
  return `${clean.slice(0, mostCharacters - suffix.length - 1)}_${suffix}`;
}

/** Whom a rule was made for: how the server is reached, without what is secret (environment, headers). */
export const identityOf = (config: ServerConfig): string =>
  fingerprint(
    config.kind === 'http'
      ? { url: config.url }
      : { command: config.command, args: config.args, cwd: config.cwd ?? null },
  );

/** 16 digits of any JSON, whatever the order of its keys: servers list the same keys in any. */
export const fingerprint = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, sortedKeys) ?? '')
    .digest('hex')
    .slice(0, 16);

const sortedKeys = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
