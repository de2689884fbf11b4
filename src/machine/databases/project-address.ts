import { join } from 'node:path';
import { readPlain } from '../../own-files/own-files.ts';

/** The address of a database that a project names. */
export interface ProjectAddress {
  readonly address: string;
  /** Where it stands, for people: `/w/shop/.env`. */
  readonly from: string;
}

/** A file of variables is not larger. */
const mostBytes = 64 * 1024;

/** The first address of that scheme in the `.env` of a folder: of any variable, DATABASE_URL before others. */
export function projectAddress(scheme: RegExp, folders: readonly string[]): ProjectAddress | undefined {
  for (const folder of folders) {
    const from = join(folder, '.env');
    const text = readPlain(from, ({ size }) => size <= mostBytes)?.toString() ?? '';
    const said = [...text.matchAll(/^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*(.*?)[ \t]*\r?$/gm)]
      .map(([, name = '', value = '']) => ({ name, value: value.replace(/^(["'])(.*)\1$/, '$2') }))
      .filter(({ value }) => scheme.test(value));
    const found = said.find(({ name }) => name === 'DATABASE_URL') ?? said[0];
    if (found) return { address: found.value, from };
  }
  return undefined;
}

/** Whether a host is this machine: by the loopback, or a socket. */
export const isLoopback = (host: string): boolean =>
  host.startsWith('/') || /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);
