import { discover } from '../../src/machine/programs/discovery.ts';
import type { Host } from '../../src/machine/host.ts';
import type { Installation, ProgramFacts, SearchPath } from '../../src/machine/programs/installation.ts';

/** A program of which only the name matters. */
export const program = (id: string, more: Partial<ProgramFacts> = {}): ProgramFacts => ({
  id,
  title: id,
  category: 'other',
  site: 'https://example.org',
  called: [id],
  install: {},
  ...more,
});

/** A search path of just these folders. */
export const pathOf = (...folders: string[]): SearchPath => ({
  folders: folders.map((folder) => ({ folder, source: 'PATH' })),
  skipped: [],
  stamp: '',
});

/** Its installation, or why it is missing. */
export async function find(
  facts: ProgramFacts,
  host: Host,
  path: SearchPath,
): Promise<Installation | string | undefined> {
  const { installed, missing } = await discover([facts], host, path);
  return installed.get(facts.id) ?? missing.get(facts.id)?.why;
}
