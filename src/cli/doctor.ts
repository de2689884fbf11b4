import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { whichProgram } from '../machine/programs/discovery.ts';
import { findRipgrep } from '../machine/programs/find-ripgrep.ts';
import { cacheFolder, stateFolder } from '../own-files/own-files.ts';
import type { Host } from '../machine/host.ts';
import type { Discovery, Installation, ProgramFacts, SearchPath } from '../machine/programs/installation.ts';
import {
  cachedLoginShellPath,
  loginShellOf,
  type LoginShellAnswer,
} from '../machine/programs/login-shell.ts';
import { Machine } from '../machine/machine.ts';
import type { ProgramReport } from '../machine/programs/machine-report.ts';
import { presentable } from '../machine/presentable.ts';
import { version } from '../server/version.ts';
import { checkHosts } from './doctor-hosts.ts';
import { showSettings } from './doctor-settings.ts';
import { styler, table, type Style } from './table.ts';
import { thisWorld, type World } from './this-world.ts';
import { parseCommandLine, UsageError } from './usage.ts';

interface Findings {
  readonly facts: readonly ProgramFacts[];
  readonly shell: string | undefined;
  readonly answer: LoginShellAnswer | undefined;
  readonly discovery: Discovery;
  readonly reports: readonly ProgramReport[];
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
  const findings = await examine(world);
  const style = styler(world.colour);
  if (positionals.length > 0) {
    const sound = await Promise.all(positionals.map((name) => showNamed(name, findings, world, style)));
    return sound.every(Boolean) ? 0 : 1;
  }
  showPath(findings, world, style);
  const wrong = await showSettings(world, style);
  const checkedHosts = await checkHosts(world.host);
  const checks: Check[] = [
    ...(await check(findings, world)),
    ...checkedHosts.map(({ host, state, says, file }) => ({
      state,
      text: presentable(state === 'ok' ? `${host}: ${says}` : `${host}: ${file}: ${says}`),
    })),
    ...wrong.map((text) => ({ state: 'wrong' as const, text: presentable(text) })),
  ];
  const isSound = checks.every(({ state }) => state !== 'wrong');
  if (values.json) {
    const { path } = findings.discovery;
    const { host } = world;
    const versions = { toolcrib: version, node: process.versions.node, platform: host.platform };
    const state = stateFolder(host.platform, host.env, host.home);
    print(`${JSON.stringify({ isSound, versions, state, path, hosts: checkedHosts, checks }, null, 2)}\n`);
    return isSound ? 0 : 1;
  }
  const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const;
  print(`\n${style('bold', 'Checks')}\n`);
  for (const { state, text } of checks) print(`  ${style(colours[state], state.padEnd(5))}  ${text}\n`);
  return isSound ? 0 : 1;
}

async function examine({ host, processes, loadManifest, projectRoots, settings }: World): Promise<Findings> {
  const { programs } = await loadManifest();
  const machine = new Machine(host, { programs }, processes, projectRoots(programs), await settings());
  await machine.settle();
  return {
    facts: programs,
    shell: loginShellOf(host),
    answer: await cachedLoginShellPath(host, cacheFolder(host.platform, host.env, host.home)),
    reports: await machine.report(),
    discovery: await machine.discovery(),
  };
}

function showPath({ discovery: { path }, shell, answer }: Findings, { print }: World, style: Style): void {
  print(
    `${style('bold', 'Search path')}\n${table(
      path.folders.map(({ folder, source }) => [folder, source]),
      '  ',
    )}`,
  );
  if (path.skipped.length > 0) {
    const skipped = path.skipped.map(({ folder, source, why }) => [
      folder === '' ? '""' : folder,
      source,
      why,
    ]);
    print(`\n${style('bold', 'Left out')}\n${table(skipped, '  ')}`);
  }
  print(`\n${style('bold', 'Login shell')}\n${table([[describe(shell, answer)]], '  ')}`);
}

function describe(shell: string | undefined, answer: LoginShellAnswer | undefined): string {
  if (shell === undefined || answer === undefined) return 'none on this system';
  return answer.why ?? `${shell}: told its PATH`;
}

interface Check {
  readonly state: 'ok' | 'note' | 'wrong';
  readonly text: string;
}

