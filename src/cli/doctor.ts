import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { nearest } from '../core/nearest.ts';
import { cacheFolder, stateFolder } from '../own-files/own-files.ts';
import type { Machine } from '../machine/machine.ts';
import { presentable } from '../machine/presentable.ts';
import { findRipgrep } from '../machine/programs/find-ripgrep.ts';
import type { ProgramFacts, SearchPath } from '../machine/programs/installation.ts';
import { cachedLoginShellPath, loginShellOf } from '../machine/programs/login-shell.ts';
import type { ProgramReport } from '../machine/programs/machine-report.ts';
import { version } from '../server/version.ts';
import { checkHosts } from './doctor-hosts.ts';
import { showSettings } from './doctor-settings.ts';
import { styler, table } from './table.ts';
import { machineOf, thisWorld, type World } from './this-world.ts';
import { parseCommandLine, UsageError } from './usage.ts';

interface Check {
  readonly state: 'ok' | 'note' | 'wrong';
  readonly text: string;
}

/**
 * `toolcrib doctor [program]`: how programs are looked for, what hosts start, and what is wrong; exit code 1 when
 * something is. With --json the same for programs.
 */
export async function doctor(args: string[], given = thisWorld()): Promise<number> {
  const { values, positionals } = parseCommandLine({
    args,
    options: { json: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (values.json && positionals.length > 0)
    throw new UsageError('doctor: --json is for all of it; toolcrib list --json has each program.');
  const { print, ...real } = await given;
  const world: World = { ...real, print: values.json ? () => {} : print };
  const { host } = world;
  const { programs, problems = [] } = await world.loadManifest();
  const machine = await machineOf(world, programs);
  const [reports, { path }] = [await machine.report(), await machine.discovery()];
  if (positionals.length > 0) {
    const shown = positionals.map((name) => named(name, { programs, reports, path, machine }));
    for (const { title, rows } of (await Promise.all(shown)).flat())
      print(`${styler(world.colour)('bold', title)}\n${table(rows, '  ')}`);
    return (await Promise.all(shown)).flat().every(({ isHere }) => isHere) ? 0 : 1;
  }
  const shell = await shellOf(world);
  showPath(path, shell, world);
  const wrong = [...(await showSettings(world, programs)), ...problems];
  const hosts = await checkHosts(host);
  const checks: Check[] = [
    ...(await checksOf(reports, machine)),
    ...(shell.isWrong ? [{ state: 'note' as const, text: `login shell: ${shell.says}` }] : []),
    ...hosts.map(({ host: name, state, says, file }) => ({
      state,
      text: presentable(state === 'ok' ? `${name}: ${says}` : `${name}: ${file}: ${says}`),
    })),
    ...wrong.map((text) => ({ state: 'wrong' as const, text: presentable(text) })),
  ];
  const isSound = checks.every(({ state }) => state !== 'wrong');
  const versions = { toolcrib: version, node: process.versions.node, platform: host.platform };
  const state = stateFolder(host.platform, host.env, host.home);
  if (values.json) print(`${JSON.stringify({ isSound, versions, state, path, hosts, checks }, null, 2)}\n`);
  const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const;
  section('Checks', world);
  for (const check of checks)
    world.print(`  ${styler(world.colour)(colours[check.state], check.state.padEnd(5))}  ${check.text}\n`);
  return isSound ? 0 : 1;
}

const section = (title: string, { print, colour }: World): void =>
  print(`\n${styler(colour)('bold', title)}\n`);

async function shellOf({ host }: World): Promise<{ readonly says: string; readonly isWrong: boolean }> {
  const shell = loginShellOf(host);
  const answer = await cachedLoginShellPath(host, cacheFolder(host.platform, host.env, host.home));
  if (shell === undefined || answer === undefined) return { says: 'none on this system', isWrong: false };
  return { says: answer.why ?? `${shell}: told its PATH`, isWrong: answer.why !== undefined };
}

function showPath({ folders, skipped }: SearchPath, shell: { readonly says: string }, world: World): void {
  const rows = (all: readonly { folder: string; source: string; why?: string }[]) =>
    table(
      all.map(({ folder, source, why = '' }) => [folder || '""', source, why]),
      '  ',
    );
  section('Search path', world);
  world.print(rows(folders));
  if (skipped.length > 0) section('Left out', world);
  world.print(rows(skipped));
  section('Login shell', world);
  world.print(table([[shell.says]], '  '));
}

async function checksOf(reports: readonly ProgramReport[], { host, which }: Machine): Promise<Check[]> {
  const { node } = process.versions;
  // The ripgrep that is installed with us, else the machine's own.
  const ripgrep = await findRipgrep(await which('rg')).catch(() => undefined);
  const found = reports.filter(({ installed }) => installed).length;
  return [
    { state: 'ok', text: `toolcrib ${version}` },
    isAtLeast(node, 20, 19)
      ? { state: 'ok', text: `Node.js ${node}` }
      : { state: 'wrong', text: `Node.js ${node}: 20.19 or later is needed` },
    checkState(stateFolder(host.platform, host.env, host.home)),
    checkGit(reports.find(({ id }) => id === 'git')),
    ripgrep === undefined
      ? {
          state: 'wrong',
          text: 'ripgrep is missing: list_files and grep will not work. Install toolcrib again',
        }
      : { state: 'ok', text: `ripgrep ${ripgrep}` },
    { state: 'ok', text: `${found} of ${reports.length} programs found (toolcrib list --all)` },
  ];
}

/** It may not be there yet; then the nearest folder above it counts. */
function checkState(folder: string | undefined): Check {
  if (folder === undefined)
    return { state: 'wrong', text: 'no state folder: HOME is not set, so nothing can be undone or trusted' };
  let above = folder;
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above);
  try {
    accessSync(above, constants.W_OK);
    return { state: 'ok', text: `state folder ${folder}` };
  } catch {
    return { state: 'wrong', text: `state folder ${folder}: it cannot be written, so nothing can be undone` };
  }
}

function checkGit(git: ProgramReport | undefined): Check {
  if (!git?.installed)
    return { state: 'note', text: 'git was not found: its tools are not offered (toolcrib doctor git)' };
  const { version: found, path, note } = git;
  if (found === undefined) return { state: 'note', text: `git ${path}: ${note ?? 'version unknown'}` };
  // The guard before each action asks with --show-scope, which came with 2.26.
  if (isAtLeast(found, 2, 26)) return { state: 'ok', text: `git ${found} ${path}` };
  return { state: 'wrong', text: `git ${found} ${path}: 2.26 or later is needed` };
}

function isAtLeast(given: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = given.split('.').map((part) => Number.parseInt(part, 10));
  return first > major || (first === major && second >= minor);
}

interface Known {
  readonly programs: readonly ProgramFacts[];
  readonly reports: readonly ProgramReport[];
  readonly path: SearchPath;
  readonly machine: Machine;
}

interface Shown {
  readonly title: string;
  readonly rows: string[][];
  readonly isHere: boolean;
}

/** All about the programs a word can mean: by id or title, else by what is started: `python3` is Python and pip. */
async function named(word: string, { programs, reports, path, machine }: Known): Promise<Shown[]> {
  const small = word.toLowerCase();
  const exact = programs.filter(({ id, title }) => id === small || title.toLowerCase() === small);
  const called = programs.filter((one) => one.called.some((name) => name.split(' ')[0] === small));
  const meant = (exact.length > 0 ? exact : called).map(({ id }) => id);
  const lookedIn = ['looked in', path.folders.map(({ folder }) => folder).join(', ')];
  if (meant.length > 0)
    return reports
      .filter(({ id }) => meant.includes(id))
      .map(({ title, installed, why = '', install = '', ...found }) => {
        const missing = [['not found', why], lookedIn, ['to install', install]];
        return { title, isHere: installed, rows: installed ? rowsOf(found) : missing };
      });
  const found = await machine.which(word);
  const note = 'not asked for: toolcrib has no actions for it';
  if (found !== undefined) return [{ title: word, isHere: true, rows: rowsOf({ path: found, note }) }];
  const similar = nearest(
    word,
    programs.flatMap((one) => [one.id, ...one.called]),
  );
  const hint = similar === undefined ? [] : [['similar', `toolcrib doctor ${similar}`]];
  const why = `no ${word} in ${path.folders.length} folders`;
  return [{ title: word, isHere: false, rows: [['not found', why], lookedIn, ...hint] }];
}

const rowsOf = (found: Partial<ProgramReport>): string[][] => [
  ['started as', found.path ?? ''],
  ...(found.source === undefined ? [] : [['found in', found.source]]),
  ['version', found.version ?? found.note ?? 'unknown'],
  ...(found.others ?? []).map(({ path, why }) => ['not taken', `${path}: ${why}`]),
];
