import type { World } from './chat.ts';
import { ChatError } from './errors.ts';
import { findModel } from './models/ask-server.ts';
import { endpointsOf, hasKey, localNames } from './models/endpoints.ts';
import { nameOf, type Model } from './models/model.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';

/**
 * The model of that name, or the one the configuration or a key in the environment stands for; else the first of an
 * endpoint that was moved and has a key; else one that answers on this machine, if the person wants it. Throws
 * ChatError NO_MODEL, with what to do.
 */
export async function firstModel(
  name: string | undefined,
  world: World,
  terminal: Terminal | undefined,
): Promise<Model> {
  const { modelOf, options, warn } = world;
  try {
    return modelOf(name);
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    if (name !== undefined && options.model === undefined && error.code !== 'CONFIG_INVALID') {
      // A session's own model may be gone from the configuration.
      const other = await firstModel(undefined, world, terminal);
      warn(`${error.message} ${nameOf(other)} goes on with this session.`);
      return other;
    }
    if (error.code !== 'NO_MODEL' || name !== undefined) throw error;
    // A recording needs none that answers.
    if (options.replay !== undefined) return modelOf('openai/replayed');
    return modelOf(await answering(error, world, terminal));
  }
}

async function answering(
  error: ChatError,
  { options: { env }, config, keyFor }: World,
  terminal: Terminal | undefined,
): Promise<string> {
  const endpoints = endpointsOf(config, env);
  const keyed = endpoints.filter((each) => each.keyVariables.length > 0 && hasKey(each, env));
  const own = endpoints.filter((each) => each.local && localNames.includes(each.name));
  const found = await findModel([...keyed, ...own], keyFor);
  if (found === undefined) throw error;
  if (keyed.some((each) => found.startsWith(`${each.name}/`))) return found;
  if (!terminal?.interactive)
    throw new ChatError('NO_MODEL', `${error.message}\nOne answers on this machine: --model ${found}`);
  terminal.note(printable(error.message));
  const line = `${printable(found)} answers on this machine. Use it?`;
  if (!(await terminal.confirm(line))) throw new ChatError('NO_MODEL', 'No model was chosen.');
  return found;
}
