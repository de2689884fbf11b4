import * as z from 'zod';
import { also } from '../core/accepted.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Tool } from '../core/tool.ts';
import { combinePlans, runPlannedCalls, type PlannedCall } from '../machine/actions/acts.ts';
import { defineTool } from './define-tool.ts';
import { ProjectView, rolePlayersOf } from './project/project-view.ts';

const params = z.strictObject({
  action: also(
    z.enum(['add', 'remove', 'install', 'update']).describe('install: what the project already names'),
    '',
    { values: { uninstall: 'remove', upgrade: 'update' } },
  ),
  packages: z.array(z.string().min(1)).optional().describe('Names, with a version where wanted: ["zod@4"]'),
  dev: z.boolean().optional().describe('add: for development only'),
  program: z.string().optional().describe('Package manager, where the project has several: "uv"'),
  cwd: z.string().min(1).optional().describe('Folder of one package'),
});
type PackagesParams = z.output<typeof params>;

/** Changes packages by the package manager that the project uses. */
export default defineTool({
  name: 'change_packages',
  title: 'Change packages',
  description:
    'Add, remove, install or update packages by the package manager the project uses; its lock file follows.',
  hint: 'install, add, remove, update packages or dependencies',
  listed: 'yes',
  startsPrograms: true,
  inEveryToolset: true,
  effects: ['write', 'execute', 'network'],
  params,
  plan: async (asked, context) => combinePlans(await actsFor(asked, await ProjectView.of(asked, context))),
  run: runPlannedCalls,
});

async function actsFor(asked: PackagesParams, place: ProjectView): Promise<readonly PlannedCall[]> {
  const { action, packages = [], program } = asked;
  if (packages.length === 0 && (action === 'add' || action === 'remove'))
    throw invalid(`packages: is required to ${action}.`, 'Name them: ["zod"].');
  const here = await place.players(action);
  const all = here.length > 0 ? here : await place.absent(action);
  const { acts, refused } = await place.acts(rolePlayersOf(program, all), (tool) => valuesFor(asked, tool));
  if (acts.length === 0) throw refused[0]?.error ?? noManager(place.folder);
  // What the project names is got by each; whose a new package is, nobody can know.
  if (acts.length > 1 && action !== 'install') {
    const names = acts.map(({ tool }) => tool.program).join(', ');
    throw invalid(`program: the project has several package managers: ${names}.`, 'Say which one.');
  }
  return acts;
}

/** Throws ARG_INVALID for what the package manager does not take. */
function valuesFor({ action, packages = [], dev }: PackagesParams, { program, params: { shape } }: Tool) {
  if (dev && !('dev' in shape))
    throw invalid(`dev: ${program} has no development packages.`, 'Leave it out.');
  if (packages.length > 0 && !('packages' in shape))
    throw invalid(`packages: ${action} takes the whole project.`, 'action=add adds.');
  return [{ ...('packages' in shape && { packages }), ...(dev && { dev }) }, undefined] as const;
}

const invalid = (message: string, wayOut: string) => new ToolcribError('ARG_INVALID', message, wayOut);

const noManager = (folder: string): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    `${folder}: no file of a package manager was found here or above.`,
    'find_actions finds what makes a project.',
  );
