import { copyFile, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { thisHost } from '../machine/host.ts';
import { isInside } from '../machine/paths/inside.ts';
import { withSettings, type Setting } from './host-file.ts';
import { hosts, userFile, type HostFacts } from './hosts.ts';
import { print } from './print.ts';
import { ownCommand, checkRoots, parseCommandLine, UsageError, workingFolder } from './usage.ts';

const flag = { type: 'boolean', default: false } as const;
const options = {
  write: flag,
  remove: flag,
  scope: { type: 'string', default: 'user' },
  root: { type: 'string', multiple: true, default: [] as string[] },
} as const;

/** `toolcrib config HOST`: prints the entry of a host, or writes it, or takes it out. */
export async function configCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine({ args, options, allowPositionals: true });
  const facts = hosts[positionals[0] ?? ''];
  if (!facts || positionals.length > 1)
    throw new UsageError(`config: which host? One of ${Object.keys(hosts).join(', ')}.`);
  const file = fileOf(facts, values.scope);
  const settings = values.remove ? removed(facts) : await made(facts, values.root, values.scope);
  const before = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new UsageError(`${file}: cannot be read (${error.code}).`);
  });
  if (!values.write && !values.remove) return printEntry(facts, file, settings);
  const after = withSettings(file, before, settings);
  if (after === before) return print(`${file} is like that already.\n`);
  const { createTwoFilesPatch } = await import('diff');
  print(createTwoFilesPatch(file, file, before, after, undefined, undefined, { context: 2 }));
  if (values.remove && !values.write) return print(`\nNothing is written yet: --remove --write does it.\n`);
  const backup = await replace(file, after);
  const now = values.remove
    ? 'is without toolcrib from its next session on.'
    : `has toolcrib now. ${facts.afterwards}`;
  print(`\n${facts.title} ${now}\n`);
  return print(backup === undefined ? `${file} is new.\n` : `What was there before: ${backup}\n`);
}

function fileOf(facts: HostFacts, scope: string): string {
  if (scope === 'user') return userFile(facts, thisHost());
  if (scope !== 'project') throw new UsageError('--scope: user or project.');
  if (facts.project === undefined)
    throw new UsageError(`${facts.title} has no file of a project; leave --scope out.`);
  return join(workingFolder(), facts.project);
}

async function made(facts: HostFacts, given: readonly string[], scope: string): Promise<Setting[]> {
  const needed = facts.needsRoots || scope === 'project' ? [workingFolder()] : [];
  const roots = (given.length > 0 ? given : needed).map((root) => resolve(root));
  await checkRoots(roots);
  if (roots.some((root) => isInside(homedir(), root)))
    throw new UsageError(`${facts.title} tells no folder: name the one a model may use with --root DIR.`);
  const { command, script } = ownCommand();
  const asks = facts.asks === undefined ? [] : ['--questions', 'host'];
  const beside = facts.needsFiles ? [] : ['--expose', 'no-files'];
  const args = [
    await realpath(script),
    'serve',
    ...asks,
    ...beside,
    ...roots.flatMap((root) => ['--root', root]),
  ];
  return [
    { under: [...facts.under, 'toolcrib'], value: facts.entry({ command, args }) },
    ...(typeof facts.asks === 'object' ? [facts.asks] : []),
  ];
}

const removed = ({ under, asks }: HostFacts): Setting[] => [
  { under: [...under, 'toolcrib'], value: undefined },
  ...(typeof asks === 'object' ? [{ under: asks.under, value: undefined }] : []),
];

function printEntry({ title }: HostFacts, file: string, settings: readonly Setting[]): number {
  print(`For ${title}, in ${file} (--write puts it there):\n\n`);
  return print(withSettings(file, '', settings));
}

/** Replaces a file as a whole, and where it was; returns where the old one is kept. */
async function replace(file: string, text: string): Promise<string | undefined> {
  await mkdir(dirname(file), { recursive: true });
  // Many keep their configuration elsewhere, behind a link.
  const real = await realpath(file).catch(() => file);
  const old = await stat(real).catch(() => undefined);
  const backup = `${real}.before-toolcrib`;
  if (old) await copyFile(real, backup);
  const beside = `${real}.${process.pid}.tmp`;
  try {
    const mode = old ? old.mode & 0o777 : 0o600;
    await writeFile(beside, text, { flag: 'wx', mode, flush: true });
    await rename(beside, real);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  return old && backup;
}
