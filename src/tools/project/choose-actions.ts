import type { ToolDefinition } from '../../core/tool-definition.ts';
import type { Catalogue } from '../../machine/catalogue.ts';
import type { CheckKind } from './check-report.ts';
import type { ProjectAction, ProjectTask, ProjectView } from './project-view.ts';

/** Names that projects give to the task for a check, the usual one first. */
const taskNames: Readonly<Record<CheckKind, readonly string[]>> = {
  test: ['test', 'tests', 'unit', 'test:unit'],
  lint: ['lint'],
  types: ['typecheck', 'type-check', 'types', 'check-types', 'check:types', 'tsc'],
  build: ['build', 'compile'],
  format: ['format:check', 'fmt:check', 'check:format', 'format', 'fmt'],
};

/** The actions that do a check, or the task of the project that does it. */
interface ChosenActions {
  readonly actions: readonly ProjectAction[];
  readonly task?: ProjectTask;
  /** None of the programs is on this machine. */
  readonly areMissing?: boolean;
}

/**
 * Chooses the programs that do a check of a project: those that its own script names; else those that it
 * shows evidence of; else the script itself; else programs that it shows evidence of and that are not on this
 * machine.
 */
export async function chooseActions(
  kind: CheckKind,
  view: ProjectView,
  tasks: readonly ProjectTask[],
): Promise<ChosenActions> {
  const { catalogue } = view.context.session.environment;
  const actions = await view.actionsFor(kind);
  const task = taskFor(kind, tasks);
  const command = task?.command;
  if (command) {
    const named = actions.filter(({ action }) => startsProgram(command, action, catalogue));
    if (named.length > 0) return { actions: named };
  } else if (actions.length > 0) return { actions };
  if (task) return { actions, task };
  return { actions: await view.missingActionsFor(kind), areMissing: true };
}

/** The task whose name is the most usual one for a check. */
function taskFor(kind: CheckKind, tasks: readonly ProjectTask[]): ProjectTask | undefined {
  for (const wanted of taskNames[kind]) {
    // npm writes a script that fails with these words into a project that has no tests.
    const isTask = ({ name, command = '' }: ProjectTask) =>
      name === wanted && !command.includes('no test specified');
    const task = tasks.find(isTask);
    if (task) return task;
  }
  return undefined;
}

/**
 * Says whether a command starts the program of an action. Of programs that do many things, such as `go`, the
 * word for the action has to be there too: `go test`.
 */
function startsProgram(
  command: string,
  { program, begins, role }: ToolDefinition,
  catalogue: Catalogue,
): boolean {
  const { called = [program], category } = catalogue.programs.find(({ id }) => id === program) ?? {};
  const doesMany = category === 'runtime' || category === 'package-manager';
  const isSubcommand = begins !== undefined && (!begins.startsWith('-') || begins === `--${role}`);
  return command.split(/&&|\|\|?|;/).some((part) => {
    const words = part.trim().split(/\s+/);
    const isStarted = called.some((name) => ` ${words.join(' ')} `.includes(` ${name} `));
    return isStarted && (!doesMany || !isSubcommand || words.includes(begins));
  });
}
