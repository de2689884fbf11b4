import { nearest } from '../core/nearest.ts';
import { userFolder, unkeptState } from '../machine/user-folders.ts';
import type { Environment } from '../machine/environment.ts';
import { sanitize } from '../machine/sanitize.ts';
import type { ProgramFacts } from '../machine/programs/installation.ts';
import { loginsOf, type Login } from '../machine/databases/logins.ts';
import { findRipgrep } from '../machine/programs/find-ripgrep.ts';
import { cachedLoginShellPath, loginShellOf } from '../machine/programs/login-shell.ts';
import type { ProgramReport } from '../machine/programs/machine-report.ts';
import { stateFolder } from '../store/own-files.ts';
import { version } from '../machine/version.ts';
import { checkHosts } from './doctor-hosts.ts';
import { settingsInForce } from './doctor-settings.ts';
import { machineHere } from './machine-here.ts';
import { print, style, table } from './print.ts';
import { parseCommandLine, UsageError } from './usage.ts';

const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const;

interface Check {
  readonly state: keyof typeof colours;
  readonly text: string;
}

const ok = (text: string): Check => ({ state: 'ok', text });
const note = (text: string): Check => ({ state: 'note', text });
const wrong = (text: string): Check => ({ state: 'wrong', text });

/**
 * Runs `toolcrib doctor [program]`: shows how programs are found, what hosts start, and what is wrong. Exit
 * code 1 when something is wrong. With --json it prints the same for programs.
 */
export async function doctor(args: string[]): Promise<number> {
  const options = { json: { type: 'boolean' } } as const;
  const { values, positionals } = parseCommandLine({ args, options, allowPositionals: true });
  if (values.json && positionals.length > 0)
    throw new UsageError('doctor: --json is for all of it; toolcrib list --json has each program.');
  const environment = await machineHere();
  const { catalogue, problems, roots } = environment;
  const reports = await environment.report();
  if (positionals.length > 0) return aboutPrograms(positionals, catalogue.programs, reports, environment);
  const { platform, env, home } = environment.host;
  const { path } = await environment.discovery();
  const shell = await cachedLoginShellPath(environment.host, userFolder('cache', environment.host));
  const settings = await settingsInForce(environment.host, await roots);
  const hosts = await checkHosts(environment.host);
  const logins = await loginsOf({ environment, settings: { databases: settings.databases ?? {} } });
  const checks: Check[] = [
    ...(await checksOf(reports, environment)),
    ...(shell?.why === undefined ? [] : [note(`login shell: ${shell.why}`)]),
    ...logins.map(checkLogin),
    ...hosts.map(({ host, state, says, file }) => ({
      state,
      text: sanitize(state === 'ok' ? `${host}: ${says}` : `${host}: ${file}: ${says}`),
    })),
    ...[...settings.wrong, ...problems].map((text) => wrong(sanitize(text))),
  ];
  const isSound = checks.every(({ state }) => state !== 'wrong');
  const exitCode = isSound ? 0 : 1;
  if (values.json) {
    const versions = { toolcrib: version, node: process.versions.node, platform };
    const all = { isSound, versions, state: stateFolder(platform, env, home), path, hosts, checks };
    print(`${JSON.stringify(all, null, 2)}\n`);
    return exitCode;
  }
  section('Search path', path.folders.map(rowOf));
  if (path.skipped.length > 0) section('Left out', path.skipped.map(rowOf));
  section('Login shell', [
    [shell ? (shell.why ?? `${loginShellOf(environment.host)}: told its PATH`) : 'none'],
  ]);
  section('Settings', settings.rows);
  print(`\n${style('bold', 'Checks')}\n`);
  for (const { state, text } of checks) print(`  ${style(colours[state], state.padEnd(5))}  ${text}\n`);
  return exitCode;
}

const section = (title: string, rows: readonly (readonly string[])[]): 0 =>
  print(`\n${style('bold', title)}\n${table(rows, '  ')}`);

const rowOf = ({ folder, source, why = '' }: { folder: string; source: string; why?: string }) => [
  folder || '""',
  source,
  why,
];

