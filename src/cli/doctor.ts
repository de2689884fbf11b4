import { discover, whichProgram } from '../machine/discovery.ts';
import { cacheFolder } from '../machine/folders.ts';
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
    const sound = await Promise.all(positionals.map((name) => showProgram(name, findings, world, style)));
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
  const ripgrep = (await bundledRipgrep()) ?? (await whichProgram('rg', host, path));
  return [
    isAtLeast(process.versions.node, 20, 19)
      ? { state: 'ok', text: `Node.js ${process.versions.node}` }
      : { state: 'wrong', text: `Node.js ${process.versions.node}: 20.19 or later is needed` },
    checkGit(git, gitVersion),
    typeof ripgrep === 'string' || 'installed' in ripgrep
      ? { state: 'ok', text: `ripgrep ${typeof ripgrep === 'string' ? ripgrep : ripgrep.installed.program}` }
      : {
          state: 'wrong',
          text: 'ripgrep is missing: glob and grep will not work. Install toolcrib again, or ripgrep itself',
        },
    ...(answer?.why === undefined ? [] : [{ state: 'note' as const, text: `login shell: ${answer.why}` }]),
    { state: 'ok', text: `${installed.size} of ${facts.length} programs found (toolcrib list --all)` },
  ];
}

function checkGit(git: Installation | undefined, found: Version | undefined): Check {
  if (!git)
    return { state: 'note', text: 'git was not found: its tools are not offered (toolcrib doctor git)' };
  const { version, note } = found ?? {};
  if (version === undefined)
    return { state: 'note', text: `git ${git.program}: ${note ?? 'version unknown'}` };
  // --end-of-options came with 2.24, the protections our calls rely on with 2.26.
  if (isAtLeast(version, 2, 26)) return { state: 'ok', text: `git ${version} ${git.program}` };
  return { state: 'wrong', text: `git ${version} ${git.program}: 2.26 or later is needed` };
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return first > major || (first === major && second >= minor);
}

/** The ripgrep that is installed with us. */
async function bundledRipgrep(): Promise<string | undefined> {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    return rgPath;
  } catch {
    // It throws where there is no build for the platform, or optional dependencies were left out.
    return undefined;
  }
}

/** All about one program, whether it is in the catalogue or not. False when it cannot be used. */
async function showProgram(name: string, findings: Findings, world: World, style: Style): Promise<boolean> {
  const { facts, path } = findings;
  const wanted = name.toLowerCase();
  const program =
    facts.find(({ id, title }) => id === wanted || title.toLowerCase() === wanted) ??
    facts.find(({ programs }) => programs.some((candidate) => candidate.toLowerCase() === wanted));
  world.print(`${style('bold', program?.title ?? name)}\n`);

  const { host } = world;
  const discovery = program && (await discover([program], host, path));
  const search = program ? undefined : await whichProgram(name, host, path);
  const found =
    discovery?.installed.get(program?.id ?? '') ??
    (search && 'installed' in search ? search.installed : undefined);
  if (found) {
    const version = (await findings.versionsOf([found])).get(found.id);
    world.print(table(rowsOf(found, version), '  '));
    return true;
  }
  const why = discovery?.missing.get(program?.id ?? '')?.why ?? (search && 'why' in search ? search.why : '');
  const install = program && (program.install[host.platform] ?? `see ${program.homepage}`);
  const similar = program ? undefined : await similarTo(name, facts);
  world.print(
    table(
      [
        ['not found', why],
        ...(install === undefined ? [] : [['to install', install]]),
        ...(similar === undefined ? [] : [['similar', `toolcrib doctor ${similar}`]]),
        ['looked in', path.folders.map(({ folder }) => folder).join(', ')],
      ],
      '  ',
    ),
  );
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

async function similarTo(name: string, facts: readonly ProgramFacts[]): Promise<string | undefined> {
  const { nearest } = await import('../core/check-params.ts');
  return nearest(
    name,
    facts.flatMap(({ id, programs }) => [id, ...programs]),
  );
}
