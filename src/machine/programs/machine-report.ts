import type { Platform } from '../../core/discoverer.ts';
import type { Discovery, Installation, ProgramFacts, Version } from './installation.ts';

/** What is known of one program, as `toolcrib list`, `toolcrib doctor` and the tool `list_programs` show it. */
export interface ProgramReport
  extends
    Pick<ProgramFacts, 'id' | 'title' | 'category'>,
    Omit<Version, 'broken'>,
    Partial<Pick<Installation, 'source' | 'others'>> {
  readonly installed: boolean;
  /** Where the program itself is; it may be started through another one. */
  readonly path?: string;
  /** Why it was not found. */
  readonly why?: string;
  /** How to get it on this platform. */
  readonly install?: string;
}

/** One row a program, by title. */
export function reportOf(
  facts: readonly ProgramFacts[],
  discovery: Discovery,
  versions: ReadonlyMap<string, Version>,
  platform: Platform,
): ProgramReport[] {
  const byTitle = facts.toSorted((a, b) => a.title.localeCompare(b.title, 'en'));
  return byTitle.map(({ id, title, category, site, install }) => {
    const found = discovery.installed.get(id);
    if (!found) {
      const why = discovery.missing.get(id)?.why ?? 'was not looked for';
      return { id, title, category, installed: false, why, install: install[platform] ?? `see ${site}` };
    }
    const { broken: _broken, ...version } = versions.get(id) ?? {};
    return {
      id,
      title,
      category,
      installed: true,
      ...version,
      path: found.leading.at(-1) ?? found.program,
      source: found.source,
      ...(found.others.length > 0 && { others: found.others }),
    };
  });
}
