import { toolName } from '../../src/core/discoverer.ts';
import type { Params } from '../../src/core/parameter.ts';
import { printable, write, type Line } from '../../src/core/command-line.ts';
import type { Program, ProgramAction, Values } from '../../src/core/program.ts';
import { discoverers } from '../../src/discoverers/index.ts';
import { schemaOf } from '../../src/machine/actions/describe.ts';

const files = await Promise.all(
  Object.entries(discoverers).map(async ([file, load]) =>
    [(await load()).default as Program | readonly Program[]].flat().map((of) => ({ file, of })),
  ),
);

/** Every program, with the file it stands in. */
export const allPrograms = files.flat();

/** The program of that id. */
export function programOf(id: string): Program {
  const found = allPrograms.find(({ of }) => of.id === id);
  if (!found) throw new Error(`there is no program ${id}`);
  return found.of;
}

/** The action of a program. */
export function actionOf(of: Program, key: string): ProgramAction {
  const action = of.actions[key];
  if (!action) throw new Error(`${of.id} has no action ${key}`);
  return action;
}

export interface NamedAction {
  readonly tool: string;
  readonly of: Program;
  readonly key: string;
  readonly action: ProgramAction;
  readonly params: Params;
}

/** Every action of every program. */
export const allActions: readonly NamedAction[] = allPrograms.flatMap(({ of }) =>
  Object.entries(of.actions).map(([key, action]) => ({
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

/** The lines of an action's example, as a person would type them. */
export function exampleLines({
  of,
  action,
  params,
}: Pick<NamedAction, 'of' | 'action' | 'params'>): string[] {
  const values = exampleValues({ action, params });
  if (action.reads) return [`reads ${action.reads.join(', ')}`];
  if (action.databaseQuestion) return [`asks ${action.database}`];
  return linesOf(action).map(([key, line]) => {
    const name = action.ways ? key : (action.client?.[0] ?? of.called?.[0] ?? of.id);
    const { argv, env, input } = write(of, action, line, values);
    const set = Object.entries(env).map(([variable, value]) => `${variable}=${value}`);
    return [...set, name, printable(argv), input && '< …'].filter(Boolean).join(' ');
  });
}

/** The lines that an action can write, by what they are for. */
export const linesOf = (one: ProgramAction): readonly (readonly [string, Line<never>])[] => [
  ...(one.run ? [['run', one.run] as const] : []),
  ...(one.first ? [['first', one.first] as const] : []),
  ...(one.prepare ? [['prepare', one.prepare] as const] : []),
  ...Object.entries(one.after ?? {}),
  ...(one.takenBack ? Object.entries(one.takenBack) : []),
  ...(one.ways ?? []).map(({ by, run }) => [by, run] as const),
];
