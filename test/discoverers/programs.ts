import { toolName } from '../../src/core/discoverer.ts';
import {
  compileLine,
  printable,
  type CommandLine,
  type Line,
  type Values,
} from '../../src/core/command-line.ts';
import type { AnyAction, AnyProgram } from '../../src/core/database-program.ts';
import type { Params } from '../../src/core/parameter.ts';
import type { Program, ProgramAction, Steps } from '../../src/core/program.ts';
import { discoverers } from '../../src/discoverers/index.ts';
import { schemaOf } from '../../src/machine/actions/describe.ts';

const files = await Promise.all(
  Object.entries(discoverers).map(async ([file, load]) =>
    [(await load()).default as AnyProgram | readonly AnyProgram[]].flat().map((of) => ({ file, of })),
  ),
);

/** Every program, with the file it stands in. */
export const allPrograms = files.flat();

/** The program of that id. */
export function anyProgramOf(id: string): AnyProgram {
  const found = allPrograms.find(({ of }) => of.id === id);
  if (!found) throw new Error(`there is no program ${id}`);
  return found.of;
}

/** The program of that id, which is none of a database server. */
export function programOf(id: string): Program {
  const of = anyProgramOf(id);
  if ('engine' in of) throw new Error(`${id} is a program of a database`);
  return of;
}

/** The action of a program. */
export function actionOf(of: Program, key: string): ProgramAction;
export function actionOf(of: AnyProgram, key: string): AnyAction;
export function actionOf(of: AnyProgram, key: string): AnyAction {
  const action = of.actions[key];
  if (!action) throw new Error(`${of.id} has no action ${key}`);
  return action;
}

export interface NamedAction {
  readonly tool: string;
  readonly of: AnyProgram;
  readonly key: string;
  readonly action: AnyAction;
  readonly params: Params;
}

/** Every action of every program. */
export const allActions: readonly NamedAction[] = allPrograms.flatMap(({ of }) =>
  Object.entries<AnyAction>(of.actions).map(([key, action]) => ({
    tool: toolName(of, key),
    of,
    key,
    action,
    params: action.params,
  })),
);

/** What the values of an action's example become. */
export const exampleValues = ({ action, params }: Pick<NamedAction, 'action' | 'params'>): Values =>
  schemaOf(params).parse(action.given ?? {});

/** One line of an action for values, as a call makes it. */
export const written = (
  of: AnyProgram,
  { params, ...action }: AnyAction,
  line: Line<never>,
  values: Values,
): CommandLine =>
  compileLine(of, 'dashes' in action ? { params, dashes: false } : { params }, line).write(values);

/** Names of the file that an action reads in the place of running its program. */
export const readsOf = (action: AnyAction): readonly string[] | undefined =>
  'run' in action && 'reads' in action.run ? action.run.reads : undefined;

/** The same act by other programs. */
export const alternativesOf = (action: AnyAction) =>
  'run' in action && 'alternatives' in action.run ? action.run.alternatives : undefined;

export const stepsOf = (action: AnyAction): Steps<never> => ('steps' in action ? (action.steps ?? {}) : {});

/** The readers of an action, with the exit codes that are an answer. */
export const answersOf = (action: AnyAction): readonly Pick<ProgramAction, 'out' | 'ok'>[] =>
  alternativesOf(action) ?? [action];

/** The lines of an action's example, as a person would type them. */
export function exampleLines({
  of,
  action,
  params,
}: Pick<NamedAction, 'of' | 'action' | 'params'>): string[] {
  const values = exampleValues({ action, params });
  const reads = readsOf(action);
  if (reads) return [`reads ${reads.join(', ')}`];
  if ('databaseQuestion' in action) return [`asks ${'engine' in of ? of.engine : ''}`];
  const client = 'client' in action ? action.client[0] : undefined;
  return linesOf(action).map(([key, line]) => {
    const name = alternativesOf(action) ? key : (client ?? of.called?.[0] ?? of.id);
    const { argv, env, input } = written(of, action, line, values);
    const set = Object.entries(env).map(([variable, value]) => `${variable}=${value}`);
    return [...set, name, printable(argv), input && '< …'].filter(Boolean).join(' ');
  });
}

/** The lines that an action can write, by what they are for. */
export function linesOf(action: AnyAction): readonly (readonly [string, Line<never>])[] {
  const run = 'run' in action ? action.run : { alternatives: [] };
  const { preview, before, after, undo } = stepsOf(action);
  const steps = Object.entries({ preview, before }).flatMap(([name, step]) =>
    step ? [[name, step] as const] : [],
  );
  return [
    ...('reads' in run || 'alternatives' in run ? [] : [['run', run] as const]),
    ...steps.map(([name, step]) => [name, 'line' in step ? step.line : step] as const),
    ...Object.entries(after ?? {}),
    ...(undo ? Object.entries<Line<never>>({ changes: undo.changes, unkept: undo.unkept }) : []),
    ...(alternativesOf(action) ?? []).map(({ by, run: own }) => [by, own] as const),
  ];
}
