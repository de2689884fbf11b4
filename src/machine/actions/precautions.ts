import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { renderArgv } from '../../core/argv.ts';
import type { AnyDiscoverer, Circumstances, Guard, Precautions, RunAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import { activeHooks } from './active-hooks.ts';
import type { Outcome } from '../processes/process.ts';
import type { FoundRepository } from './repository.ts';
import { upwards } from '../upwards.ts';
import { isInside } from '../paths/inside.ts';
import { textIn } from './text-in.ts';

/** Runs the program with a question of ours, in a folder, and with variables beside its own. */
export type Ask = (
  question: readonly string[],
  folder: string,
  env?: Readonly<Record<string, string>>,
) => Promise<Outcome>;

interface Situation {
  readonly name: string;
  readonly action: RunAction;
  readonly folder: string;
  /** The repository it will work on, for programs that have such. */
  readonly found: FoundRepository | undefined;
  readonly workspace: Workspace;
  /** Whether a person trusts the project, with what it has now. */
  readonly trusted: boolean;
  /** The same where the action itself makes no difference of it; looked up when it matters. */
  isTrusted(): Promise<boolean>;
  /** What the call was given; a guard's question may have a place for it. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly ask: Ask;
  readonly home?: string;
}

const none: Precautions = { argv: [], env: {}, notes: [] };
/** More repositories inside one another than anybody has; each costs two questions. */
const mostNested = 50;
const ordinaryBytes = 64 * 1024;

/**
 * Finds out where the program would work and what the project would have it run, and what must be done about it.
 * Not being able to know is no reason to go on. Throws REPO_UNTRUSTED, PATH_NOT_FOUND, PATH_OUTSIDE_ROOTS,
 * CANCELLED, and what the guard throws.
 */
export async function precautionsFor(discoverer: AnyDiscoverer, situation: Situation): Promise<Precautions> {
  const { composeFiles } = discoverer;
  if (!composeFiles) return precautionsOf(discoverer, situation);
  const { readsOf } = await import('./compose-files.ts');
  const { home, env } = await readsOf(composeFiles, situation);
  const ask: Ask = (question, where) => situation.ask(question, where, env);
  const precautions = await precautionsOf(discoverer, { ...situation, ask, home });
  return { ...precautions, env: { ...precautions.env, ...env } };
}

async function precautionsOf(
  { guard, worksOn, ownSettings, prefix = [], hints }: AnyDiscoverer,
  situation: Situation,
): Promise<Precautions> {
  const { name, action, folder, found, trusted, home } = situation;
  if (worksOn && !worksOn.except.includes(name)) await mustBeInside(worksOn.argv, situation);
  if (ownSettings && action.effects.includes('network')) await refuseSettings(ownSettings, situation);
  if (!guard || guard.only?.includes(name) === false) return none;
  const { effects, projectCode = [] } = action;
  const circumstances: Circumstances = {
    effects,
    trusted,
    projectCode,
    hooks: [],
    ...(home !== undefined && { home }),
  };
  if (found?.plainData !== undefined && (await isOrdinary(guard, found.plainData, action))) {
    return guard.read('', circumstances);
  }
  const ask = questionOf(guard, prefix, hints, situation);
  const answer = await ask(folder);
  const { hooks: kept } = guard;
  const hooks =
    kept && found ? await activeHooks(projectCode, found, kept.folder, kept.elsewhere(answer)) : [];
  const precautions = guard.read(answer, { ...circumstances, hooks });
  if (precautions.mustBeInside) await mustBeInside(precautions.mustBeInside, situation);
  await readsInside(precautions, found?.top ?? folder, situation);
  const inner: Precautions[] = [];
  for (const here of await nestedFolders(guard, situation)) {
    const within = { answer, trusted };
    const nested = guard.read(await ask(here), { ...circumstances, trusted: false, within });
    if (nested.mustBeInside) await mustBeInside(nested.mustBeInside, { ...situation, folder: here });
    await readsInside(nested, here, situation);
    inner.push(nested);
  }
  return askedAbout(joined([precautions, ...inner]), situation);
}

/** Puts the guard's question in a folder, in the form that the program knows; the answer. */
function questionOf(
  { argv, otherwise, succeedsWith }: Guard,
  prefix: readonly string[],
  hints: AnyDiscoverer['hints'],
  { values, ask }: Situation,
): (folder: string) => Promise<string> {
  const question = (template: Guard['argv']) => [...prefix, ...renderArgv(template, values)];
  return async (folder) => {
    const answer = await ask(question(argv), folder);
    const isOld = otherwise?.says.test(answer.stderr.text) === true;
    return exactAnswer(isOld ? await ask(question(otherwise.argv), folder) : answer, succeedsWith, hints);
  };
}

/** The precautions of a project and of those inside it; only the first ever has a question. */
function joined(all: readonly Precautions[]): Precautions {
  return {
    ...all[0],
    argv: all.flatMap(({ argv }) => argv),
    env: Object.assign({}, ...all.map(({ env }) => env)) as Precautions['env'],
    notes: [...new Set(all.flatMap(({ notes }) => notes))],
  };
}

/** With the question that files and folders make necessary which somebody would be given. */
async function askedAbout(precautions: Precautions, { workspace }: Situation): Promise<Precautions> {
  const { handsOut, shows = [], asks } = precautions;
  if (!handsOut) return precautions;
  const { handedOut } = await import('./handed-out.ts');
  const told = await handedOut(handsOut, workspace);
  if (told.length === 0 && shows.length === 0) return precautions;
  const all = [...shows, ...(told.length > 0 ? [{ title: 'From this machine', text: told.join('\n') }] : [])];
  return {
    ...precautions,
    asks: asks ?? 'destroy',
    shows: all,
    always: {
      key: JSON.stringify(all),
      says: 'this in this project, as long as it asks for no more of this machine',
    },
  };
}

/** A file of the project that would send what is asked, and the user's credentials, by way of somebody else. */
async function refuseSettings(
  { file, refuses }: NonNullable<AnyDiscoverer['ownSettings']>,
  { folder, workspace, isTrusted }: Situation,
): Promise<void> {
  for (const here of upwards(folder, workspace.roots)) {
    const text = (await textIn(join(here, file), workspace)) ?? '';
    const line = text.split('\n').find((one) => refuses.test(one));
    if (line === undefined) continue;
    if (await isTrusted()) return;
    throw new ToolcribError(
      'REPO_UNTRUSTED',
      `${join(here, file)} has ${JSON.stringify(line.split('=')[0]?.trim())}, which decides whom this machine talks to, or whom it trusts.`,
      'Look at it; if it is yours, trust the project (toolcrib trust), or move it to the file of the same name in your home folder.',
    );
  }
}

async function isOrdinary({ ordinary }: Guard, data: string, { effects }: RunAction): Promise<boolean> {
  if (!ordinary || !effects.every((effect) => effect === 'read')) return false;
  const file = join(data, ordinary.file);
  const facts = await lstat(file).catch(() => undefined);
  if (!facts?.isFile() || facts.size > ordinaryBytes) return false;
  return ordinary.accepts(await readFile(file, 'latin1'));
}

/** Repositories inside this one, in which the program would start itself again with their own configuration. */
async function nestedFolders(
  { nested }: Guard,
  { action, folder, workspace, ask }: Situation,
): Promise<string[]> {
  if (!nested || !action.effects.some((effect) => nested.effects.includes(effect))) return [];
  const found: string[] = [];
  const queue = [folder];
  for (let here = queue.pop(); here !== undefined; here = queue.pop()) {
    const inside = nested
      .folders(await answerTo(nested.argv, [0], here, ask))
      .map((name) => join(here ?? folder, name));
    for (const place of inside) {
      if (!(await stat(join(place, nested.marker)).catch(() => undefined))) continue;
      await workspace.resolve(place, { kind: 'folder', mustExist: true });
      found.push(place);
      queue.push(place);
    }
    if (found.length > mostNested)
      throw new ToolcribError('REPO_UNTRUSTED', `More than ${mostNested} nested repositories.`);
  }
  return found;
}

async function mustBeInside(
  question: readonly string[],
  { folder, workspace, ask }: Situation,
): Promise<void> {
  const place = (await answerTo(question, [0], folder, ask)).replace(/\r?\n$/, '');
  await workspace.resolve(place, { kind: 'folder', mustExist: true });
}

/** What a program is told to read, it may quote. Through links, too, that lie in the work tree. */
async function readsInside(
  { reads = [] }: Precautions,
  top: string,
  { found, workspace }: Situation,
): Promise<void> {
  const usersOwn = [join(homedir(), '.gitconfig'), join(homedir(), '.config', 'git') + sep];
  for (const { path, says } of reads) {
    const place = resolve(top, path);
    if (usersOwn.some((own) => place.startsWith(own))) continue;
    const real = await realpath(place).catch(() => place);
    if (found && isInside(real, found.data)) continue;
    await workspace.resolve(place).catch((error: unknown) => {
      if (!(error instanceof ToolcribError)) throw error;
      throw new ToolcribError(
        'REPO_UNTRUSTED',
        `The repository has git read ${place} (${says}), which is not inside the folders that are open.`,
        'Look at it with git config --local --list; if it is yours, move it to your global configuration.',
      );
    });
  }
}

const answerTo = async (
  question: readonly string[],
  succeedsWith: readonly number[],
  folder: string,
  ask: Ask,
): Promise<string> => exactAnswer(await ask(question, folder), succeedsWith);

function exactAnswer(
  { command, ended, exitCode, stdout, stderr }: Outcome,
  succeedsWith: readonly number[],
  hints: AnyDiscoverer['hints'] = [],
): string {
  if (ended === 'cancelled') throw new ToolcribError('CANCELLED', `Stopped: ${command}`);
  const text = stdout.omittedBytes > 0 ? undefined : exactText(stdout.bytes);
  if (ended === 'exited' && succeedsWith.includes(exitCode ?? -1) && text !== undefined) return text;
  const said = stderr.text.trim();
  throw new ToolcribError(
    'REPO_UNTRUSTED',
    `What the project configures could not be checked: ${command} ${text === undefined ? 'said too much, or no text' : 'failed'}.`,
    [said, hints.find(({ says }) => says.test(said))?.wayOut].filter(Boolean).join('\n'),
  );
}

/** UTF-8, or nothing: a name read in another encoding is the name of something else. */
function exactText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
