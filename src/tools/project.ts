import { basename } from 'node:path';
import * as z from 'zod';
import type { Category } from '../core/discoverer.ts';
import { textOf } from '../core/tool.ts';
import { projectAddress, schemesOf } from '../machine/databases/target.ts';
import { displayPath } from '../machine/paths/display-path.ts';
import { sanitize } from '../machine/sanitize.ts';
import { toOneLine } from './output/job-text.ts';
import { defineTool } from './define-tool.ts';
import { chooseActions } from './project/choose-actions.ts';
import { checkKinds } from './project/check-report.ts';
import { ProjectView, type ProjectTask } from './project/project-view.ts';

/** Limits of each list: the page is an overview, and other tools have the rest. */
const mostEntries = 16;
const mostTasks = 24;
const mostPrograms = 8;
const [longestCommand, mostCommands] = [60, 8];
const longestMore = 300;

const params = z.strictObject({
  cwd: z.string().min(1).optional().describe('Folder of one package: "packages/api"'),
});

/** Describes a project, and what can be done in it, in one page. */
export default defineTool({
  name: 'project',
  title: 'Describe the project',
  description:
    'What this project is: git state, packages, tasks, tests, databases, programs here. Call it first.',
  hint: 'what this project is: overview',
  listed: 'first',
  inEveryToolset: true,
  effects: ['read'],
  params,
  async run({ work: request }, context) {
    await context.session.environment.refresh();
    const view = await ProjectView.of(request, context);
    const { tasks, more } = await view.tasks();
    const parts = await Promise.all([
      describeFolder(view),
      describeVersionControl(view),
      describePackageManagers(view),
      describeChecks(view, tasks),
      [...describeTasks(tasks), ...more.map((text) => toOneLine(text, longestMore))],
      describeDatabases(view),
      describePrograms(view),
    ]);
    return { content: [{ type: 'text', text: sanitize(parts.flat().join('\n')) }] };
  },
});

async function describeFolder({ folder, context }: ProjectView): Promise<string[]> {
  const [entries, isTrusted] = await Promise.all([
    context.session.environment.host.list(folder),
    context.trusts(folder),
  ]);
  const shown = entries.filter((name) => name !== '.git').toSorted();
  const trust = isTrusted ? '' : ' (not trusted yet: running its code is asked about once)';
  return [
    `${basename(folder)}: ${displayPath(folder)}${trust}`,
    ...line(
      'entries',
      shown.map((name) => toOneLine(name, longestMore)),
      mostEntries,
    ),
  ];
}

/** Describes branch, running merge and number of changes; the changed files are another call. */
async function describeVersionControl(view: ProjectView): Promise<string[]> {
  const actions = await view.actionsFor('status');
  return Promise.all(
    actions.map(async ({ action }) => {
      const { name, program } = action;
      const result = await view.readWith(action);
      if (!result) return `${program}: ${name} looks, once the folder is trusted`;
      const [first = '', ...rest] = textOf(result).split('\n');
      return [`${program}: ${first}`, ...rest.filter((text) => text.startsWith('['))].join('\n');
    }),
  );
}

/** Names the package managers of the project; of several that read one file, those that do not refuse it. */
async function describePackageManagers(view: ProjectView): Promise<string[]> {
  const actions = await view.actionsFor('install');
  const { refused } = await view.planCalls(actions, () => [{}, undefined]);
  const usable = actions.filter(({ action }) => refused.every((refusal) => refusal.action !== action));
  const missing = await view.missingActionsFor('install');
  return line('packages', [
    ...usable.map(({ action, evidence }) => `${action.program} (${evidence})`),
    ...missing.map(({ action, evidence }) => `${action.program} (${evidence}, not here)`),
  ]);
}

/** Names the programs or scripts that `check` would choose for each kind of check. */
async function describeChecks(view: ProjectView, tasks: readonly ProjectTask[]): Promise<string[]> {
  const checks = await Promise.all(
    checkKinds.map(async (kind) => {
      const chosen = await chooseActions(kind, view, tasks);
      const missing = chosen.areMissing ? ' (not here)' : '';
      const names = chosen.task
        ? [`its script ${toOneLine(chosen.task.name, longestMore)}`]
        : [...new Set(chosen.actions.map(({ action }) => `${action.program}${missing}`))];
      return names.length > 0 ? [`${kind} by ${names.join(' and ')}`] : [];
    }),
  );
  return line('check', checks.flat());
}

function describeTasks(tasks: readonly ProjectTask[]): string[] {
  const names = new Set(tasks.map(({ name }) => name));
  // npm runs `pretest` and `posttest` with `test`: nobody calls them by themselves.
  const isHook = (name: string) => /^(?:pre|post)/.test(name) && names.has(name.replace(/^(?:pre|post)/, ''));
  const own = tasks.filter(({ name }) => !isHook(name));
  const shown = own.map(({ name, command = '' }, at) => {
    const start = at < mostCommands ? toOneLine(command, longestCommand) : '';
    return [toOneLine(name, longestMore), ...(start === '' ? [] : [start])].join(' = ');
  });
  return line('tasks', shown, mostTasks);
}

const mostDatabases = 10;

async function describeDatabases(view: ProjectView): Promise<string[]> {
  const { roots } = view.context.workspace;
  const files = (await view.databaseFiles('query')).map(({ evidence }) => evidence);
  const addresses = Object.entries(schemesOf).flatMap(([engine, scheme]) => {
    const address = projectAddress(scheme, roots);
    return address ? [`${engine} (${basename(address.from)})`] : [];
  });
  return line('databases', [...addresses, ...new Set(files)], mostDatabases);
}

const firstCategories: readonly Category[] = ['vcs', 'container', 'database', 'runtime', 'package-manager'];
const rank = (category: Category): number =>
  firstCategories.includes(category) ? firstCategories.indexOf(category) : firstCategories.length;

/** Names the programs that can be used, first those that the project uses. */
async function describePrograms({ context: { workspace, session } }: ProjectView): Promise<string[]> {
  const { tools: registry, environment } = session;
  if (workspace.roots.length === 0) return [];
  const { programs } = await registry.listed();
  const ids = environment.catalogue.programs
    .filter(({ id }) => programs.has(id))
    .toSorted((one, other) => rank(one.category) - rank(other.category))
    .map(({ id }) => id);
  const isUsed = (id: string) => programs.get(id)?.isUsed ?? false;
  return [
    ...line('uses', ids.filter(isUsed)),
    ...line(
      'also here',
      ids.filter((id) => !isUsed(id)),
      mostPrograms,
    ),
  ];
}

function line(title: string, items: readonly string[], most = Infinity): string[] {
  if (items.length === 0) return [];
  const more = items.length > most ? [`${items.length - most} more`] : [];
  return [`${title}: ${[...items.slice(0, most), ...more].join(', ')}`];
}
