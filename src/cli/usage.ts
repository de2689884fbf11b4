import { stat } from 'node:fs/promises';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearest } from '../core/check-params.ts';
import { effects, type Effect } from '../core/discoverer.ts';
import type { Settings } from '../core/settings.ts';

/** A wrong command line: said in one line, exit code 2. */
export class UsageError extends Error {}

/** util.parseArgs, with its complaints turned into a UsageError that names the right option. */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const text = error instanceof Error ? error.message.split(/\n|\. /)[0] : String(error);
    const known = Object.keys(config.options ?? {});
    const given = /'--?([^ '=]+)/.exec(text ?? '')?.[1];
    const best = given && nearest(given, known);
    const all =
      known.length > 0
        ? `The options are ${known.map((name) => `--${name}`).join(', ')}.`
        : 'There are none.';
    throw new UsageError(`${text?.replace(/\.$/, '')}${best ? `; did you mean --${best}?` : '.'} ${all}`);
  }
}

/** The folder we are in. Throws UsageError when somebody has removed it. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('the folder you are in is no longer there; cd into another one.');
  }
}

/** Says so when a root is no folder, before anything is started with it. */
export async function checkRoots(roots: readonly string[]): Promise<void> {
  for (const root of roots) {
    const found = await stat(root).catch(() => undefined);
    if (!found) throw new UsageError(`root ${root}: there is no such folder.`);
    if (!found.isDirectory()) throw new UsageError(`root ${root}: is a file; a folder is expected.`);
  }
}

/** What serve, call and try have in common. */
export const serveOptions = {
  root: { type: 'string', multiple: true },
  'read-only': { type: 'boolean' },
  toolsets: { type: 'string' },
  allow: { type: 'string', multiple: true },
  'no-checkpoints': { type: 'boolean' },
} as const;

interface ServeValues {
  root?: string[] | undefined;
  'read-only'?: boolean | undefined;
  toolsets?: string | undefined;
  allow?: string[] | undefined;
  'no-checkpoints'?: boolean | undefined;
}

/** The settings that the options stand for. */
export function settingsOf(values: ServeValues): Settings {
  const allow = (values.allow ?? []).flatMap((list) => list.split(','));
  const wrong = allow.find((effect) => effect !== 'destroy');
  if (wrong !== undefined) {
    throw new UsageError(
      effects.includes(wrong as Effect)
        ? `--allow ${wrong}: only "destroy" has to be allowed; --read-only takes the others away.`
        : `--allow ${wrong}: there is no such effect; the one to allow is destroy.`,
    );
  }
  return {
    roots: values.root ?? [],
    readOnly: values['read-only'] ?? false,
    toolsets: values.toolsets?.split(',').map((name) => name.trim()),
    allow: allow as Effect[],
    checkpoints: values['no-checkpoints'] ? false : undefined,
  };
}

/** The same options again, to hand them to a server that is started. */
export function asArguments(values: ServeValues): string[] {
  return [
    ...(values.root ?? []).flatMap((root) => ['--root', root]),
    ...(values['read-only'] ? ['--read-only'] : []),
    ...(values.toolsets === undefined ? [] : ['--toolsets', values.toolsets]),
    ...(values.allow ?? []).flatMap((effect) => ['--allow', effect]),
    ...(values['no-checkpoints'] ? ['--no-checkpoints'] : []),
  ];
}
