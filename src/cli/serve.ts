import { readSync } from 'node:fs';
import { resolve } from 'node:path';
import { realpath } from 'node:fs/promises';
import { ToolcribError } from '../core/errors.ts';
import { mergeSettings, type Settings } from '../core/settings.ts';
import { createProjectConfigs } from '../machine/config/project-config.ts';
import { shownPath } from '../machine/paths/shown-path.ts';
import { start } from '../server/start.ts';
import { configFile, readConfig } from './config.ts';
import { checkRules, checkToolsets, knownNames } from './toolsets.ts';
import { checkRoots, parseCommandLine, serveOptions, settingsOf, UsageError } from './usage.ts';

/** `toolcrib serve`: ends when the host closes our input, or with a signal. */
export async function serveCommand(args: string[]): Promise<number> {
  // Not in the help: our own host writes its key into a pipe, where no other process can see it.
  const keyed = args.find((arg) => arg.startsWith(keyOption));
  const settings = await servedSettings(args.filter((arg) => arg !== keyed));
  if (keyed === undefined) await start(settings);
  // That host asks, whatever the operator says of others.
  else await start({ ...settings, questions: 'server' }, keyIn(Number(keyed.slice(keyOption.length))));
  return 0;
}

/** The descriptor of a pipe, such as standard input, whose first line holds the key of the host that asks its user. */
const keyOption = '--key-fd=';

function keyIn(pipe: number): string {
  const byte = Buffer.alloc(1);
  let line = '';
  // One by one: what follows on standard input is for the server.
  while (line.length < longestLine && readSync(pipe, byte) === 1 && byte[0] !== 10)
    line += byte.toString('latin1');
  const key = /[0-9a-f]{64}/.exec(line)?.[0];
  if (key === undefined) throw new UsageError(`${keyOption}${pipe}: there is no key in it.`);
  return key;
}

const longestLine = 1000;

/** What a command line and the operator's file say. Throws UsageError when a server does not start with it. */
export async function servedSettings(args: string[]): Promise<Settings> {
  const { values } = parseCommandLine({ args, options: serveOptions });
  const given = settingsOf(values);
  const settings = mergeSettings(given, await readConfig(undefined, { known: knownNames }));
  await checkRoots(settings.roots, given.roots ? undefined : `${shownPath(configFile())}: roots:`);
  await checkRoots(Object.keys(settings.folders), `${shownPath(configFile())}: folders:`);
  if (given.toolsets) await checkToolsets(given.toolsets);
  if (given.rules?.length) await checkRules(given.rules);
  await checkProjects(settings);
  return settings;
}

/**
 * Calls in a project whose settings cannot be understood are refused; where the project is known, that is said at
 * once.
 */
async function checkProjects(settings: Settings): Promise<void> {
  if (settings.roots.length === 0) return;
  const roots = await Promise.all(settings.roots.map((root) => realpath(resolve(root))));
  try {
    await createProjectConfigs(knownNames).narrowedRoots(roots);
  } catch (error) {
    throw error instanceof ToolcribError ? new UsageError(error.message) : error;
  }
}
