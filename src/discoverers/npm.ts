import * as z from 'zod';
import { defineDiscoverer, type Inspection, type Look, type Situation } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { flag, list, name } from '../core/params.ts';
import {
  auditResult,
  describePackage,
  describePublished,
  listOutdated,
  listPackages,
  listResult,
  listVulnerabilities,
  outdatedResult,
  packageResult,
  viewResult,
} from './npm-output.ts';
import { upwards } from '../core/upwards.ts';

// npm-package-arg takes what looks like an archive, with or without a version behind it, for a file of the folder.
const isArchive = /\.(?:tgz|tar|tar\.gz)(?:@|$)/i;
const fromRegistry = (pattern: RegExp, expected: string, description: string) =>
  z
    .string()
    .max(300)
    .regex(pattern, expected)
    .refine((spec) => !isArchive.test(spec), 'expected a package of the registry, not an archive')
    .describe(description);

const packageName = fromRegistry(
  /^(?:@[A-Za-z0-9][\w.-]*\/)?[A-Za-z0-9][\w.-]*$/,
  'expected a package name such as "react" or "@types/node"',
  'Package name',
);
// Half a version would be a range, and match several.
const packageVersion = fromRegistry(
  /^(?:@[A-Za-z0-9][\w.-]*\/)?[A-Za-z0-9][\w.-]*(?:@(?:\d+\.\d+\.\d+[\w.+-]*|[A-Za-z][\w.-]*))?$/,
  'expected name, name@1.2.3 or name@tag',
  'name, name@1.2.3 or name@tag',
);
const packageRange = fromRegistry(
  /^(?:@[A-Za-z0-9][\w.-]*\/)?[A-Za-z0-9][\w.-]*(?:@[\^~]?[A-Za-z0-9][\w.+-]*)?$/,
  'expected name, name@version, name@^version or name@tag; URLs, paths and git are not accepted',
  'name, name@version, name@^version or name@tag',
);
const scriptArgs = list(z.string(), 'Arguments of the script');

// A git dependency is prepared by an npm inside npm, which Node.js starts with the `node-options` of the project's or
// the dependency's .npmrc, scripts or not. A value of ours, and not an empty one, reaches all of them.
const runsNothing = ['--ignore-scripts', '--node-options=--no-deprecation'] as const;
// npm makes the folder of its cache, which the project's .npmrc can put anywhere; this one exists.
const noCache = '--cache=.';
const quiet = ['--no-audit', '--no-fund'] as const;

