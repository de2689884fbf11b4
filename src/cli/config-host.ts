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

/** The parameters of a `config` command. */
interface EntryRequest {
  readonly facts: HostFacts;
  readonly file: string;
  readonly isShared: boolean;
  readonly roots: readonly string[];
}

/** Runs `toolcrib config HOST`: prints the entry for a host, writes it, or removes it. */
export async function configCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine({ args, options, allowPositionals: true });
  const facts = hosts[positionals[0] ?? ''];
  if (!facts || positionals.length > 1)
    throw new UsageError(`config: which host? One of ${Object.keys(hosts).join(', ')}.`);
  try {
    const file = await fileOf(facts, values.scope);
    const request = { facts, file, isShared: values.scope === 'project', roots: values.root };
    return await (values.remove ? remove(request, values.write) : add(request, values.write));
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

async function add(request: EntryRequest, isWritten: boolean): Promise<number> {
  const { facts, file } = request;
  const before = await textOf(file);
  const entry = await makeEntry(request, settingIn(file, before, pathOf(facts)));
  if (!isWritten) {
    print(`For ${facts.title}, in ${file} (--write puts it there):\n\n`);
    return print(withSettings(file, '', [{ under: pathOf(facts), value: entry }]));
  }
  const settings = [...obsoleteSettings(facts, file, before), { under: pathOf(facts), value: entry }];
  const after = withSettings(file, before, settings);
  // The roots of an entry that was there may be those of an earlier version.
  const existing = request.roots.length > 0 ? [] : valuesOf(wordsOf(entry), '--root');
  const flaw = await flawOfRoots(existing, thisHost());
  if (flaw !== undefined) print(`The entry opens the wrong folder: ${flaw}. Add --root ~/your-project.\n`);
  if (after === before) return print(`${file} is like that already.\n`);
  await show(file, before, after);
  const backup = await keep(file);
  await replace(file, before, after);
  print(`\n${facts.title} has toolcrib now. ${facts.afterwards}\n`);
  if (request.isShared) print(`Everybody who opens the project starts ${wordsOf(entry).join(' ')}.\n`);
  return print(backup === undefined ? `${file} is new.\n` : `What was there before toolcrib: ${backup}\n`);
}

async function remove({ facts, file }: EntryRequest, isWritten: boolean): Promise<number> {
  const before = await textOf(file);
  const cleaned = withSettings(file, before, obsoleteSettings(facts, file, before));
  const after = withoutSetting(file, cleaned, pathOf(facts), await keptText(file));
  if (after === before) return print(`${file} is like that already.\n`);
  await show(file, before, after);
  if (!isWritten) return print(`\nNothing is written yet: --remove --write does it.\n`);
  await replace(file, before, after);
  return print(`\n${facts.title} is without toolcrib from its next session on.\n`);
}

const pathOf = ({ under }: HostFacts): string[] => [...under, 'toolcrib'];

/**
 * The settings that an earlier version wrote beside the entry, with the value undefined, which removes them.
 */
function obsoleteSettings(facts: HostFacts, file: string, text: string): Setting[] {
  const entry = settingIn(file, text, pathOf(facts));
  if (!isRecord(entry) || !valuesOf(wordsOf(entry), '--questions').includes('host')) return [];
  const ours = (facts.formerly ?? []).filter(({ under, value }) => settingIn(file, text, under) === value);
  return ours.map(({ under }) => ({ under, value: undefined }));
}

async function makeEntry({ facts, isShared, roots }: EntryRequest, existing: unknown) {
  const host = thisHost();
  if (isShared && roots.length > 0)
    throw new UsageError(
      `--root is a path of this machine, and the file of a project is everybody's: leave it out.`,
    );
  const named = roots.map((root) => resolve(root));
  await checkRoots(named);
  for (const root of named) await refuseHome(root, host);
  const folder = workingFolder();
  if (isShared) await refuseOther(folder, 'cd into your project first.', host);
  const needed = async () => {
    if (!facts.needsRoots) return [];
    await refuseOther(folder, `${facts.title} tells no folder: name yours with --root ~/your-project.`, host);
    return [folder];
  };
  const entryRoots: EntryRoots = { given: named, needed, ...(isShared && { left: folder }) };
  const launch = await (isShared ? sharedLaunch(host) : ownLaunch(host));
  const entry = await entryFor(facts, launch, entryRoots, existing);
  const words = wordsOf(entry);
  const special = words[0] === 'cmd' ? words.find((word) => /[&|<>^%"]/.test(word)) : undefined;
  if (special === undefined) return entry;
  throw new ToolcribError(
    'ARG_INVALID',
    `${special}: cmd, which starts npx, would not leave that as it is.`,
    'Install toolcrib with npm install -g toolcrib, and let that write the entry.',
  );
}

async function refuseHome(root: string, { home }: Host): Promise<void> {
  const real = await realpath(root);
  const realHome = await realpath(home).catch(() => home);
  if (!isInside(realHome, real)) return;
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
