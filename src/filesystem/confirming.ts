import { dirname } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import type { CallContext } from '../core/tool.ts';
import { protectedError, ProtectedError } from '../machine/paths/protected-paths.ts';
import { rooted, type RootedWorkspace } from '../machine/paths/workspace.ts';

interface Steps<T> {
  /** What is done with a path, as a verb. */
  readonly doing: string;
  run(context: CallContext): Promise<T>;
  /** What it would change, for a person: a diff or a sentence. */
  shows(context: CallContext): Promise<string>;
}

/** A call names few paths, and each is asked about once. */
const mostQuestions = 4;

/**
 * Changes files, asking a person about each one that others run. Throws the refusal itself, with what would be needed,
 * when nobody can be asked; NOT_CONFIRMED; and what `run` throws.
 */
export async function confirming<T>(context: CallContext, { doing, run, shows }: Steps<T>): Promise<T> {
  const confirmed = new Set<string>();
  const here = { ...context, workspace: withConfirmed(rooted(context.workspace), confirmed) };
  for (;;) {
    try {
      return await run(here);
    } catch (error) {
      if (!(error instanceof ProtectedError) || confirmed.size >= mostQuestions) throw error;
      // To see what would be done it has to be let in; a look changes nothing.
      const looking = withConfirmed(rooted(context.workspace), new Set([...confirmed, error.path]));
      const change = await shows({ ...context, workspace: looking });
      await ask(error, doing, change, context);
      confirmed.add(error.path);
    }
  }
}

/** The same workspace, in which these real paths may be changed although others run them. */
function withConfirmed(workspace: RootedWorkspace, paths: ReadonlySet<string>): RootedWorkspace {
  return {
    ...workspace,
    get home() {
      return workspace.home;
    },
    openPlace: (path, options) => workspace.openPlace(path, { ...options, confirmed: paths }),
  };
}

/** The same workspace, for what a person is not asked about: moving things to where others run them, or away. */
export function withoutConfirming(workspace: RootedWorkspace): RootedWorkspace {
  return {
    ...workspace,
    get home() {
      return workspace.home;
    },
    openPlace: (path, options) =>
      workspace.openPlace(path, options).catch((error: unknown) => {
        throw error instanceof ProtectedError ? protectedError(error.given, error.effect) : error;
      }),
  };
}

async function ask(
  refusal: ProtectedError,
  doing: string,
  change: string,
  context: CallContext,
): Promise<void> {
  const { path, given } = refusal;
  try {
    await context.permit({
      effects: ['write'],
      asks: 'protected',
      folder: dirname(path),
      shows: [
        { title: 'Why you are asked', text: `${path}: ${refusal.effect}` },
        { title: 'Change', text: change, whole: true },
      ],
      always: { key: `${doing} ${path}`, says: `${doing} ${given} in this project, whatever the change` },
    });
  } catch (error) {
    if (!(error instanceof ToolcribError) || error.code !== 'NEEDS_CONFIRM') throw error;
    throw new ToolcribError('PATH_PROTECTED', refusal.message, error.message);
  }
}
