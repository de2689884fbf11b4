import { createHash } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { ServerConfig } from '../config/server-config.ts';
import { isObject } from '../text/json.ts';
import type { Annotations } from './tool.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Whom a rule was made for: how the server is reached, without what is secret (environment, headers). 16 digits. */
export const identityOf = (config: ServerConfig, env: Environment): string =>
  fingerprint(
    config.kind === 'http'
      ? { kind: config.kind, url: config.url }
      : {
          kind: config.kind,
          command: resolvedCommand(config.command, { ...env, ...config.env }, config.cwd ?? process.cwd()),
          args: config.args,
          cwd: config.cwd ?? null,
        },
  );

/** What a tool said of itself when a rule was made for it. 16 digits. */
export const definitionOf = (definition: {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly annotations: Annotations;
}): string => fingerprint(definition);

/** 16 digits of any JSON, whatever the order of its keys. */
export const fingerprint = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, sortedKeys) ?? '')
    .digest('hex')
    .slice(0, 16);

/** Servers list the same keys in any order. */
const sortedKeys = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

/** The program a bare name stands for; the name itself when there is none. */
function resolvedCommand(command: string, env: Environment, cwd: string): string {
  if (/[/\\]/.test(command)) return resolve(cwd, command);
  const endings = process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD').split(';')] : [''];
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = folders.flatMap((folder) => endings.map((ending) => join(folder, command + ending)));
  return candidates.find(isProgram) ?? command;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not ours to run: the next folder may have it.
    return false;
  }
}
