import * as z from 'zod';
import { also } from '../core/accepted.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Tool } from '../core/tool.ts';
import { combinePlans, runPlannedCalls, type PlannedCall } from '../machine/actions/acts.ts';
import { defineTool } from './define-tool.ts';
import { ProjectView, actionsOfProgram } from './project/project-view.ts';

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

/** Changes packages with the package manager that the project uses. */
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
  async plan(request, context) {
    const view = await ProjectView.of(request, context);
    return combinePlans(await planPackages(request, view));
  },
  run: runPlannedCalls,
});

async function planPackages(request: PackagesParams, view: ProjectView): Promise<readonly PlannedCall[]> {
  const { action, packages = [], program } = request;
  if (packages.length === 0 && (action === 'add' || action === 'remove'))
    throw invalid(`packages: is required to ${action}.`, 'Name them: ["zod"].');
  const callable = await view.actionsFor(action);
  const all = callable.length > 0 ? callable : await view.missingActionsFor(action);
  const managers = actionsOfProgram(program, all);
  const { calls, refused } = await view.planCalls(managers, (tool) => [valuesFor(request, tool), undefined]);
  if (calls.length === 0) throw refused[0]?.error ?? noManager(view.folder);
  // Each manager can install what the project names, but nobody can know which one a new package is meant
  // for.
  if (calls.length > 1 && action !== 'install') {
    const names = calls.map(({ tool }) => tool.program).join(', ');
    throw invalid(`program: the project has several package managers: ${names}.`, 'Say which one.');
  }
  return calls;
}

/** The parameters for a package manager. Throws ARG_INVALID for what it does not take. */
function valuesFor(
  { action, packages = [], dev }: PackagesParams,
  { program, params: { shape } }: Tool,
): Readonly<Record<string, unknown>> {
  if (dev && !('dev' in shape))
    throw invalid(`dev: ${program} has no development packages.`, 'Leave it out.');
  if (packages.length > 0 && !('packages' in shape))
    throw invalid(`packages: ${action} takes the whole project.`, 'action=add adds.');
  return { ...('packages' in shape && { packages }), ...(dev && { dev }) };
}

const invalid = (message: string, wayOut: string) => new ToolcribError('ARG_INVALID', message, wayOut);

const noManager = (folder: string): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    `${folder}: no file of a package manager was found here or above.`,
    'find_actions finds what makes a project.',
  );
