import * as z from 'zod';
import { type Effect, type Values, words } from '../../core/grammar.ts';

// Tasks of a project, which whoever wrote the project has named.

/** Words in the name of a task that changes what others see. */
const publishing: ReadonlySet<string> = new Set(
  'deploy deployment publish published publishing release upload submit push promote ship'.split(' '),
);

/** The words of a name: `publishToMavenLocal`, `app:release-notes`. */
const wordsOf = (name: string): string[] =>
  name
    .split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/)
    .filter(Boolean)
    .map((word) => word.toLowerCase());

const isTask = (text: unknown): text is string => typeof text === 'string' && !text.startsWith('-');

/** The effects that a call has beside those of its action where one of these tasks publishes, by its name. */
export const ofTasks = (...tasks: readonly unknown[]): readonly Effect[] =>
  tasks.flat().some((task) => isTask(task) && wordsOf(task).some((word) => publishing.has(word)))
    ? ['network', 'publish']
    : [];

/** The same where only these tasks are known to publish nothing: everything else may. */
export const knownTasks =
  (known: RegExp) =>
  (...tasks: readonly unknown[]): readonly Effect[] =>
    tasks.flat().every((task) => !isTask(task) || known.test(task))
      ? ofTasks(...tasks)
      : ['network', 'publish'];

/** The same for targets of a build: what is installed replaces files outside of the project. */
export function ofTargets(...targets: readonly unknown[]): readonly Effect[] {
  const installs = targets.flat().some((target) => /^(?:un)?install(?:[-/]|$)/.test(String(target)));
  return [...ofTasks(...targets), ...(installs ? (['destroy'] as const) : [])];
}

/** The effects of a call that runs `task` with `args`, some of which may be tasks too. */
export const ofNamedTask = ({ task, args }: Values): readonly Effect[] => ofTasks(task, args);

/** Words behind a task, of this form only: no option that names a file, a folder or a program. */
export const taskWords = (form: RegExp, expected: string, says: string) =>
  words(says, z.string().max(2000).regex(form, `expected ${expected}; run takes any line`));
