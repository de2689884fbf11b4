import { createHash } from 'node:crypto';
import type { ServerConfig } from '../config/server-config.ts';
import { isObject } from '../text/json.ts';

/** Whom a rule was made for: how the server is reached, without what is secret (environment, headers). 16 digits. */
export const identityOf = (config: ServerConfig): string =>
  fingerprint(
    config.kind === 'http'
      ? { kind: config.kind, url: config.url }
      : {
          kind: config.kind,
          command: config.command,
          args: config.args,
          cwd: config.cwd ?? null,
        },
  );

/** 16 digits of any JSON, whatever the order of its keys. */
export const fingerprint = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, sortedKeys) ?? '')
    .digest('hex')
    .slice(0, 16);

/** Servers list the same keys in any order. */
const sortedKeys = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
