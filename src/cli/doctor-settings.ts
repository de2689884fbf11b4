import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { ToolcribError } from '../core/errors.ts';
import type { ProjectConfig } from '../core/settings.ts';
import { mergeSettings, usualSettings, type Config, type Settings } from '../core/settings.ts';
import { createProjectConfigs, createProjectReader } from '../machine/config/project-config.ts';
import { configFile, readConfig } from './config.ts';
import { table, type Style } from './table.ts';
import type { World } from './this-world.ts';
import { knownNames } from './toolsets.ts';
import { UsageError } from './usage.ts';

/**
 * Prints which settings files are in force and what they say. Returns what is wrong with them, one line each.
 */
export async function showSettings(
  { host, loadManifest, projectRoots, print }: World,
  style: Style,
): Promise<string[]> {
  const file = configFile(host.env, host.platform, host.home);
  print(`\n${style('bold', 'Settings')}\n`);
  const wrong: string[] = [];
  let settings: Settings = usualSettings;
  try {
    const config = await readConfig(file, { known: knownNames, home: host.home });
    settings = mergeSettings({}, config);
    print(table([[file, existsSync(file) ? '' : 'is not there: nothing is set'], ...rowsOf(config)], '  '));
    for (const [folder, narrower] of Object.entries(settings.folders)) {
      showNarrower({ ...narrower, file: `folders ${folder}` }, print);
      if (!existsSync(folder)) wrong.push(`${file}: folders: ${folder}: there is no such folder`);
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    print(table([[file, 'cannot be used']], '  '));
    wrong.push(error.message);
  }
  const { programs, problems = [] } = await loadManifest();
  wrong.push(...problems);
  const roots = settings.roots.length > 0 ? settings.roots : await projectRoots(programs);
  for (const root of roots) wrong.push(...(await showProject(root, print)));
  return wrong;
}

async function showProject(root: string, print: World['print']): Promise<string[]> {
  const real = await realpath(root).catch(() => undefined);
  if (real === undefined) return [`${root}: there is no such folder`];
  try {
    const files = await createProjectReader(knownNames)(real);
    for (const file of files) {
      showNarrower(file, print);
      print(
        '  a server that runs also keeps to what it has read there before; restart it after loosening it\n',
      );
    }
    await createProjectConfigs(knownNames).narrowedRoots([real]);
    return [];
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    return [error.message];
  }
}

const showNarrower = ({ file, ...config }: ProjectConfig, print: World['print']): void =>
  print(table([[file], ...rowsOf(config)], '  '));

/** One row for each setting. Of databases only the names: there may be passwords in the rest. */
function rowsOf({ rules = [], databases = {}, folders: _folders, ...rest }: Config): string[][] {
  const names = Object.keys(databases);
  const rows = [
    ...Object.entries(rest).map(([name, value]) => [name, JSON.stringify(value)]),
    ...rules.map(({ pattern, decision }) => [`rules "${pattern}"`, decision]),
    ...(names.length > 0 ? [['databases', names.join(', ')]] : []),
  ];
  return rows.map(([name = '', value = '']) => [`  ${name}`, value]);
}
