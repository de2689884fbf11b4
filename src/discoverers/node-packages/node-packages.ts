import * as z from 'zod';
import type { Effect } from '../../core/discoverer.ts';
import { operand, on, option, words, type Params } from '../../core/parameter.ts';
import { list, name, some } from '../../core/params.ts';
import { action, family, present, type Program, type ProgramAction } from '../../core/program.ts';
import { told, type Output, type Reader } from '../../core/report.ts';
import { advisories, packages, tasks } from '../reports/kinds.ts';
import { lines } from '../reports/readers.ts';
import { bun, deno } from './runtimes.ts';
import { inspectPackage } from './project.ts';
import * as read from './readers.ts';

type Asked<T> = readonly [words: readonly string[], Reader<T>];
interface Row extends Pick<
  Program,
  'title' | 'site' | 'get' | 'called' | 'version' | 'project' | 'environment'
> {
  settings?: Readonly<Record<string, string>>;
  /** Whether looking runs code that the project names: plugins, a version of its own. */
  runsProject?: true;
  list: Asked<read.Packages>;
  why: readonly string[];
  outdated?: Asked<read.Packages>;
  audit?: readonly [...Asked<read.Advisories>, ok: readonly number[]];
  view?: readonly [...Asked<string>, fields?: readonly string[]];
  /** Its words for changing packages. */
  change: { add: string; remove: string; update: string; dev: string; exact: string };
  /** What keeps its update within the ranges, and its word for all packages. */
  within?: { option: string; all: string };
  install: { frozen: readonly string[]; usual: readonly string[] };
  quiet: readonly string[];
  /** Does not say which versions it brings. */
  saysNoVersions?: true;
  /** Options for one package of a workspace, and for all of them. */
  workspace?: { one: string; all: readonly string[] };
  task?: string;
  /** Between a script and its arguments. */
  between?: '--';
  /** Runs a program of node_modules. */
  exec?: readonly string[];
  more?: Program['actions'];
}

