import type { AnyDiscoverer, Precautions, RunAction } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Workspace } from '../core/tool.ts';
import type { Outcome } from './process.ts';

/** Runs the program with a question of ours. */
export type Ask = (question: readonly string[]) => Promise<Outcome>;

const none: Precautions = { argv: [], env: {}, notes: [] };

/**
 * Asks the program what the project would have it do, and where it would work. Not being able to know is no reason
 * to go on. Throws REPO_UNTRUSTED, PATH_OUTSIDE_ROOTS, CANCELLED, and what the guard throws.
 */
export async function precautionsFor(
  { guard, worksOn }: AnyDiscoverer,
  action: RunAction,
  ask: Ask,
  workspace: Workspace,
): Promise<Precautions> {
  const precautions = guard ? guard.read(await answerTo(guard.argv, guard.succeedsWith, ask), action) : none;
  const matters = worksOn && action.effects.some((effect) => worksOn.effects.includes(effect));
  const where = precautions.mustBeInside ?? (matters ? worksOn.argv : undefined);
  if (where) {
    const folder = (await answerTo(where, [0], ask)).trimEnd();
    await workspace.resolve(folder, { kind: 'folder', mustExist: true });
  }
  return precautions;
}

async function answerTo(
  question: readonly string[],
  succeedsWith: readonly number[],
  ask: Ask,
): Promise<string> {
  const answer = await ask(question);
  if (answer.ended === 'cancelled') throw new ToolcribError('CANCELLED', `Stopped: ${answer.command}`);
  if (answer.ended === 'exited' && succeedsWith.includes(answer.exitCode ?? -1)) return answer.stdout.text;
  throw new ToolcribError(
    'REPO_UNTRUSTED',
    `What the project configures could not be checked: ${answer.command} failed.`,
    answer.stderr.text.trim(),
  );
}
