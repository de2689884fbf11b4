import { discover, whichProgram } from '../machine/discovery.ts';
import { findRipgrep } from '../machine/find-ripgrep.ts';
import { cacheFolder } from '../machine/folders.ts';
import type { Host } from '../machine/host.ts';
import type { Installation, ProgramFacts, SearchPath, Version } from '../machine/installation.ts';
import {
  askLoginShell,
  cachedLoginShellPath,
  loginShellOf,
  type LoginShellAnswer,
} from '../machine/login-shell.ts';
import { searchPath } from '../machine/search-path.ts';
import { createVersionProbe } from '../machine/version-probe.ts';
import { styler, table, type Style } from './table.ts';
import { thisWorld, type World } from './this-world.ts';
import { parseCommandLine } from './usage.ts';

interface Findings {
  readonly facts: readonly ProgramFacts[];
  readonly shell: string | undefined;
  readonly answer: LoginShellAnswer | undefined;
  readonly path: SearchPath;
  versionsOf(found: Iterable<Installation>): Promise<Map<string, Version>>;
}

/** `toolcrib doctor [program]`: how programs are looked for, and what is wrong; exit code 1 when something is. */
export async function doctor(args: string[], given = thisWorld()): Promise<number> {
  const { positionals } = parseCommandLine({ args, options: {}, allowPositionals: true });
  const world = await given;
  const findings = await examine(world);
  const style = styler(world.colour);
  if (positionals.length > 0) {
    const sound = await Promise.all(positionals.map((name) => showNamed(name, findings, world, style)));
    return sound.every(Boolean) ? 0 : 1;
  }
  showPath(findings, world, style);
  const checks = await check(findings, world);
  const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const;
  world.print(`\n${style('bold', 'Checks')}\n`);
  for (const { state, text } of checks) world.print(`  ${style(colours[state], state.padEnd(5))}  ${text}\n`);
  return checks.some(({ state }) => state === 'wrong') ? 1 : 0;
}

async function examine({ host, processes, loadManifest }: World): Promise<Findings> {
  const { programs } = await loadManifest();
  const cache = cacheFolder(host.platform, host.env, host.home);
  const kept = await cachedLoginShellPath(host, cache);
  const answer = kept?.fresh ? kept : await askLoginShell(host, processes.run, cache);
  const path = await searchPath(host, answer);
  const probe = createVersionProbe({ run: processes.run, host, cacheFolder: cache, path });
  return {
    facts: programs,
    shell: loginShellOf(host),
    answer,
    path,
    versionsOf: (found) => probe.versionsOf(found, programs),
  };
}

function showPath({ path, shell, answer }: Findings, { print }: World, style: Style): void {
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
  const asked = `asked ${ago(Date.now() - answer.askedAt)}`;
  return answer.why === undefined ? `${shell}: told its PATH (${asked})` : `${answer.why} (${asked})`;
}

function ago(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return 'just now';
  return minutes < 120 ? `${minutes} minutes ago` : `${Math.round(minutes / 60)} hours ago`;
}

interface Check {
  readonly state: 'ok' | 'note' | 'wrong';
  readonly text: string;
}

async function check(findings: Findings, { host }: World): Promise<Check[]> {
  const { facts, path, answer } = findings;
  const { installed } = await discover(facts, host, path);
  const git = installed.get('git');
  const gitVersion = git && (await findings.versionsOf([git])).get('git');
  const ripgrep = await ripgrepOf(host, path);
  return [
    isAtLeast(process.versions.node, 20, 19)
      ? { state: 'ok', text: `Node.js ${process.versions.node}` }
      : { state: 'wrong', text: `Node.js ${process.versions.node}: 20.19 or later is needed` },
    checkGit(git, gitVersion),
    ripgrep
      ? { state: 'ok', text: `ripgrep ${ripgrep}` }
      : {
          state: 'wrong',
          text: 'ripgrep is missing: glob and grep will not work. Install toolcrib again, or ripgrep itself',
        },
    ...(answer?.why === undefined ? [] : [{ state: 'note' as const, text: `login shell: ${answer.why}` }]),
    { state: 'ok', text: `${installed.size} of ${facts.length} programs found (toolcrib list --all)` },
  ];
}

/** The ripgrep that is installed with us, else the machine's own; undefined when there is neither. */
async function ripgrepOf(host: Host, path: SearchPath): Promise<string | undefined> {
  const own = await whichProgram('rg', host, path);
  return findRipgrep('installed' in own ? own.installed.program : undefined).catch(() => undefined);
}

function checkGit(git: Installation | undefined, found: Version | undefined): Check {
  if (!git)
    return { state: 'note', text: 'git was not found: its tools are not offered (toolcrib doctor git)' };
  const { version, note } = found ?? {};
  if (version === undefined)
    return { state: 'note', text: `git ${git.program}: ${note ?? 'version unknown'}` };
  // The guard before each action asks with --show-scope, which came with 2.26.
  if (isAtLeast(version, 2, 26)) return { state: 'ok', text: `git ${version} ${git.program}` };
  return { state: 'wrong', text: `git ${version} ${git.program}: 2.26 or later is needed` };
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return first > major || (first === major && second >= minor);
}

/** All about the programs a word can mean, in the catalogue or not. False when one cannot be used. */
async function showNamed(word: string, findings: Findings, world: World, style: Style): Promise<boolean> {
  const meant = catalogued(word.toLowerCase(), findings.facts);
  if (meant.length === 0) return showOther(word, findings, world, style);
  const { installed, missing } = await discover(meant, world.host, findings.path);
  const versions = await findings.versionsOf(installed.values());
  for (const { id, title, install, homepage } of meant) {
    const found = installed.get(id);
    world.print(`${style('bold', title)}\n`);
    if (found) world.print(table(rowsOf(found, versions.get(id)), '  '));
    else {
      const toInstall = ['to install', install[world.host.platform] ?? `see ${homepage}`];
      world.print(table([...rowsOfMissing(missing.get(id)?.why, findings.path), toInstall], '  '));
    }
  }
  return missing.size === 0;
}

/** By id or title; else all that can be started by that name: `python3` is both Python and its pip. */
function catalogued(word: string, facts: readonly ProgramFacts[]): ProgramFacts[] {
  const named = facts.filter(({ id, title }) => id === word || title.toLowerCase() === word);
  return named.length > 0 ? named : facts.filter(({ programs }) => programs.includes(word));
}

async function showOther(
  name: string,
  { facts, path }: Findings,
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
  const { nearest } = await import('../core/check-params.ts');
  const similar = nearest(
    name,
    facts.flatMap(({ id, programs }) => [id, ...programs]),
  );
  const hint = similar === undefined ? [] : [['similar', `toolcrib doctor ${similar}`]];
  world.print(table([...rowsOfMissing(search.why, path), ...hint], '  '));
  return false;
}

function rowsOf(
  { program, leading, source, shim, others }: Installation,
  version: Version | undefined,
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
