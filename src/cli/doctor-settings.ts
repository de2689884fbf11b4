import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { ToolcribError } from '../core/errors.ts';
import { mergeSettings, type Config } from '../core/settings.ts';
import { createProjectReader } from '../machine/config/project-config.ts';
import type { Host } from '../machine/host.ts';
import { configFile, readConfig } from './config.ts';
import { knownNames } from './served-settings.ts';
import { UsageError } from './usage.ts';

interface SettingsReport {
  readonly rows: readonly string[][];
  readonly wrong: readonly string[];
  readonly databases: Config['databases'];
}

/** Lists the settings files in force with their settings, and what is wrong with them, one line each. */
export async function settingsInForce(host: Host, usualRoots: readonly string[]): Promise<SettingsReport> {
  const rows: string[][] = [];
  const wrong: string[] = [];
  const file = configFile(host);
  let roots = usualRoots;
  let databases: Config['databases'] = {};
  const attempt = (work: () => Promise<unknown>) =>
    work().catch((error: unknown) => {
      if (!(error instanceof UsageError || error instanceof ToolcribError)) throw error;
      wrong.push(error.message);
    });
  await attempt(async () => {
    const config = await readConfig(file, { known: knownNames, home: host.home });
    const settings = mergeSettings({}, config);
    databases = settings.databases;
    if (settings.roots.length > 0) roots = settings.roots;
    rows.push([existsSync(file) ? file : `${file} is not there: nothing is set`], ...rowsOf(config));
    for (const [folder, narrower] of Object.entries(settings.folders)) {
      rows.push([`folders ${folder}`], ...rowsOf(narrower));
      if (!existsSync(folder)) wrong.push(`${file}: folders: ${folder}: there is no such folder`);
    }
  });
  const read = createProjectReader(knownNames);
  for (const root of roots)
    await attempt(async () => {
      const real = await realpath(root).catch(() => undefined);
      if (real === undefined) {
        wrong.push(`${root}: there is no such folder`);
        return;
      }
      for (const { file: own, unreadable, allowed: _allowed, ...config } of await read(real)) {
        if (unreadable !== undefined) wrong.push(unreadable);
        rows.push([own], ...rowsOf(config));
      }
    });
  return { rows, wrong, databases };
}

/** Makes a row for each setting. Databases show only their names, because the rest may contain passwords. */
const rowsOf = ({ rules = [], databases = {}, folders: _folders, ...rest }: Config): string[][] => [
  ...Object.entries(rest).map(([name, value]) => [`  ${name}`, JSON.stringify(value)]),
  ...rules.map(({ pattern, decision }) => [`  rules "${pattern}"`, decision]),
  ...Object.keys(databases).map((name) => ['  databases', name]),
];
