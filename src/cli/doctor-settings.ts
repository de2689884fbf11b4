import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { ToolcribError } from '../core/errors.ts';
import { mergeSettings, usualSettings, type Config, type Settings } from '../core/settings.ts';
import { createProjectConfigs, createProjectReader } from '../machine/config/project-config.ts';
import type { ProgramFacts } from '../machine/programs/installation.ts';
import { configFile, readConfig } from './config.ts';
import { styler, table } from './table.ts';
import type { World } from './this-world.ts';
import { knownNames } from './served-settings.ts';
import { UsageError } from './usage.ts';

/** Prints which settings files are in force and what they say. Returns what is wrong with them, one line each. */
export async function showSettings(
  { host, projectRoots, print, colour }: World,
  programs: readonly ProgramFacts[],
): Promise<string[]> {
  const file = configFile(host.env, host.platform, host.home);
  print(`\n${styler(colour)('bold', 'Settings')}\n`);
  const wrong: string[] = [];
  let settings: Settings = usualSettings;
  try {
    const config = await readConfig(file, { known: knownNames, home: host.home });
    settings = mergeSettings({}, config);
    show(existsSync(file) ? file : `${file} is not there: nothing is set`, config, print);
    for (const [folder, narrower] of Object.entries(settings.folders)) {
      show(`folders ${folder}`, narrower, print);
      if (!existsSync(folder)) wrong.push(`${file}: folders: ${folder}: there is no such folder`);
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    wrong.push(error.message);
  }
  const roots = settings.roots.length > 0 ? settings.roots : await projectRoots(programs);
  for (const root of roots) wrong.push(...(await showProject(root, print)));
  return wrong;
}

async function showProject(root: string, print: World['print']): Promise<string[]> {
  const real = await realpath(root).catch(() => undefined);
  if (real === undefined) return [`${root}: there is no such folder`];
  try {
    const files = await createProjectReader(knownNames)(real);
    for (const { file, ...config } of files) show(file, config, print);
    if (files.length > 0)
      print(
        '  a server that runs also keeps to what it has read there before; restart it after loosening it\n',
      );
    await createProjectConfigs(knownNames).narrowedRoots([real]);
    return [];
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    return [error.message];
  }
}

/** One row for each setting. Of databases only the names: there may be passwords in the rest. */
function show(
  title: string,
  { rules = [], databases = {}, folders: _folders, ...rest }: Config,
  print: World['print'],
): void {
  const names = Object.keys(databases).join(', ');
  const rows = [
    ...Object.entries(rest).map(([name, value]) => [`  ${name}`, JSON.stringify(value)]),
    ...rules.map(({ pattern, decision }) => [`  rules "${pattern}"`, decision]),
    ...(names === '' ? [] : [['  databases', names]]),
  ];
  print(table([[title], ...rows], '  '));
}