const named = (says: string) => ({ file: 'package.json', has: new RegExp(`"packageManager":\\s*"${says}`) });
/** Nothing that names another package manager. */
const noOther = /(?<![^])(?![^]*"packageManager":\s*"(?!npm@))/;
// npm makes the folder of its cache, which the project's .npmrc can put anywhere; this one exists.
const noCache = '--cache=.';
const npmEnvironment = ['cache', 'prefix', 'registry', 'userconfig'].flatMap((key) => [
  `npm_config_${key}`,
  `NPM_CONFIG_${key.toUpperCase()}`,
]);
const facts = [
  'name',
  'version',
  'description',
  'license',
  'homepage',
  'repository.url',
  'deprecated',
  'engines',
];
const fields = [...facts, 'dependencies', 'peerDependencies', 'dist-tags'];

const rows: Readonly<Record<string, Row>> = {
  npm: {
    title: 'npm',
    site: 'https://docs.npmjs.com/cli',
    get: { site: 'https://nodejs.org/en/download', brew: 'node', winget: 'OpenJS.NodeJS.LTS' },
    project: ['package-lock.json', 'npm-shrinkwrap.json', { file: 'package.json', has: noOther }],
    environment: npmEnvironment,
    // The environment outranks the .npmrc of a project, which could otherwise name the program that is run as git, and
    // turn every action on the machine's global packages. No log is written, and no older one deleted.
    settings: {
      npm_config_git: 'git',
      npm_config_global: 'false',
      npm_config_location: 'user',
      npm_config_logs_max: '0',
      npm_config_logs_dir: '/dev/null',
      npm_config_timing: 'false',
      npm_config_loglevel: 'notice',
      npm_config_long: 'false',
      npm_config_color: 'false',
      npm_config_update_notifier: 'false',
    },
    list: [['ls', '--json', noCache], read.tree],
    why: ['explain', noCache],
    outdated: [['outdated', '--json'], read.outdated],
    audit: [['audit', '--json'], read.npmAudit, [0, 1]],
    // In global mode npm reads no .npmrc of the project: it could send the question, and its token, elsewhere.
    view: [['view', '--json', '--global'], read.view, fields],
    change: {
      add: 'install',
      remove: 'uninstall',
      update: 'update',
      dev: '--save-dev',
      exact: '--save-exact',
    },
    install: { frozen: ['ci'], usual: ['install'] },
    // A git dependency is prepared by an npm inside npm, which Node.js starts with the `node-options` of an .npmrc.
    quiet: ['--ignore-scripts', '--node-options=--no-deprecation', '--no-audit', '--no-fund'],
    saysNoVersions: true,
    workspace: { one: '--workspace=', all: ['--workspaces', '--if-present'] },
    between: '--',
  },
  pnpm: {
    title: 'pnpm',
    site: 'https://pnpm.io/pnpm-cli',
    get: { npm: 'pnpm', brew: 'pnpm', winget: 'pnpm.pnpm' },
    project: ['pnpm-lock.yaml', 'pnpm-workspace.yaml', named('pnpm@')],
    environment: [...npmEnvironment, 'PNPM_HOME'],
    list: [['list', '--json'], read.tree],
    why: ['why'],
    outdated: [['outdated', '--format=json'], read.outdated],
    audit: [['audit', '--json'], read.pnpmAudit, [0, 1]],
    view: [['view', '--json'], read.view],
    change: { add: 'add', remove: 'remove', update: 'update', dev: '--save-dev', exact: '--save-exact' },
    install: { frozen: ['install', '--frozen-lockfile'], usual: ['install', '--no-frozen-lockfile'] },
    quiet: ['--ignore-scripts'],
    workspace: { one: '--filter=', all: ['--recursive'] },
    exec: ['exec'],
  },
  yarn1: {
    title: 'Yarn 1',
    called: ['yarn'],
    version: { args: ['--version'], pattern: /^(1\.\S+)/ },
    site: 'https://classic.yarnpkg.com/en/docs/cli',
    get: { npm: 'yarn@1', brew: 'yarn', winget: 'Yarn.Yarn' },
    project: [{ file: 'yarn.lock', has: /\n# yarn lockfile v1/ }, named('yarn@1')],
    // A project's .yarnrc can name another program to be run in its place.
    settings: { YARN_IGNORE_PATH: '1' },
    list: [['list', '--json', '--depth=0'], read.yarn1List],
    why: ['why'],
    outdated: [['outdated', '--json'], read.yarn1Outdated],
    // Its exit code is a sum: 1 for the least severity, 16 for the worst.
    audit: [['audit', '--json'], read.yarn1Audit, Array.from({ length: 32 }, (_, code) => code)],
    view: [['info', '--json'], read.yarn1View],
    change: { add: 'add', remove: 'remove', update: 'upgrade', dev: '--dev', exact: '--exact' },
    install: { frozen: ['install', '--frozen-lockfile'], usual: ['install'] },
    quiet: ['--ignore-scripts', '--non-interactive'],
    between: '--',
  },
  yarn: {
    title: 'Yarn',
    site: 'https://yarnpkg.com/cli',
    get: { site: 'https://yarnpkg.com/getting-started/install', npm: '@yarnpkg/cli-dist' },
    project: ['.yarnrc.yml', { file: 'yarn.lock', has: /\n__metadata:/ }, named('yarn@[2-9]')],
    runsProject: true,
    list: [['info', '--json'], read.yarnList],
    why: ['why'],
    audit: [['npm', 'audit', '--json', '--recursive'], read.yarnAudit, [0, 1]],
    view: [['npm', 'info', '--json'], read.view],
    change: { add: 'add', remove: 'remove', update: 'up', dev: '--dev', exact: '--exact' },
    within: { option: '--recursive', all: '*' },
    install: { frozen: ['install', '--immutable'], usual: ['install', '--no-immutable'] },
    quiet: ['--mode=skip-build'],
    exec: ['exec'],
  },
  bun: {
    title: 'Bun',
    site: 'https://bun.com/docs/cli/install',
    get: { npm: 'bun', brew: 'oven-sh/bun/bun', winget: 'Oven-sh.Bun' },
    project: ['bun.lock', 'bun.lockb', 'bunfig.toml', named('bun@')],
    list: [['pm', 'ls'], lines(/^[├└]── (?<spec>\S+@\S+)$/, ({ spec = '' }) => read.versioned(spec))],
    why: ['why'],
    outdated: [['outdated'], read.tabled],
    audit: [['audit', '--json'], read.bunAudit, [0, 1]],
    view: [['info', '--json'], read.view],
    change: { add: 'add', remove: 'remove', update: 'update', dev: '--dev', exact: '--exact' },
    install: { frozen: ['install', '--frozen-lockfile'], usual: ['install'] },
    quiet: ['--ignore-scripts'],
    exec: ['x', '--no-install'],
    more: bun,
  },
  deno: {
    title: 'Deno',
    site: 'https://docs.deno.com/runtime/reference/cli',
    get: { npm: 'deno', brew: 'deno', winget: 'DenoLand.Deno' },
    project: ['deno.json', 'deno.jsonc', 'deno.lock'],
    settings: { DENO_NO_UPDATE_CHECK: '1', DENO_NO_PROMPT: '1' },
    list: [['list'], read.denoList],
    why: ['why'],
    outdated: [['outdated'], read.tabled],
    change: { add: 'add', remove: 'remove', update: 'update', dev: '--dev', exact: '--save-exact' },
    install: { frozen: ['install', '--frozen'], usual: ['install'] },
    quiet: [],
    task: 'task',
    more: deno,
  },
};

// npm-package-arg takes what looks like an archive, with or without a version behind it, for a file of the folder.
const isArchive = /\.(?:tgz|tar|tar\.gz)(?:@|$)/i;
const start = String.raw`^(?:(?:npm|jsr):)?(?:@[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*`;
const packageText = (version: string, says: string) =>
  z
    .string()
    .max(300)
    .regex(new RegExp(`${start}${version}$`), `expected ${says}`)
    .refine((spec) => !isArchive.test(spec), 'expected a package of the registry, not an archive')
    .describe(`Package: ${says}`);
const exactly = packageText('', 'name or @scope/name');
// Half a version would be a range, and match several.
const pinned = packageText(
  String.raw`(?:@(?:\d+\.\d+\.\d+[\w.+-]*|[A-Za-z][\w.-]*))?`,
  'name, name@1.2.3, name@tag',
);
const ranged = packageText(
  String.raw`(?:@[\^~]?[A-Za-z0-9][\w.+-]*)?`,
  'name, name@1.2.3, name@^1.2, name@tag; no URL',
);

/** Titles and descriptions; `#` is the package manager. */
const texts = {
  list: ['List # packages', 'Installed packages, and what is wrong with them.'],
  why: ['Why # installed a package', 'What depends on a package, and in which versions.'],
  outdated: ['List outdated # packages', 'Direct dependencies with newer versions in the registry.'],
  audit: ['Audit # packages', 'Known vulnerabilities of the locked packages, asked of the registry.'],
  view: ['Look up a package with #', 'Versions, licence, dependencies of a package in the registry.'],
  install: ['Install with #', 'Installs what the project needs, without scripts of packages.'],
  add: ['Add # packages', 'Adds packages of the registry, without running their scripts.'],
  remove: ['Remove # packages', 'Removes packages from the project.'],
  update: ['Update # packages', 'Updates packages within their ranges.'],
  scripts: ['List # scripts', 'Scripts, engines, workspaces and package manager of the package.json.'],
  run: ['Run a # script', 'Runs a script of the package.json.'],
  exec: ['Run an installed program with #', 'Runs a program of node_modules; fetches nothing.'],
  test: ['Run the # test script', 'Runs the test script of the package.json.'],
} as const;
const act = <const P extends Params = Record<never, never>>(
  { title }: Row,
  key: keyof typeof texts,
  effects: readonly Effect[],
  spec: Parameters<typeof action<P>>[3],
) => action<P>(texts[key][0].replace('#', title), texts[key][1], effects, spec);
const ifAny = <T, R>(value: T | undefined, make: (value: T) => R) => value && make(value);

const scope = ({ workspace }: Row) =>
  workspace && { workspace: option(workspace.one, name('Only this package of the workspace')) };
const everywhere = ({ workspace }: Row) =>
  workspace && { workspaces: on(workspace.all, 'In all packages of the workspace') };

function looking(row: Row): Record<string, ProgramAction | undefined> {
  const [run, reader] = row.list;
  const looks: readonly Effect[] = [row.runsProject ? 'execute' : 'read'];
  const asks: readonly Effect[] = [...looks, 'network'];
  const within = { ...scope(row), ...everywhere(row) };
  const levels = z.int().min(0).max(20).default(0).describe('Levels below the direct ones');
  const depth = option('--depth=', levels);
  const params = { ...(reader === read.tree && { depth }), ...within };
  const [whichOne, given] = [{ package: operand(exactly) }, { package: 'semver' }];
  return {
    list: act(row, 'list', looks, { role: 'list', run, params, ok: [0, 1], out: packages(reader) }),
    why: act(row, 'why', looks, {
      ...{ role: 'why', run: row.why, params: whichOne, given, dashes: false, out: told(read.why) },
    }),
    outdated: ifAny(row.outdated, ([run, newer]) =>
      act(row, 'outdated', asks, { role: 'outdated', run, params: within, ok: [0, 1], out: packages(newer) }),
    ),
    audit: ifAny(row.audit, ([run, found, ok]) =>
      act(row, 'audit', asks, { role: 'audit', run, ok, out: advisories(found) }),
    ),
    view: ifAny(row.view, ([before, described, after = []]) =>
      act(row, 'view', asks, {
        run: ({ package: name }) => [...before, name, ...after],
        params: { package: operand(pinned) },
        given: { package: 'react@latest' },
        ok: [0, 1],
        out: told(described),
      }),
    ),
  };
}

/** What it said, and which versions of the packages are there now. */
const nowThere =
  (list: Reader<read.Packages>) =>
  (output: Output): string => {
    const asked = (output.values['packages'] as string[]).map((spec) => spec.replace(/(.)@.*/, '$1'));
    const found = list({ ...output, stdout: output.after['now'] ?? '' })
      .filter((one) => asked.length === 0 || asked.includes(one.name))
      .map((one) => `${one.name} ${one.version ?? one.problem}`);
    return [output.stdout.trim(), output.stderr.trim(), ...found].filter(Boolean).join('\n');
  };

function changing(row: Row): Record<string, ProgramAction> {
  const { change, quiet, install, within } = row;
  const [ls, listed] = row.list;
  // Hooks of the project's own are run: of pnpm and Yarn always, of npm before 11 for a git dependency.
  const effects = ['write', 'execute', 'network'] as const;
  const saying = row.saysNoVersions && { after: { now: () => ls }, out: told(nowThere(listed)) };
  const frozen = on(install.frozen, 'Exactly what the lock file says', install.usual);
  const adds = {
    ...scope(row),
    dev: on(change.dev, 'For development only'),
    exact: on(change.exact, 'Exactly this version, no range'),
    packages: operand(some(ranged, 'Packages to add')),
  };
  const removes = { ...scope(row), packages: operand(some(exactly, 'Packages to remove')) };
  const which = list(exactly, 'Only these; none: all').default(within ? [within.all] : []);
  const updates = { ...scope(row), packages: operand(which) };
  const given = { packages: ['semver'] };
  const dashes = false;
  return {
    install: act(row, 'install', effects, {
      role: 'install',
      run: ({ frozen: how }) => [how, ...quiet],
      params: { frozen },
      given: { frozen: true },
    }),
    add: act(row, 'add', effects, {
      ...{ role: 'add', run: [change.add, ...quiet], params: adds, dashes, ...saying },
      given: { packages: ['vitest@^4.0.0'], dev: true },
    }),
    [change.remove]: act(row, 'remove', effects, {
      ...{ role: 'remove', run: [change.remove, ...quiet], params: removes, given, dashes },
    }),
    [change.update]: act(row, 'update', effects, {
      run: [change.update, ...(within ? [within.option] : []), ...quiet],
      ...{ role: 'update', params: updates, given, dashes, ...saying },
    }),
  };
}

function running(row: Row): Record<string, ProgramAction | undefined> {
  const { task = 'run', between, more } = row;
  const gap = between ? [between] : [];
  const args = words('Arguments of the script');
  const reads = task === 'task' ? ['deno.json', 'deno.jsonc', 'package.json'] : ['package.json'];
  return {
    // Asking a program would obey the project's settings.
    scripts: act(row, 'scripts', ['read'], { role: 'tasks', reads, out: tasks(read.scripts) }),
    [task]: act(row, 'run', ['execute'], {
      role: 'task',
      run: ({ workspace, workspaces, task: script, args: rest }) =>
        [task, workspace, workspaces, script, ...gap, rest].filter((piece) => piece !== undefined),
      params: { ...scope(row), ...everywhere(row), task: operand(name('Script')), args },
      given: { task: 'build', args: ['--watch=false'] },
    }),
    exec: ifAny(row.exec, (before) =>
      act(row, 'exec', ['execute'], {
        run: ({ program, args: rest }) => [...before, program, rest],
        params: { program: operand(name('Program')), args: words('Its arguments') },
        given: { program: 'tsc', args: ['--noEmit'] },
      }),
    ),
    test: act(row, 'test', ['execute'], {
      run: ({ args: rest }) => ['test', ...gap, rest],
      params: { args },
      given: { args: ['test/cart.test.js'] },
    }),
    ...more,
  };
}

/** The same action of another package manager. */
function actionOf(other: string, { change }: Row, key: string): string | undefined {
  const found = rows[other];
  const verb = { [change.remove]: found?.change.remove, [change.update]: found?.change.update }[key] ?? key;
  return found && (verb in found || !['outdated', 'audit'].includes(verb)) ? `${other}_${verb}` : undefined;
}

const hints: NonNullable<Program['hints']> = [
  {
    says: /(?:Missing|Couldn't find a) script|Command "\S+" not found|(?:Script|Task) not found/i,
    wayOut:
      'The action "scripts" lists the scripts there are; of programs, only those that are installed are run.',
  },
  {
    says: /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ConnectionRefused/,
    wayOut: 'The registry cannot be reached from here.',
  },
];

export default family(rows, (row, id) => {
  const { title, site, get, called, version, project, environment = [] } = row;
  return {
    title,
    category: 'package-manager',
    site,
    get,
    ...(called && { called }),
    ...(version && { version }),
    ...(project && { project }),
    environment: ['NODE_ENV', 'NODE_EXTRA_CA_CERTS', ...environment],
    settings: {
      NO_COLOR: '1',
      // What a project says to Corepack would be obeyed before its package manager starts.
      COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
      COREPACK_ENV_FILE: '0',
      ...row.settings,
    },
    inspect: (look, situation) => {
      const { action: key } = situation;
      const isAnyones = ['run', 'exec', 'test'].includes(key);
      // Looking up, and what a runtime does, needs no package.
      const isFree = key === 'view' || row.more?.[key] !== undefined;
      const by = (other: string) => actionOf(other, row, key);
      return inspectPackage(look, situation, {
        id,
        isFree,
        isAnyones,
        isRemoval: key === row.change.remove,
        by,
      });
    },
    hints,
    actions: present({ ...looking(row), ...changing(row), ...running(row) }),
  };
});
