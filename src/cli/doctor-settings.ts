import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { ToolcribError } from '../core/errors.ts';
import { narrow, withoutEffect, type ProjectConfig } from '../core/narrow.ts';
import { mergeSettings, usualSettings, type Config, type Settings } from '../core/settings.ts';
import { createProjectConfigs } from '../machine/config/project-config.ts';
import { configFile, readConfig } from './config.ts';
import { table, type Style } from './table.ts';
import type { World } from './this-world.ts';
import { knownNames } from './toolsets.ts';
import { UsageError } from './usage.ts';

/**
 * Prints which settings files are in force, what they say, and what in a project's has no effect because only the operator
 * could say so. Returns what is wrong with them, one line each.
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
    settings = mergeSettings(usualSettings, config);
    print(table([[file, existsSync(file) ? '' : 'is not there: nothing is set'], ...rowsOf(config)], '  '));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    print(table([[file, 'cannot be used']], '  '));
    wrong.push(error.message);
  }
  const roots =
    settings.roots.length > 0 ? settings.roots : await projectRoots((await loadManifest()).programs);
  for (const root of roots) wrong.push(...(await showProject(root, settings, print)));
  return wrong;
}

async function showProject(root: string, settings: Settings, print: World['print']): Promise<string[]> {
  const real = await realpath(root).catch(() => undefined);
  if (real === undefined) return [`${root}: there is no such folder`];
  try {
    for (const project of await createProjectConfigs(knownNames).filesFor([real])) {
      print(table([[project.file], ...rowsOf(project)], '  '));
      print(
        '  a server that runs also keeps to what it has read there before; restart it after loosening it\n',
      );
      const idle = withoutEffect(settings, project);
      print(
        table(
          idle.map((line) => [`  has no effect: ${line}; only the operator can say so`]),
          '  ',
        ),
      );
      settings = narrow(settings, project);
    }
    return [];
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    return [error.message];
  }
}

/** One row for each setting. Of databases only the names: there may be passwords in the rest. */
function rowsOf(config: Config | ProjectConfig): string[][] {
  const { rules, databases, file: _file, ...rest } = { file: '', ...config };
  const decided = (rules ?? []).map(({ pattern, decision }) => [`rules "${pattern}"`, decision]);
  const named = Object.keys(databases ?? {});
  const rows = [
    ...Object.entries(rest).map(([name, value]) => [name, JSON.stringify(value)]),
    ...decided,
    ...(named.length > 0 ? [['databases', named.join(', ')]] : []),
  ];
  return rows.map(([name = '', value = '']) => [`  ${name}`, value]);
}
