import { stat } from 'node:fs/promises';
import { textOf } from './option-file.ts';

/** What a line of a password file is about. */
export interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * The password that a file like ~/.pgpass has for a login; undefined when it has none, or when others than its owner
 * may read it, as libpq decides; on Windows, where `mustBePrivate` is false, permissions do not say.
 */
export async function passwordFrom(
  path: string,
  login: Login,
  mustBePrivate: boolean,
): Promise<string | undefined> {
  const facts = await stat(path).catch(() => undefined);
  if (!facts?.isFile() || (mustBePrivate && (facts.mode & 0o077) !== 0)) return undefined;
  return passwordIn((await textOf(path)) ?? '', login);
}

/** The password of the first line that fits: `host:port:database:user:password`, `*` for any, `\` before `:` and `\`. */
export function passwordIn(text: string, { host, port, database, user }: Login): string | undefined {
  const wanted = [host, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = (line.match(/(?:[^:\\]|\\.)*(?::|$)/gs) ?? []).map((field) =>
      field.replace(/:$/, '').replaceAll(/\\(.)/gs, '$1'),
    );
    const password = fields[4];
    const fits = wanted.every((value, at) => fields[at] === '*' || fields[at] === value);
    if (fits && password) return password;
  }
  return undefined;
}
