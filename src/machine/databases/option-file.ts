import { readFile } from 'node:fs/promises';

/** The sections of a file like `pg_service.conf` and `.my.cnf`, each with its settings; later ones win. */
export type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Reads a file of sections and settings; empty when there is none. Lines that begin with `!` (MySQL: read further
 * files) are passed over, and so is what stands before the first section.
 */
export async function readOptions(path: string): Promise<Sections> {
  return parseOptions((await textOf(path)) ?? '');
}

/** The text of a file; undefined when there is none that can be read. */
export const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(() => undefined);

/** As readOptions() reads it. Names are in lower case, with `-` where `_` may stand as well. */
export function parseOptions(text: string): Sections {
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
    if (/^[#;!]/.test(line)) continue;
    const title = /^\[([^\]]*)\]/.exec(line)?.[1];
    if (title !== undefined) {
      section = sections.get(title) ?? new Map<string, string>();
      sections.set(title, section);
      continue;
    }
    const [, name, value = ''] = /^([^=]+?)\s*(?:=\s*(.*))?$/.exec(line) ?? [];
    if (name !== undefined) section?.set(name.toLowerCase().replaceAll('_', '-'), value);
  }
  return sections;
}