export const npm = defineDiscoverer({
  id: 'npm',
  title: 'npm',
  category: 'package-manager',
  homepage: 'https://docs.npmjs.com/cli',
  programs: ['npm'],
  version: { args: ['--version'], pattern: /^(\d\S*)/ },
  elsewhere: {
    win32: ['%ProgramFiles%\\nodejs\\npm.cmd'],
  },
  install: {
    linux: 'npm comes with Node.js: https://nodejs.org/en/download',
    darwin: 'npm comes with Node.js: brew install node',
    win32: 'npm comes with Node.js: winget install OpenJS.NodeJS.LTS',
  },
  signals: { files: ['package.json', 'package-lock.json', 'npm-shrinkwrap.json'] },
  environment: [
    'NODE_ENV',
    'NODE_EXTRA_CA_CERTS',
    'npm_config_cache',
    'NPM_CONFIG_CACHE',
    'npm_config_prefix',
    'NPM_CONFIG_PREFIX',
    'npm_config_registry',
    'NPM_CONFIG_REGISTRY',
    'npm_config_userconfig',
    'NPM_CONFIG_USERCONFIG',
  ],
  // The environment outranks the .npmrc of a project, which could otherwise name the program that is run as git, and
  // turn every action on the machine's global packages.
  settings: {
    npm_config_git: 'git',
    npm_config_global: 'false',
    npm_config_location: 'user',
    // No log for each call. With logs-max alone npm would still delete the older ones it finds in logs-dir.
    npm_config_logs_max: '0',
    npm_config_logs_dir: '/dev/null',
    npm_config_timing: 'false',
    npm_config_loglevel: 'notice',
    npm_config_long: 'false',
    npm_config_color: 'false',
    // It keeps the time of its last look in the folder of the cache.
    npm_config_update_notifier: 'false',
  },
  inspect: inspectPackage,
  hints: [
    { says: /Missing script/, wayOut: 'npm_scripts lists the scripts there are.' },
    {
      says: /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT/,
      wayOut: 'The registry cannot be reached from here.',
    },
  ],

  actions: {
    scripts: {
      title: 'Describe the package',
      description: 'Scripts, version, package manager, engines and workspaces of the package.json.',
      effects: ['read'],
      params: {},
      // Asking npm would obey the project's .npmrc.
      reads: ['package.json'],
      example: { runs: 'reads package.json' },
      result: packageResult,
      parse: describePackage,
    },

    run: {
      title: 'Run a script',
      description: 'Runs a script of the package.json, with those named pre and post around it.',
      effects: ['execute'],
      params: { script: name('Script, as in npm_scripts'), args: scriptArgs },
      argv: ['run', { param: 'script' }, '--', { rest: 'args' }],
      example: {
        given: { script: 'build', args: ['--watch=false'] },
        runs: 'npm run build -- --watch=false',
      },
    },

    test: {
      title: "Run the package's tests",
      description: 'Runs the test script of the package.json.',
      effects: ['execute'],
      params: { args: scriptArgs },
      argv: ['test', '--', { rest: 'args' }],
      example: { given: { args: ['test/cart.test.js'] }, runs: 'npm test -- test/cart.test.js' },
    },

    list: {
      title: 'List installed packages',
      description: 'Installed packages and what is wrong with them; or why one package is there.',
      effects: ['read'],
      params: {
        package: packageName.optional().describe('Only this one, at any depth, with what depends on it'),
        depth: z
          .int()
          .min(0)
          .max(20)
          .optional()
          .describe('Levels below the direct dependencies; 0 unless told'),
        production: flag('Leave out development dependencies'),
      },
      argv: [
        'ls',
        '--json',
        noCache,
        { option: '--depth=', param: 'depth' },
        { flag: '--omit=dev', param: 'production' },
        { param: 'package' },
      ],
      example: { given: { package: 'semver' }, runs: 'npm ls --json --cache=. semver' },
      // 1: there are problems, or the package is not there.
      succeedsWith: [0, 1],
      result: listResult,
      parse: listPackages,
    },

    outdated: {
      title: 'List outdated packages',
      description: 'Direct dependencies for which the registry has a newer version.',
      effects: ['read', 'network'],
      params: {},
      argv: ['outdated', '--json'],
      example: { runs: 'npm outdated --json' },
      // 1: there are some.
      succeedsWith: [0, 1],
      result: outdatedResult,
      parse: listOutdated,
    },

    view: {
      title: 'Look up a package',
      description: "A package's facts in the registry of your own npm settings.",
      effects: ['read', 'network'],
      params: { package: packageVersion },
      // In global mode npm reads no .npmrc of the project: it could send the question, and its token, elsewhere.
      argv: [
        'view',
        '--json',
        '--global',
        { param: 'package' },
        'name',
        'version',
        'description',
        'license',
        'homepage',
        'repository.url',
        'deprecated',
        'engines',
        'dependencies',
        'peerDependencies',
        'dist-tags',
      ],
      example: {
        given: { package: 'react@latest' },
        runs:
          'npm view --json --global react@latest name version description license homepage repository.url ' +
          'deprecated engines dependencies peerDependencies dist-tags',
      },
      result: viewResult,
      parse: describePublished,
    },

    audit: {
      title: 'List known vulnerabilities',
      description: 'Known vulnerabilities of the locked dependencies, asked of the registry.',
      effects: ['read', 'network'],
      params: { production: flag('Leave out development dependencies') },
      argv: ['audit', '--json', { flag: '--omit=dev', param: 'production' }],
      example: { given: { production: true }, runs: 'npm audit --json --omit=dev' },
      // 1: there are some.
      succeedsWith: [0, 1],
      result: auditResult,
      parse: listVulnerabilities,
    },

    install: {
      title: 'Install packages',
      description:
        'Adds packages of the registry, or installs what package.json says, without install scripts ' +
        '(npm before 11 still prepares git dependencies).',
      // Because of that exception, which npm 11 closed: a git dependency is built with its own scripts.
      effects: ['write', 'execute', 'network'],
      params: {
        packages: list(packageRange, 'Packages to add; none: what package.json and its lock file say'),
        dev: flag('Add as development dependencies'),
        exact: flag('Save exact versions instead of ranges'),
      },
      argv: [
        'install',
        ...runsNothing,
        ...quiet,
        { flag: '--save-dev', param: 'dev' },
        { flag: '--save-exact', param: 'exact' },
        '--',
        { each: 'packages' },
      ],
      example: {
        given: { packages: ['vitest@^4.0.0'], dev: true },
        runs:
          'npm install --ignore-scripts --node-options=--no-deprecation --no-audit --no-fund --save-dev ' +
          '-- vitest@^4.0.0',
      },
    },

    clean_install: {
      title: 'Install from the lock file',
      description:
        'Replaces node_modules by exactly what the lock file says, without install scripts ' +
        '(npm before 11 still prepares git dependencies).',
      effects: ['write', 'execute', 'network'],
      params: {},
      argv: ['ci', ...runsNothing, ...quiet],
      example: { runs: 'npm ci --ignore-scripts --node-options=--no-deprecation --no-audit --no-fund' },
    },

    uninstall: {
      title: 'Remove packages',
      description: 'Removes packages from node_modules and package.json, without running scripts.',
      effects: ['write', 'execute', 'network'],
      params: { packages: z.array(packageName).min(1).max(100).describe('Packages to remove') },
      argv: ['uninstall', ...runsNothing, ...quiet, '--', { each: 'packages' }],
      example: {
        given: { packages: ['left-pad'] },
        runs: 'npm uninstall --ignore-scripts --node-options=--no-deprecation --no-audit --no-fund -- left-pad',
      },
    },
  },
});

/**
 * npm works on the nearest package above its folder, or on a node_modules there. Throws PATH_NOT_FOUND where it would
 * look above the root.
 */
async function inspectPackage(look: Look, { action, folder, roots }: Situation): Promise<Inspection> {
  if (action === 'view') return {};
  const places = upwards(folder, roots).flatMap((here) => [`${here}/package.json`, `${here}/node_modules`]);
  const found = await Promise.all(places.map((place) => look.kind(place)));
  if (found.some((kind) => kind !== undefined)) return {};
  throw new ToolcribError(
    'PATH_NOT_FOUND',
    `${folder}: there is no package (package.json or node_modules) here or above, up to the root.`,
    'Give the folder of a package as cwd. If it begins above the root, the server has to be started with --root ' +
      'at its top.',
  );
}