async function checksOf(reports: readonly ProgramReport[], environment: Environment): Promise<Check[]> {
  const { node } = process.versions;
  // The ripgrep that is installed with us, otherwise the machine's own.
  const ripgrep = await findRipgrep(await environment.which('rg')).catch(() => undefined);
  const count = reports.filter(({ installed }) => installed).length;
  return [
    ok(`toolcrib ${version}`),
    isAtLeast(node, 20, 19) ? ok(`Node.js ${node}`) : wrong(`Node.js ${node}: 20.19 or later is needed`),
    checkState(environment.host),
    checkGit(reports.find(({ id }) => id === 'git')),
    ripgrep === undefined
      ? wrong('ripgrep is missing: list_files and grep will not work. Install toolcrib again')
      : ok(`ripgrep ${ripgrep}`),
    ok(`${count} of ${reports.length} programs found (toolcrib list --all)`),
  ];
}

function checkLogin({ name, database, beyond, failure }: Login): Check {
  const subject = sanitize(database === undefined ? `database ${name}` : `database ${name} (${database})`);
  if (failure !== undefined) return note(`${subject}: ${sanitize(failure)}`);
  if (beyond === undefined) return ok(`${subject}: queries cannot change it`);
  const why = `this login ${beyond}, which no read-only transaction keeps it from`;
  return note(`${subject}: ${why}. Reading is asked about once; a login that only reads is not asked about`);
}

function checkState(host: Environment['host']): Check {
  const unkept = unkeptState(host);
  if (unkept !== undefined) return wrong(`state folder: ${unkept}`);
  return ok(`state folder ${stateFolder(host.platform, host.env, host.home)}`);
}

function checkGit(git: ProgramReport | undefined): Check {
  if (!git?.installed) return note('git was not found: its tools are not offered (toolcrib doctor git)');
  const { version: gitVersion, path } = git;
  if (gitVersion === undefined) return note(`git ${path}: ${git.note ?? 'version unknown'}`);
  // The guard before each action uses --show-scope, which came with 2.26.
  return isAtLeast(gitVersion, 2, 26)
    ? ok(`git ${gitVersion} ${path}`)
    : wrong(`git ${gitVersion} ${path}: 2.26 or later is needed`);
}

function isAtLeast(text: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = text.split('.').map((part) => Number.parseInt(part, 10));
  return first > major || (first === major && second >= minor);
}

/**
 * Shows all about the programs that a word can mean: by id or title, otherwise by the program that is started
 * (`python3` is Python and pip).
 */
async function aboutPrograms(
  words: readonly string[],
  programs: readonly ProgramFacts[],
  reports: readonly ProgramReport[],
  environment: Environment,
): Promise<number> {
  const { folders } = (await environment.discovery()).path;
  const searched = ['looked in', folders.map(({ folder }) => folder).join(', ')];
  let exitCode = 0;
  const show = (title: string, rows: string[][]) => print(`${style('bold', title)}\n${table(rows, '  ')}`);
  const missing = (title: string, why: string, wayOut: string[]) => {
    exitCode = 1;
    show(title, [['not found', why], searched, wayOut]);
  };
  for (const word of words) {
    const small = word.toLowerCase();
    const exact = programs.filter(({ id, title }) => id === small || title.toLowerCase() === small);
    const called = programs.filter((program) => program.called.some((name) => name.split(' ')[0] === small));
    const ids = (exact.length > 0 ? exact : called).map(({ id }) => id);
    for (const report of reports.filter(({ id }) => ids.includes(id)))
      if (report.installed) show(report.title, factsOf(report));
      else missing(report.title, report.why ?? '', ['to install', report.install ?? '']);
    if (ids.length > 0) continue;
    const path = await environment.which(word);
    const similar = nearest(word, [
      ...programs.map(({ id }) => id),
      ...programs.flatMap((program) => program.called),
    ]);
    const hint = similar === undefined ? [] : ['similar', `toolcrib doctor ${similar}`];
    if (path === undefined) missing(word, `no ${word} in ${folders.length} folders`, hint);
    else show(word, factsOf({ path, note: 'not asked for: toolcrib has no actions for it' }));
  }
  return exitCode;
}

const factsOf = ({ path = '', source, version: found, note: why, others = [] }: Partial<ProgramReport>) => [
  ['started as', path],
  ...(source === undefined ? [] : [['found in', source]]),
  ['version', found ?? why ?? 'unknown'],
  ...others.map((other) => ['not taken', `${other.path}: ${other.why}`]),
];