async function check(findings: Findings, { host }: World): Promise<Check[]> {
  const { facts, answer, reports } = findings;
  const { path, installed } = findings.discovery;
  const git = reports.find(({ id }) => id === 'git');
  const ripgrep = await ripgrepOf(host, path);
  return [
    { state: 'ok', text: `toolcrib ${version}` },
    isAtLeast(process.versions.node, 20, 19)
      ? { state: 'ok', text: `Node.js ${process.versions.node}` }
      : { state: 'wrong', text: `Node.js ${process.versions.node}: 20.19 or later is needed` },
    checkState(stateFolder(host.platform, host.env, host.home)),
    checkGit(git),
    ripgrep
      ? { state: 'ok', text: `ripgrep ${ripgrep}` }
      : {
          state: 'wrong',
          text: 'ripgrep is missing: list_files and grep will not work. Install toolcrib again, or ripgrep itself',
        },
    ...(answer?.why === undefined ? [] : [{ state: 'note' as const, text: `login shell: ${answer.why}` }]),
    { state: 'ok', text: `${installed.size} of ${facts.length} programs found (toolcrib list --all)` },
  ];
}

/** It may not be there yet; then the nearest folder above it counts. */
function checkState(folder: string | undefined): Check {
  if (folder === undefined)
    return { state: 'wrong', text: 'no state folder: HOME is not set, so nothing can be undone or trusted' };
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
    return { state: 'ok', text: `state folder ${folder}` };
  } catch {
    return { state: 'wrong', text: `state folder ${folder}: it cannot be written, so nothing can be undone` };
  }
}

/** The ripgrep that is installed with us, else the machine's own; undefined when there is neither. */
async function ripgrepOf(host: Host, path: SearchPath): Promise<string | undefined> {
  const own = await whichProgram('rg', host, path);
  return findRipgrep('installed' in own ? own.installed.program : undefined).catch(() => undefined);
}

function checkGit(git: ProgramReport | undefined): Check {
  if (!git?.installed)
    return { state: 'note', text: 'git was not found: its tools are not offered (toolcrib doctor git)' };
  const { version, path, note } = git;
  if (version === undefined) return { state: 'note', text: `git ${path}: ${note ?? 'version unknown'}` };
  // The guard before each action asks with --show-scope, which came with 2.26.
  if (isAtLeast(version, 2, 26)) return { state: 'ok', text: `git ${version} ${path}` };
  return { state: 'wrong', text: `git ${version} ${path}: 2.26 or later is needed` };
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return first > major || (first === major && second >= minor);
}

/** All about the programs a word can mean, in the catalogue or not. False when one cannot be used. */
async function showNamed(word: string, findings: Findings, world: World, style: Style): Promise<boolean> {
  const meant = catalogued(word.toLowerCase(), findings.facts);
  if (meant.length === 0) return showOther(word, findings, world, style);
  const { installed, missing, path } = findings.discovery;
  for (const { id, title, install, site } of meant) {
    const found = installed.get(id);
    world.print(`${style('bold', title)}\n`);
    if (found)
      world.print(
        table(
          rowsOf(
            found,
            findings.reports.find((report) => report.id === id),
          ),
          '  ',
        ),
      );
    else {
      const toInstall = ['to install', install[world.host.platform] ?? `see ${site}`];
      world.print(table([...rowsOfMissing(missing.get(id)?.why, path), toInstall], '  '));
    }
  }
  return meant.every(({ id }) => installed.has(id));
}

/** By id or title; else all that can be started by that name: `python3` is both Python and its pip. */
function catalogued(word: string, facts: readonly ProgramFacts[]): ProgramFacts[] {
  const named = facts.filter(({ id, title }) => id === word || title.toLowerCase() === word);
  return named.length > 0
    ? named
    : facts.filter(({ called }) => called.some((name) => name.split(' ')[0] === word));
}

async function showOther(
  name: string,
  { facts, discovery: { path } }: Findings,
  world: World,
  style: Style,
): Promise<boolean> {
  const search = await whichProgram(name, world.host, path);
  world.print(`${style('bold', name)}\n`);
  if ('installed' in search) {
    world.print(
      table(rowsOf(search.installed, { note: 'not asked for: toolcrib has no actions for it' }), '  '),
    );
    return true;
  }
  const { nearest } = await import('../core/nearest.ts');
  const similar = nearest(
    name,
    facts.flatMap(({ id, called }) => [id, ...called]),
  );
  const hint = similar === undefined ? [] : [['similar', `toolcrib doctor ${similar}`]];
  world.print(table([...rowsOfMissing(search.why, path), ...hint], '  '));
  return false;
}

function rowsOf(
  { program, leading, source, shim, others }: Installation,
  version: Pick<ProgramReport, 'version' | 'note'> | undefined,
): string[][] {
  return [
    ['started as', [program, ...leading].join(' ')],
    ['found in', source],
    ['version', version?.version ?? version?.note ?? 'unknown'],
    ...(shim === undefined ? [] : [['shim', `stands in for the real one; ${shim} decides which`]]),
    ...others.map(({ path, why }) => ['not taken', `${path}: ${why}`]),
  ];
}

const rowsOfMissing = (why: string | undefined, path: SearchPath): string[][] => [
  ['not found', why ?? ''],
  ['looked in', path.folders.map(({ folder }) => folder).join(', ')],
];
