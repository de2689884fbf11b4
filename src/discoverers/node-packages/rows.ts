import type { Program, Reader } from '../../core/grammar.ts';
import { lines } from '../reports/readers.ts';
import { bun, deno } from './runtimes.ts';
import * as read from './readers.ts';

type ReadLine<T> = readonly [words: readonly string[], Reader<T>];
/** The words and readers of one package manager. */
export interface PackageManagerRow extends Pick<
  Program,
  'title' | 'site' | 'get' | 'called' | 'version' | 'project' | 'environment'
> {
  settings?: Readonly<Record<string, string>>;
  /** Looking runs code that the project names: plugins, a version of its own. */
  runsProject?: true;
  list: ReadLine<read.PackageList>;
  why: readonly string[];
  outdated?: ReadLine<read.PackageList>;
  audit?: ReadLine<read.AdvisoryList>;
  view?: readonly [words: readonly string[], fields?: readonly string[]];
  /** Its words for changing packages. */
  add: string;
  remove: string;
  update: string;
  /** Its option for development only. */
  dev: string;
  /** The option that keeps its update within the ranges, and its word for all packages. */
  within?: { option: string; all: string };
  install: { frozen: readonly string[]; usual: readonly string[] };
  quiet: readonly string[];
  /** Lines of what it says about a change that nobody needs: how far it is. */
  noise?: RegExp;
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
  /** Its other program, which runs one that is installed. */
  launcher?: string;
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
const facts = ['name', 'version', 'description', 'license', 'homepage', 'deprecated', 'engines'];
const fields = [...facts, 'dependencies', 'peerDependencies', 'dist-tags'];

/** The package managers, by id. */
export const rows: Readonly<Record<string, PackageManagerRow>> = {
  npm: {
    title: 'npm',
    launcher: 'npx',
    site: 'https://docs.npmjs.com/cli',
    get: { site: 'https://nodejs.org/en/download', brew: 'node', winget: 'OpenJS.NodeJS.LTS' },
    project: ['package-lock.json', 'npm-shrinkwrap.json', { file: 'package.json', has: noOther }],
    environment: npmEnvironment,
    // The environment outranks the .npmrc of a project, which could otherwise name the program that is run as
    // git, and turn every action on the machine's global packages. No log is written, and no older one
    // deleted.
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
    audit: [['audit', '--json'], read.npmAudit],
    // In global mode npm reads no .npmrc of the project: it could send the question, and its token,
    // elsewhere.
    view: [['view', '--json', '--global'], fields],
    add: 'install',
    remove: 'uninstall',
    update: 'update',
    dev: '--save-dev',
    install: { frozen: ['ci'], usual: ['install'] },
    // A git dependency is prepared by an npm inside npm, which Node.js starts with the `node-options` of an
    // .npmrc.
    quiet: ['--ignore-scripts', '--node-options=--no-deprecation', '--no-audit', '--no-fund'],
    saysNoVersions: true,
    // It asks, and fetches, when a program is not there.
    exec: ['exec', '--no', '--offline', '--'],
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
    audit: [['audit', '--json'], read.pnpmAudit],
    view: [['view', '--json']],
    add: 'add',
    remove: 'remove',
    update: 'update',
    dev: '--save-dev',
    install: { frozen: ['install', '--frozen-lockfile'], usual: ['install', '--no-frozen-lockfile'] },
    quiet: ['--ignore-scripts'],
    noise: /^(?:Progress: .*|\++)$/,
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
    add: 'add',
    remove: 'remove',
    update: 'upgrade',
    dev: '--dev',
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
    view: [['npm', 'info', '--json']],
    add: 'add',
    remove: 'remove',
    update: 'up',
    dev: '--dev',
    within: { option: '--recursive', all: '*' },
    install: { frozen: ['install', '--immutable'], usual: ['install', '--no-immutable'] },
    quiet: ['--mode=skip-build'],
    exec: ['exec'],
  },
  bun: {
    title: 'Bun',
    launcher: 'bunx',
    site: 'https://bun.com/docs/cli/install',
    get: { npm: 'bun', brew: 'oven-sh/bun/bun', winget: 'Oven-sh.Bun' },
    project: ['bun.lock', 'bun.lockb', 'bunfig.toml', named('bun@')],
    list: [['pm', 'ls'], lines(/^[├└]── (?<spec>\S+@\S+)$/, ({ spec = '' }) => read.versioned(spec))],
    why: ['why'],
    outdated: [['outdated'], read.tabled],
    audit: [['audit', '--json'], read.bunAudit],
    view: [['info', '--json']],
    add: 'add',
    remove: 'remove',
    update: 'update',
    dev: '--dev',
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
    add: 'add',
    remove: 'remove',
    update: 'update',
    dev: '--dev',
    install: { frozen: ['install', '--frozen'], usual: ['install'] },
    quiet: [],
    task: 'task',
    more: deno,
  },
};
