import { ChatError } from '../errors.ts';
import type { Endpoint } from './model.ts';

/** Starts a program without a shell. */
export type RunKeyCommand = (
  argv: readonly string[],
) => Promise<{ readonly exitCode: number | null; readonly stdout: string }>;

/** A person is asked for a password once, not for every model of an endpoint. */
const printed = new WeakMap<RunKeyCommand, Map<string, Promise<string>>>();

/**
 * The key of an endpoint: from the environment, else the first line its program prints, which is asked once.
 * Undefined when the endpoint needs none. Throws NO_KEY, which never holds anything of what was printed.
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
  const variables = keyVariables.join(' or ');
  throw noKey(
    `${name} needs a key. Set ${variables}, or name a program that prints it: endpoints.${name}.keyCommand in chat.yaml.`,
  );
}

async function ask(command: readonly string[], run: RunKeyCommand): Promise<string> {
  const program = `"${command.join(' ')}"`;
  const failed = (how: string, cause?: unknown) =>
    noKey(`${program}, which should print the key, ${how}`, { cause });
  const { exitCode, stdout } = await run(command).catch((error: unknown) => {
    // Its own words may hold what it printed.
    throw failed('could not be started.', error);
  });
  if (exitCode !== 0) {
    const code = exitCode === null ? 'a signal' : `exit code ${exitCode}`;
    throw failed(`ended with ${code}. Run it yourself to see why.`);
  }
  const key = stdout.trim().split(/\r?\n/)[0]?.trim() ?? '';
  if (key === '') throw failed('printed nothing.');
  return usable(key, program);
}

/** What fits no header would come back, key and all, in the error of whoever tries to send it. */
function usable(key: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw noKey(`${from} gives no key: there are blanks or characters in it that no key has.`);
}

const noKey = (message: string, options?: ErrorOptions): ChatError =>
  new ChatError('NO_KEY', message, options);
