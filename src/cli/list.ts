import type { ProgramReport } from '../machine/programs/machine-report.ts';
import { styler, table } from './table.ts';
import { machineOf, thisWorld } from './this-world.ts';
import { parseCommandLine } from './usage.ts';

/** `toolcrib list [--json] [--all]`: the programs that were found; with --all also the missing ones, and why. */
export async function list(args: string[], world = thisWorld()): Promise<number> {
  const { values } = parseCommandLine({
    args,
    options: { json: { type: 'boolean' }, all: { type: 'boolean' } },
  });
  const here = await world;
  const { print, colour } = here;
  const machine = await machineOf(here, (await here.loadManifest()).programs);
  const all = await machine.report();
  const rows = values.all ? all : all.filter(({ installed }) => installed);
  print(values.json ? `${JSON.stringify(rows, null, 2)}\n` : asText(rows, all, colour));
  return 0;
}

function asText(rows: readonly ProgramReport[], all: readonly ProgramReport[], colour: boolean): string {
  const style = styler(colour);
  const found = rows.filter(({ installed }) => installed);
  const missing = rows.filter(({ installed }) => !installed);
  const text = table(
    found.map(({ title, version, path, source, note }) => [
      title,
      version ?? '-',
      path ?? '',
      `(${source})${note === undefined ? '' : `  ${note}`}`,
    ]),
  );
  if (missing.length > 0) {
    const why = missing.map(({ title, why: reason, install }) => [title, reason ?? '', install ?? '']);
    return `${text}\n${style('bold', 'Not found')}\n${table(why)}`;
  }
  const left = all.filter(({ installed }) => !installed).length;
  return left === 0 ? text : `${text}\n${style('dim', `${left} not found: toolcrib list --all says why`)}\n`;
}
