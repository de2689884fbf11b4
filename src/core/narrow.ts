import { decisions, type Decision } from './policy.ts';
import type { Budgets, Config, Settings } from './settings.ts';

/** What the file of a project says, which somebody else may have written. */
export interface ProjectConfig extends Config {
  /** Its absolute path. */
  readonly file: string;
  /** How it is named where it has decided something; its path when left out. */
  readonly origin?: string;
}

/**
 * The settings in a project: what is stricter in its file is taken, everything else is as the operator has it. `roots` are
 * not touched; they are narrowed where paths are known. Pure.
 */
export function narrow(settings: Settings, project: ProjectConfig): Settings {
  const { origin = project.file } = project;
  const origins: Record<string, string> = { ...settings.origins };
  const effects: Record<string, Decision> = { ...settings.effects };
  for (const [effect, decision] of Object.entries(project.effects ?? {})) {
    if (!isStricter(decision, effects[effect])) continue;
    effects[effect] = decision;
    origins[`effects.${effect}`] = origin;
  }
  if (project.readOnly && !settings.readOnly) origins['readOnly'] = origin;
  const toolsets = both(settings.toolsets, project.toolsets);
  if (toolsets && toolsets.length < (settings.toolsets?.length ?? Infinity)) origins['toolsets'] = origin;
  const refused = Object.entries(project.whenUnasked ?? {}).filter(([, answer]) => answer === 'deny');
  return {
    ...settings,
    origins,
    effects,
    readOnly: settings.readOnly || project.readOnly === true,
    toolsets,
    rules: [...settings.rules, ...(project.rules ?? []).filter(({ decision }) => decision !== 'allow')],
    whenUnasked: { ...settings.whenUnasked, ...Object.fromEntries(refused) },
    scripts: project.scripts === false ? false : settings.scripts,
    budgets: smaller(settings.budgets, project.budgets),
  };
}

/**
 * What in the file of a project changes nothing, because only the operator could say so: one line each, with what is in
 * force instead. Pure.
 */
export function withoutEffect(settings: Settings, project: ProjectConfig): string[] {
  const opened = Object.entries(project.effects ?? {}).filter(
    ([effect, decision]) =>
      decision === 'allow' || isStricter(settings.effects[effect as keyof Settings['effects']], decision),
  );
  const rules = (project.rules ?? []).filter(({ decision }) => decision === 'allow');
  const answers = Object.entries(project.whenUnasked ?? {}).filter(([, answer]) => answer === 'allow');
  const budgets = Object.entries(project.budgets ?? {}).filter(
    ([name, value]) => value > settings.budgets[name as keyof Budgets],
  );
  const toolsets = (project.toolsets ?? []).filter((name) => settings.toolsets?.includes(name) === false);
  return [
    ...(project.readOnly === false ? ['readOnly: false'] : []),
    ...opened.map(([effect, decision]) => `effects.${effect}: "${decision}"`),
    ...rules.map(({ pattern }) => `rules "${pattern}": "allow"`),
    ...answers.map(([reason]) => `whenUnasked.${reason}: "allow"`),
    ...(project.checkpoints === undefined ? [] : [`checkpoints: ${project.checkpoints}`]),
    ...(project.scripts ? ['scripts: true'] : []),
    ...budgets.map(
      ([name, value]) => `budgets.${name}: ${value} (${settings.budgets[name as keyof Budgets]})`,
    ),
    ...toolsets.map((name) => `toolsets: "${name}"`),
  ];
}

/** Nothing said is not the same as "allow": what is usual may be a question. So "allow" is never stricter. */
const isStricter = (decision: Decision | undefined, than: Decision | undefined): boolean =>
  decision !== undefined &&
  decision !== 'allow' &&
  decisions.indexOf(decision) > decisions.indexOf(than ?? 'allow');

const both = (
  some: readonly string[] | undefined,
  others: readonly string[] | undefined,
): readonly string[] | undefined =>
  some === undefined ? others : others === undefined ? some : some.filter((name) => others.includes(name));

function smaller(budgets: Budgets, wanted: Partial<Budgets> = {}): Budgets {
  const less = Object.entries(wanted).filter(([name, value]) => value < budgets[name as keyof Budgets]);
  return { ...budgets, ...Object.fromEntries(less) };
}
