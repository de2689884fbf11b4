import type { Budgets, Config, Settings } from './settings.ts';

/** Settings that can only be stricter than the operator's: the file of a project, or one folder in the operator's. */
export interface ProjectConfig extends Config {
  /** Where they are written, for people: `/w/app/.toolcrib.json`. */
  readonly file: string;
}

/**
 * The settings in a project: what is stricter there is taken, everything else is as the operator has it. `roots` are
 * not touched; they are narrowed where paths are known. Pure.
 */
export function narrow(settings: Settings, project: ProjectConfig): Settings {
  const toolsets = both(settings.toolsets, project.toolsets);
  const narrowed = {
    readOnly: project.readOnly === true && !settings.readOnly,
    toolsets: toolsets !== undefined && toolsets.length < (settings.toolsets?.length ?? Infinity),
  };
  const origins = Object.entries(narrowed).flatMap(([name, isStricter]) =>
    isStricter ? [[name, `${name} of ${project.file}`]] : [],
  );
  return {
    ...settings,
    origins: { ...settings.origins, ...Object.fromEntries(origins) },
    readOnly: settings.readOnly || narrowed.readOnly,
    toolsets,
    rules: [...settings.rules, ...(project.rules ?? []).filter(({ decision }) => decision !== 'allow')],
    scripts: project.scripts === false ? false : settings.scripts,
    budgets: smaller(settings.budgets, project.budgets),
  };
}

const both = (
  some: readonly string[] | undefined,
  others: readonly string[] | undefined,
): readonly string[] | undefined =>
  some === undefined ? others : others === undefined ? some : some.filter((name) => others.includes(name));

function smaller(budgets: Budgets, wanted: Partial<Budgets> = {}): Budgets {
  const less = Object.entries(wanted).filter(([name, value]) => value < budgets[name as keyof Budgets]);
  return { ...budgets, ...Object.fromEntries(less) };
}
