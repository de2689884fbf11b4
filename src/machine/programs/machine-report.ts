import type { Category, Platform } from '../../core/discoverer.ts';
import type { Discovery, ProgramFacts, Version } from './installation.ts';

/** What is known of one program, as `toolcrib list`, `toolcrib doctor` and the tool `list_programs` show it. */
export interface ProgramReport {
  readonly id: string;
  readonly title: string;
  readonly category: Category;
  readonly installed: boolean;
  readonly version?: string;
  /** Why there is no version. */
  readonly note?: string;
  /** Where the program itself is; it may be started through another one. */
  readonly path?: string;
  /** Where the path comes from: PATH, the login shell, a package manager. */
  readonly source?: string;
  /** Candidates that lost. Left out when there are none. */
  readonly others?: readonly { readonly path: string; readonly why: string }[];
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
  return byTitle.map(({ id, title, category, homepage, install }) => {
    const found = discovery.installed.get(id);
    if (!found) {
      const why = discovery.missing.get(id)?.why ?? 'was not looked for';
      return { id, title, category, installed: false, why, install: install[platform] ?? `see ${homepage}` };
    }
    const { version, note } = versions.get(id) ?? {};
    return {
      id,
      title,
      category,
      installed: true,
      ...(version !== undefined && { version }),
      ...(note !== undefined && { note }),
      path: found.leading.at(-1) ?? found.program,
      source: found.source,
      ...(found.others.length > 0 && { others: found.others }),
    };
  });
}
