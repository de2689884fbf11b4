import * as z from 'zod';
import { alsoMeaning } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { defineTool, textOf, type PlanContext, type Tool } from '../../core/tool.ts';
import { Place, type RoleServices } from './place.ts';
import { notThere } from './run-task.ts';
import { planOf, stepOf, type Step } from './steps.ts';

const params = z.strictObject({
  action: alsoMeaning(
    z.enum(['add', 'remove', 'install', 'update']).describe('install: what the project already names'),
    '',
    { uninstall: 'remove', upgrade: 'update' },
  ),
  packages: z.array(z.string().min(1)).optional().describe('Names, with a version where wanted: ["zod@4"]'),
  dev: z.boolean().optional().describe('add: for development only'),
  program: z.string().optional().describe('Package manager, where the project has several: "uv"'),
  cwd: z.string().min(1).optional().describe('Folder of one package'),
});
type Asked = z.output<typeof params>;

/** Changes packages by the package manager that the project uses. */
export const changePackages = (services: RoleServices): Tool =>
  defineTool({
    name: 'change_packages',
    program: 'toolcrib',
    title: 'Change packages',
    description:
      'Add, remove, install or update packages by the package manager the project uses; its lock file follows.',
    effects: ['write', 'execute', 'network'],
    params,
    plan: async (asked, context) => planOf(await stepsFor(asked, context, services)),
    async run({ work }, context) {
      const results = [];
      for (const { tool, plan } of work) results.push(await tool.run(plan, context));
      const isError = results.some((result) => result.isError);
      return {
        content: [{ type: 'text', text: results.map(textOf).join('\n') }],
        ...(isError && { isError }),
      };
    },
  });

async function stepsFor(asked: Asked, context: PlanContext, services: RoleServices): Promise<Step[]> {
  const { action, packages = [], dev, program } = asked;
  if (packages.length === 0 && (action === 'add' || action === 'remove'))
    throw new ToolcribError('ARG_INVALID', `packages: is required to ${action}.`, 'Name them: ["zod"].');
  const place = await Place.of(asked, context, services);
  const here = await place.players(action);
  const all = here.length > 0 ? here : await place.absent(action);
  const players = all.filter((player) => program === undefined || player.action.program === program);
  if (program !== undefined && players.length === 0 && all.length > 0) throw notThere(program, all);
  const steps: Step[] = [];
  let refusal: unknown;
  for (const player of players) {
    const tool = await services.load(player.action.name);
    const given = { packages, ...(dev && { dev }) };
    const values = Object.entries(given).filter(([name]) => name in tool.params.shape);
    if (dev && !('dev' in tool.params.shape))
      refusal ??= new ToolcribError('ARG_INVALID', `dev: ${tool.program} has no development packages.`);
    else if (packages.length > 0 && !('packages' in tool.params.shape))
      refusal ??= new ToolcribError(
        'ARG_INVALID',
        `packages: ${action} takes the whole project.`,
        'action=add adds.',
      );
    else
      try {
        steps.push(
          await stepOf(tool, { ...Object.fromEntries(values), cwd: player.folder }, undefined, context),
        );
      } catch (error) {
        if (!(error instanceof ToolcribError)) throw error;
        refusal ??= error; // Another package manager may be the one of this project.
      }
  }
  if (steps.length === 0)
    throw (
      refusal ??
      noManager(
        place.folder,
        all.map((player) => player.action.program),
      )
    );
  // What the project names is got by each; whose a new package is, nobody can know.
  if (steps.length > 1 && action !== 'install')
    throw new ToolcribError(
      'ARG_INVALID',
      `program: the project has several package managers: ${steps.map(({ tool }) => tool.program).join(', ')}.`,
      'Say which one.',
    );
  return steps;
}

const noManager = (folder: string, others: readonly string[]): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    `${folder}: no file of a package manager was found here or above.`,
    others.length > 0
      ? `program is one of ${others.join(', ')}.`
      : 'find_actions finds what makes a project.',
  );
