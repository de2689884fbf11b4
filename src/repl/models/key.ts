import { ChatError } from '../errors.ts';
import type { Endpoint } from './model.ts';

/** Starts a program without a shell. */
export type RunKeyCommand = (
  argv: readonly string[],
) => Promise<{ readonly exitCode: number | null; readonly stdout: string }>;

/** A person is asked for a password once, not for every model of an endpoint. */
const printed = new WeakMap<RunKeyCommand, Map<string, Promise<string>>>();

/**
 * The key of an endpoint: from the environment, else the first line its program prints, which is asked once. Undefined when the
 * endpoint needs none. Throws NO_KEY, which never holds anything of what was printed.
 */
export async function keyOf(
  endpoint: Endpoint,
  env: Readonly<Record<string, string | undefined>>,
  run: RunKeyCommand,
): Promise<string | undefined> {
  const { name, keyVariables, keyCommand, local } = endpoint;
  for (const variable of keyVariables) {
    const key = env[variable]?.trim();
    if (key) return usable(key, variable);
  }
  if (keyCommand) {
    const known = printed.get(run) ?? new Map<string, Promise<string>>();
    printed.set(run, known);
    const id = JSON.stringify(keyCommand);
    const key = known.get(id) ?? ask(keyCommand, run);
    known.set(id, key);
    // The next request may try again: perhaps the safe was locked.
    key.catch(() => known.delete(id));
    return key;
  }
  if (local || keyVariables.length === 0) return undefined;
  throw new ChatError(
    'NO_KEY',
    `${name} needs a key. Set ${keyVariables.join(' or ')}, or name a program that prints it: endpoints.${name}.keyCommand in chat.yaml.`,
  );
}

async function ask(command: readonly string[], run: RunKeyCommand): Promise<string> {
  const shown = command.join(' ');
  let result;
  try {
    result = await run(command);
  } catch (error) {
    // Its own words may hold what it printed.
    throw new ChatError('NO_KEY', `"${shown}", which should print the key, could not be started.`, {
      cause: error,
    });
  }
  if (result.exitCode !== 0)
    throw new ChatError(
      'NO_KEY',
      `"${shown}", which should print the key, ended with ${result.exitCode === null ? 'a signal' : `exit code ${result.exitCode}`}. Run it yourself to see why.`,
    );
  const key = result.stdout.trim().split(/\r?\n/)[0]?.trim() ?? '';
  if (key === '') throw new ChatError('NO_KEY', `"${shown}", which should print the key, printed nothing.`);
  return usable(key, `"${shown}"`);
}

/** What fits no header would come back, key and all, in the error of whoever tries to send it. */
function usable(key: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new ChatError(
    'NO_KEY',
    `${from} gives no key: there are blanks or characters in it that no key has.`,
  );
}
