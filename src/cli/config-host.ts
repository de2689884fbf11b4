import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import { thisHost, type Host } from '../machine/host.ts';
import { isInside } from '../machine/paths/inside.ts';
import { displayPath } from '../machine/paths/display-path.ts';
import { entryFor, valuesOf, wordsOf, type EntryRoots } from './host-entry.ts';
import { settingIn, withoutSetting, withSettings, type Setting } from './host-file.ts';
import { isRecord } from './host-format.ts';
import { hosts, userFile, type HostFacts } from './hosts.ts';
import { flawOfRoots, noProjectBecause, ownLaunch, sharedLaunch } from './installation.ts';
import { print } from './print.ts';
import { keep, keptText, replace, textOf } from './replace-file.ts';
import { checkRoots, parseCommandLine, UsageError, workingFolder } from './usage.ts';

const flag = { type: 'boolean', default: false } as const;
const options = {
  write: flag,
  remove: flag,
  scope: { type: 'string', default: 'user' },
  root: { type: 'string', multiple: true, default: [] as string[] },
} as const;

/** What was asked for. */
interface Order {
  readonly facts: HostFacts;
  readonly file: string;
  readonly isShared: boolean;
  readonly roots: readonly string[];
}

/** `toolcrib config HOST`: prints the entry of a host, or writes it, or takes it out. */
export async function configCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine({ args, options, allowPositionals: true });
  const facts = hosts[positionals[0] ?? ''];
  if (!facts || positionals.length > 1)
    throw new UsageError(`config: which host? One of ${Object.keys(hosts).join(', ')}.`);
  try {
    const file = await fileOf(facts, values.scope);
    const order = { facts, file, isShared: values.scope === 'project', roots: values.root };
    return await (values.remove ? remove(order, values.write) : add(order, values.write));
  } catch (error) {
    throw error instanceof ToolcribError ? new UsageError(`${error.code}: ${error.message}`) : error;
  }
}

async function fileOf(facts: HostFacts, scope: string): Promise<string> {
  if (scope === 'user') return userFile(facts, thisHost());
  if (scope !== 'project') throw new UsageError('--scope: user or project.');
  if (facts.project === undefined)
    throw new UsageError(
      `${facts.title} has no file of a project that works for everybody; leave --scope out.`,
    );
  return join(workingFolder(), facts.project);
}

async function add(order: Order, isWritten: boolean): Promise<number> {
  const { facts, file } = order;
  const before = await textOf(file);
  const entry = await madeEntry(order, settingIn(file, before, placeOf(facts)));
  if (!isWritten) {
    print(`For ${facts.title}, in ${file} (--write puts it there):\n\n`);
    return print(withSettings(file, '', [{ under: placeOf(facts), value: entry }]));
  }
  const settings = [...leftBy(facts, file, before), { under: placeOf(facts), value: entry }];
  const after = withSettings(file, before, settings);
  // Those of an earlier version may be among them.
  const kept = order.roots.length > 0 ? [] : valuesOf(wordsOf(entry), '--root');
  const flaw = await flawOfRoots(kept, thisHost());
  if (flaw !== undefined) print(`The entry opens the wrong folder: ${flaw}. Add --root ~/your-project.\n`);
  if (after === before) return print(`${file} is like that already.\n`);
  await show(file, before, after);
  const backup = await keep(file);
  await replace(file, before, after);
  print(`\n${facts.title} has toolcrib now. ${facts.afterwards}\n`);
  if (order.isShared) print(`Everybody who opens the project starts ${wordsOf(entry).join(' ')}.\n`);
  return print(backup === undefined ? `${file} is new.\n` : `What was there before toolcrib: ${backup}\n`);
}

async function remove({ facts, file }: Order, isWritten: boolean): Promise<number> {
  const before = await textOf(file);
  const left = withSettings(file, before, leftBy(facts, file, before));
  const after = withoutSetting(file, left, placeOf(facts), await keptText(file));
  if (after === before) return print(`${file} is like that already.\n`);
  await show(file, before, after);
  if (!isWritten) return print(`\nNothing is written yet: --remove --write does it.\n`);
  await replace(file, before, after);
  return print(`\n${facts.title} is without toolcrib from its next session on.\n`);
}

const placeOf = ({ under }: HostFacts): string[] => [...under, 'toolcrib'];

/** What an earlier version wrote beside the entry, to be taken away. */
function leftBy(facts: HostFacts, file: string, text: string): Setting[] {
  const entry = settingIn(file, text, placeOf(facts));
  if (!isRecord(entry) || !valuesOf(wordsOf(entry), '--questions').includes('host')) return [];
  const ours = (facts.formerly ?? []).filter(({ under, value }) => settingIn(file, text, under) === value);
  return ours.map(({ under }) => ({ under, value: undefined }));
}

async function madeEntry({ facts, isShared, roots }: Order, there: unknown) {
  const host = thisHost();
  if (isShared && roots.length > 0)
    throw new UsageError(
      `--root is a path of this machine, and the file of a project is everybody's: leave it out.`,
    );
  const named = roots.map((root) => resolve(root));
  await checkRoots(named);
  for (const root of named) await refuseHome(root, host);
  const here = workingFolder();
  if (isShared) await refuseOther(here, 'cd into your project first.', host);
  const needed = async () => {
    if (!facts.needsRoots) return [];
    await refuseOther(here, `${facts.title} tells no folder: name yours with --root ~/your-project.`, host);
    return [here];
  };
  const wanted: EntryRoots = { given: named, needed, ...(isShared && { left: here }) };
  const entry = await entryFor(facts, await (isShared ? sharedLaunch : ownLaunch)(host), wanted, there);
  const read =
    wordsOf(entry)[0] === 'cmd' ? wordsOf(entry).find((word) => /[&|<>^%"]/.test(word)) : undefined;
  if (read === undefined) return entry;
  throw new ToolcribError(
    'ARG_INVALID',
    `${read}: cmd, which starts npx, would not leave that as it is.`,
    'Install toolcrib with npm install -g toolcrib, and let that write the entry.',
  );
}

async function refuseHome(root: string, { home }: Host): Promise<void> {
  const [real, above] = [await realpath(root), await realpath(home).catch(() => home)];
  if (!isInside(above, real)) return;
  throw new ToolcribError(
    'NO_ROOTS',
    `--root ${displayPath(root)} is or holds the home folder:`,
    'name the one a model may use, --root ~/your-project.',
  );
}

async function refuseOther(folder: string, wayOut: string, host: Host): Promise<void> {
  const why = await noProjectBecause(folder, host);
  if (why !== undefined) throw new ToolcribError('NO_ROOTS', `This folder, ${folder}, ${why}.`, wayOut);
}

async function show(file: string, before: string, after: string): Promise<void> {
  const { createTwoFilesPatch } = await import('diff');
  print(createTwoFilesPatch(file, file, before, after, undefined, undefined, { context: 2 }));
}
