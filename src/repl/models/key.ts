import { ChatError } from '../errors.ts';
import { runProgram } from '../files/program.ts';
import type { Endpoint } from './model.ts';

/** A password manager may ask the person for its own password. */
const keyCommandMs = 120_000;

/**
 * What finds the key of an endpoint: in the environment, else the first line its program prints, which is asked once.
 * Undefined when the endpoint needs none. Throws NO_KEY, which never holds anything of what was printed.
 */
export function keyFinder(
  env: Readonly<Record<string, string | undefined>>,
): (endpoint: Endpoint) => Promise<string | undefined> {
  const printed = new Map<string, Promise<string>>();
  return async ({ name, keyVariables, keyCommand, local }) => {
    const variable = keyVariables.find((each) => env[each]?.trim());
    if (variable !== undefined) return usable(env[variable]?.trim() ?? '', variable);
    if (keyCommand) {
      const key = printed.get(name) ?? ask(keyCommand);
      printed.set(name, key);
      // The next request may try again: perhaps the safe was locked.
      key.catch(() => printed.delete(name));
      return key;
    }
    if (local || keyVariables.length === 0) return undefined;
    const key = `endpoints.${name}.keyCommand in chat.yaml`;
    const ways = `Set ${keyVariables.join(' or ')}, or name a program that prints it: ${key}.`;
    throw new ChatError('NO_KEY', `${name} needs a key. ${ways}`);
  };
}

/** Its own words may hold what it printed, and are told to nobody. */
async function ask(command: readonly string[]): Promise<string> {
  const program = `"${command.join(' ')}"`;
  const ran = await runProgram(command, { timeoutMs: keyCommandMs }).catch(() => undefined);
  if (ran?.exitCode === 0) return usable(ran.stdout.trim().split(/\r?\n/)[0]?.trim() ?? '', program);
  const how = ran ? `ended with exit code ${ran.exitCode}` : 'could not be started';
  throw new ChatError(
    'NO_KEY',
    `${program}, which should print the key, ${how}. Run it yourself to see why.`,
  );
}

/** What fits no header would come back, key and all, in the error of whoever tries to send it. */
function usable(key: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const why = key === '' ? 'it is empty.' : 'there are blanks or characters in it that no key has.';
  throw new ChatError('NO_KEY', `${from} gives no key: ${why}`);
}
