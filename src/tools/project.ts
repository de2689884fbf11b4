import { basename } from 'node:path';
import * as z from 'zod';
import type { Category } from '../core/discoverer.ts';
import { textOf } from '../core/tool.ts';
import { projectAddress, schemesOf } from '../machine/databases/target.ts';
import { displayPath } from '../machine/paths/display-path.ts';
import { sanitize } from '../machine/sanitize.ts';
import { inOneLine } from './output/job-text.ts';
import { defineTool } from './define-tool.ts';
import { chosenFor } from './project/chosen-for.ts';
import { kinds } from './project/check-report.ts';
import { ProjectView, type ProjectTask } from './project/project-view.ts';

/** What of each may be told; a model asks for the rest. */
const mostEntries = 16;
const mostTasks = 24;
const mostPrograms = 8;
const [longestCommand, mostCommands] = [60, 8];
const longestMore = 300;

const params = z.strictObject({
  cwd: z.string().min(1).optional().describe('Folder of one package: "packages/api"'),
});

/** What a project is, and what can be done in it, in a page. */
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
  async run({ work: asked }, context) {
    await context.session.environment.refresh();
    const place = await ProjectView.of(asked, context);
    const { tasks: all, more } = await place.tasks();
    const parts = await Promise.all([
      top(place),
      state(place),
      packageManagers(place),
      checks(place, all),
      [...tasks(all), ...more.map((text) => inOneLine(text, longestMore))],
      databases(place),
      programs(place),
    ]);
    return { content: [{ type: 'text', text: sanitize(parts.flat().join('\n')) }] };
  },
});

const line = (title: string, all: readonly string[], most = Infinity): string[] => {
  const more = all.length > most ? [`${all.length - most} more`] : [];
  return all.length === 0 ? [] : [`${title}: ${[...all.slice(0, most), ...more].join(', ')}`];
};

async function top({ folder, context }: ProjectView): Promise<string[]> {
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
      shown.map((name) => inOneLine(name, longestMore)),
      mostEntries,
    ),
  ];
}

/**
 * Of version control: where one stands, what is under way, how much has changed; the files are another call.
 */
async function state(place: ProjectView): Promise<string[]> {
  const players = await place.players('status');
  return Promise.all(
    players.map(async ({ action }) => {
      const { name, program } = action;
      const result = await place.looked(action);
      if (!result) return `${program}: ${name} looks, once the folder is trusted`;
      const [first = '', ...rest] = textOf(result).split('\n');
      return [`${program}: ${first}`, ...rest.filter((text) => text.startsWith('['))].join('\n');
    }),
  );
}

/** Those that a project uses; of several that read the same file, those that do not refuse. */
async function packageManagers(place: ProjectView): Promise<string[]> {
  const players = await place.players('install');
  const { refused } = await place.acts(players, () => [{}, undefined]);
  const fitting = players.filter(({ action }) => refused.every((one) => one.action !== action));
  const absent = await place.absent('install');
  return line('packages', [
    ...fitting.map(({ action, sign }) => `${action.program} (${sign})`),
    ...absent.map(({ action, sign }) => `${action.program} (${sign}, not here)`),
  ]);
}

/** By what `check` does each, as it would choose. */
async function checks(place: ProjectView, all: readonly ProjectTask[]): Promise<string[]> {
  const players = await Promise.all(
    kinds.map(async (kind) => {
      const chosen = await chosenFor(kind, place, all);
      const absent = chosen.areAbsent ? ' (not here)' : '';
      const names = chosen.task
        ? [`its script ${inOneLine(chosen.task.name, longestMore)}`]
        : [...new Set(chosen.players.map(({ action }) => `${action.program}${absent}`))];
      return names.length > 0 ? [`${kind} by ${names.join(' and ')}`] : [];
    }),
  );
  return line('check', players.flat());
}

function tasks(all: readonly ProjectTask[]): string[] {
  const names = new Set(all.map(({ name }) => name));
  // What npm runs with another one is no task of its own.
  const isBeside = (name: string) =>
    /^(?:pre|post)/.test(name) && names.has(name.replace(/^(?:pre|post)/, ''));
  const own = all.filter(({ name }) => !isBeside(name));
  const shown = own.map(({ name, command = '' }, at) => {
    const says = at < mostCommands ? inOneLine(command, longestCommand) : '';
    return [inOneLine(name, longestMore), ...(says === '' ? [] : [says])].join(' = ');
  });
  return line('tasks', shown, mostTasks);
}

const mostDatabases = 10;

async function databases(place: ProjectView): Promise<string[]> {
  const { roots } = place.context.workspace;
  const files = (await place.databaseFiles('query')).map(({ sign }) => sign);
  const addresses = Object.entries(schemesOf).flatMap(([engine, scheme]) => {
    const found = projectAddress(scheme, roots);
    return found ? [`${engine} (${basename(found.from)})`] : [];
  });
  return line('databases', [...addresses, ...new Set(files)], mostDatabases);
}

const first: readonly Category[] = ['vcs', 'container', 'database', 'runtime', 'package-manager'];
const rank = (category: Category): number =>
  first.includes(category) ? first.indexOf(category) : first.length;

/** Programs that can be used, those that the project shows signs of first. */
async function programs({ context: { workspace, session } }: ProjectView): Promise<string[]> {
  const { tools: registry, environment } = session;
  if (workspace.roots.length === 0) return [];
  const { programs: all } = await registry.listed();
  const ids = environment.catalogue.programs
    .filter(({ id }) => all.has(id))
    .toSorted((one, other) => rank(one.category) - rank(other.category))
    .map(({ id }) => id);
  const isUsed = (id: string) => all.get(id)?.isUsed ?? false;
  return [
    ...line('uses', ids.filter(isUsed)),
    ...line(
      'also here',
      ids.filter((id) => !isUsed(id)),
      mostPrograms,
    ),
  ];
}
