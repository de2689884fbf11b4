import { join } from 'node:path';
import type { Host } from '../host.ts';
import type { ProgramFacts } from './installation.ts';

/**
 * Finds the programs that folders show evidence of, with the evidence: `package.json`. Lists each folder
 * once.
 */
export async function evidenceIn(
  folders: readonly string[],
  programs: readonly ProgramFacts[],
  host: Host,
): Promise<Map<string, string>> {
  const lists = await Promise.all(
    folders.map(async (folder) => (await host.list(folder)).map((name) => ({ folder, name }))),
  );
  const entries = lists.flat();
  const texts = new Map<string, Promise<string | undefined>>();
  const textOf = (path: string) => {
    const text = texts.get(path) ?? host.head(path, signBytes);
    texts.set(path, text);
    return text;
  };
  const used = new Map<string, string>();
  const fileWith = async (
    sign: NonNullable<ProgramFacts['project']>[number],
  ): Promise<string | undefined> => {
    const { file, has } = typeof sign === 'string' ? { file: sign } : sign;
    const pattern = namePattern(file);
    for (const { folder, name } of entries.filter((entry) => pattern.test(entry.name)))
      if (has === undefined || new RegExp(has, 'm').test((await textOf(join(folder, name))) ?? ''))
        return name;
    return undefined;
  };
  await Promise.all(
    programs.map(async ({ id, project = [] }) => {
      for (const sign of project) {
        const name = await fileWith(sign);
        if (name === undefined) continue;
        used.set(id, name);
        return;
      }
    }),
  );
  return used;
}

/** Bytes of a file that are searched: in package.json and lock files, the evidence is near the beginning. */
const signBytes = 64 * 1024;

/** Converts a file name with `*` for any characters to a pattern. */
export const namePattern = (name: string): RegExp =>
  new RegExp(`^${name.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);
