import type { ToolDefinition } from '../../core/tool-definition.ts';
import type { Catalogue } from '../../machine/catalogue.ts';
import type { CheckKind } from './check-report.ts';
import type { ProjectTask, ProjectView, RolePlayer } from './project-view.ts';

/** The names that projects give the tasks that do it, the usual one first. */
const taskNames: Readonly<Record<CheckKind, readonly string[]>> = {
  test: ['test', 'tests', 'unit', 'test:unit'],
  lint: ['lint'],
  types: ['typecheck', 'type-check', 'types', 'check-types', 'check:types', 'tsc'],
  build: ['build', 'compile'],
  format: ['format:check', 'fmt:check', 'check:format', 'format', 'fmt'],
};

/**
 * The programs by which a project does something: those that its own script names, else those that it shows evidence
 * of, else the script itself, else those that it shows evidence of and that are not here.
 */
export async function chosenFor(
  kind: CheckKind,
  place: ProjectView,
  tasks: readonly ProjectTask[],
): Promise<{
  readonly players: readonly RolePlayer[];
  readonly task?: ProjectTask;
  readonly areAbsent?: boolean;
}> {
  const players = await place.players(kind);
  const task = taskNames[kind].flatMap((name) => tasks.find((one) => isTask(one, name)) ?? [])[0];
  const named = players.filter(
    ({ action }) => task?.command && names(task.command, action, place.context.session.environment.catalogue),
  );
  if (named.length > 0) return { players: named };
  if (players.length > 0 && !task?.command) return { players };
  if (task) return { players, task };
  return { players: await place.absent(kind), areAbsent: true };
}

/** npm's own answer where a project has no tests is none. */
const isTask = ({ name, command = '' }: ProjectTask, wanted: string): boolean =>
  name === wanted && !command.includes('no test specified');

/** Whether a command starts a program, for what the action does where the program is for many things: `go test`. */
function names(command: string, { program, begins, role }: ToolDefinition, catalogue: Catalogue): boolean {
  const { called = [program], category } = catalogue.programs.find(({ id }) => id === program) ?? {};
  const isMany = category === 'runtime' || category === 'package-manager';
  const isAct = begins !== undefined && (!begins.startsWith('-') || begins === `--${role}`);
  return command.split(/&&|\|\|?|;/).some((part) => {
    const words = part.trim().split(/\s+/);
    const starts = called.some((name) => ` ${words.join(' ')} `.includes(` ${name} `));
    return starts && (!isMany || !isAct || words.includes(begins));
  });
}
