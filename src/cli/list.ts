import { machineHere } from './machine-here.ts';
import { print, style, table } from './print.ts';
import { parseCommandLine } from './usage.ts';

/**
 * Runs `toolcrib list [--json] [--all]`: prints the programs that were found; with --all also the missing
 * ones, and why.
 */
export async function list(args: string[]): Promise<number> {
  const options = { json: { type: 'boolean' }, all: { type: 'boolean' } } as const;
  const { values } = parseCommandLine({ args, options });
  const environment = await machineHere();
  const all = await environment.report();
  const installed = all.filter((report) => report.installed);
  const missing = all.filter((report) => !report.installed);
  if (values.json) return print(`${JSON.stringify(values.all ? all : installed, null, 2)}\n`);
  const rows = installed.map(({ title, version = '-', path = '', source, note }) => [
    title,
    version,
    path,
    `(${source})${note === undefined ? '' : `  ${note}`}`,
  ]);
  print(table(rows));
  if (missing.length === 0) return 0;
  if (!values.all)
    return print(`\n${style('dim', `${missing.length} not found: toolcrib list --all says why`)}\n`);
  const why = missing.map(({ title, why: reason = '', install = '' }) => [title, reason, install]);
  return print(`\n${style('bold', 'Not found')}\n${table(why)}`);
}
