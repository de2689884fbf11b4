import type { AnyProgram } from '../../core/database-program.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { ToolDefinition } from '../../core/tool-definition.ts';
import type { Tool } from '../../core/tool.ts';
import { discoverers } from '../../discoverers/index.ts';
import type { Environment } from '../../machine/environment.ts';
import { once } from '../../machine/once.ts';
import type { Installation } from '../../machine/programs/installation.ts';
import type { Session } from '../../machine/session.ts';
import { bindTool } from '../../tools/define-tool.ts';
import { builtInTools } from '../../tools/index.ts';

interface LoadedTool {
  readonly installation: Installation | undefined;
  tool(): Promise<Tool>;
}

/** Loads the code of tools when they are first called. */
export class ToolLoader {
  /** Making a tool makes its schema, which takes longer than a small call. */
  readonly #loaded = new Map<string, LoadedTool>();

  /** A tool for the calls of a session. Throws PROGRAM_NOT_FOUND. */
  async load(definition: ToolDefinition, session: Session): Promise<Tool> {
    const { name, action } = definition;
    const installation = action === undefined ? undefined : await installationOf(definition, session);
    const known = this.#loaded.get(name);
    if (known && known.installation === installation) return known.tool();
    const make = Object.hasOwn(builtInTools, name) ? builtIn : programAction;
    const tool = once(() => make(definition, session, installation));
    this.#loaded.set(name, { installation, tool });
    return tool();
  }
}

/** The program of an action; undefined for one that needs none. It may have been installed since. */
async function installationOf(
  definition: ToolDefinition,
  { environment, tools }: Session,
): Promise<Installation | undefined> {
  const { program, reads } = definition;
  const found = await environment.installation(program);
  if (found) return found;
  await environment.refresh();
  const installation = await environment.installation(program);
  if (!installation && !reads && !tools.isReachable(definition)) throw notInstalled(program, environment);
  return installation;
}

async function builtIn({ name }: ToolDefinition, session: Session): Promise<Tool> {
  const { default: tool } = await builtInTools[name as keyof typeof builtInTools]();
  return bindTool(tool, session);
}

async function programAction(
  { name, program, action = '' }: ToolDefinition,
  session: Session,
  installation: Installation | undefined,
): Promise<Tool> {
  const { environment } = session;
  const of = await programCode(program, environment);
  if (!of) throw new Error(`${name} is in the catalogue and not defined`);
  const { programTool } = await import('../../machine/actions/plan-action.ts');
  const env = await environment.childEnvironment(of.environment ?? [], of.settings ?? {});
  return programTool(of, action, session, { installation, env });
}

/** A program with its code: one that a person has described, or that of its file. */
async function programCode(id: string, environment: Environment): Promise<AnyProgram | undefined> {
  const described = environment.userPrograms.get(id);
  if (described) return described;
  const { file = '' } = environment.catalogue.programs.find((program) => program.id === id) ?? {};
  const load = discoverers[file as keyof typeof discoverers];
  const programs = load ? [(await load()).default].flat() : [];
  return programs.find((program) => program.id === id);
}

function notInstalled(id: string, { catalogue, host }: Environment): ToolcribError {
  const facts = catalogue.programs.find((program) => program.id === id);
  const hint = facts?.install[host.platform];
  return new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `${facts?.title ?? id} was not found on this machine.`,
    `${hint ? `To install it: ${hint}. ` : ''}list_programs tells where it was looked for.`,
  );
}
