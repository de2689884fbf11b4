import { ChatError } from '../errors.ts';
import type { Endpoint } from './model.ts';

/** Starts a program without a shell. */
export type RunKeyCommand = (
  argv: readonly string[],
) => Promise<{ readonly exitCode: number | null; readonly stdout: string }>;

/** A person is asked for a password once, not for every model of an endpoint. */
const printed = new Map<string, Promise<string>>();

/**
 * The key of an endpoint: from the environment, else the first line its program prints, which is asked once.
 * Undefined when the endpoint needs none. Throws NO_KEY, which never holds anything of what was printed.
 */
export async function keyOf(
  { name, keyVariables, keyCommand, local }: Endpoint,
  env: Readonly<Record<string, string | undefined>>,
  run: RunKeyCommand,
): Promise<string | undefined> {
  const variable = keyVariables.find((each) => env[each]?.trim());
  if (variable !== undefined) return usable(env[variable]?.trim() ?? '', variable);
  if (keyCommand) {
    const id = JSON.stringify(keyCommand);
    const key = printed.get(id) ?? ask(keyCommand, run);
    printed.set(id, key);
    // The next request may try again: perhaps the safe was locked.
    key.catch(() => printed.delete(id));
    return key;
  }
  if (local || keyVariables.length === 0) return undefined;
  const key = `endpoints.${name}.keyCommand in chat.yaml`;
  const ways = `Set ${keyVariables.join(' or ')}, or name a program that prints it: ${key}.`;
  throw new ChatError('NO_KEY', `${name} needs a key. ${ways}`);
}

/** Its own words may hold what it printed, and are told to nobody. */
async function ask(command: readonly string[], run: RunKeyCommand): Promise<string> {
  const program = `"${command.join(' ')}"`;
  const { exitCode, stdout } = await run(command).catch(() => ({ exitCode: undefined, stdout: '' }));
  const code = exitCode === null ? 'a signal' : `exit code ${exitCode}`;
  const how = exitCode === undefined ? 'could not be started' : `ended with ${code}`;
  if (exitCode !== 0)
    throw new ChatError(
      'NO_KEY',
      `${program}, which should print the key, ${how}. Run it yourself to see why.`,
    );
  return usable(stdout.trim().split(/\r?\n/)[0]?.trim() ?? '', program);
}

/** What fits no header would come back, key and all, in the error of whoever tries to send it. */
function usable(key: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const why = key === '' ? 'it is empty.' : 'there are blanks or characters in it that no key has.';
  throw new ChatError('NO_KEY', `${from} gives no key: ${why}`);
}
