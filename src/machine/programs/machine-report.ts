import type { Platform } from '../../core/discoverer.ts';
import type { Discovery, Installation, ProgramFacts, Version } from './installation.ts';

/** The facts about a program that `toolcrib list`, `toolcrib doctor` and the tool `list_programs` show. */
export interface ProgramReport
  extends
    Pick<ProgramFacts, 'id' | 'title' | 'category'>,
    Omit<Version, 'broken'>,
    Partial<Pick<Installation, 'source' | 'others'>> {
  readonly installed: boolean;
  /** The path of the program itself, which may be started through another one. */
  readonly path?: string;
  /** The reason why it was not found. */
  readonly why?: string;
  /** Instructions to install it on this platform. */
  readonly install?: string;
}

/** Makes one report for each program, sorted by title. */
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
