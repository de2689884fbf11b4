import * as z from 'zod';
import {
  action,
  fresh,
  list,
  matching,
  name,
  on,
  operand,
  option,
  path,
  program,
  some,
  text,
  words,
} from '../core/grammar.ts';
import { microsoft, together } from './reports/diagnostics.ts';
import { diagnostics, packages, tests } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { trx } from './reports/xml.ts';
import { packageActions } from './shared/packages.ts';
import { makes, reaches } from './shared/programs.ts';

const project = operand(path('Project, solution or folder').optional());
const configuration = option('--configuration=', name('Debug or Release'));
const checked = { dashes: false, ok: [0, 1] as number[], out: diagnostics(together(microsoft)) } as const;
const quiet = ['--verbosity=quiet', '-consoleLoggerParameters:NoSummary'];

const ofNames = (names: string[]) =>
  names
    .map((one) => `FullyQualifiedName~${one.replace(/\(.*$/, '').replaceAll(/[\\()&|=!~]/g, '\\$&')}`)
    .join('|');

const reference = z.object({
  id: z.string(),
  resolvedVersion: z.string().optional(),
  latestVersion: z.string().optional(),
});
const references = z.array(reference).optional();
const frameworks = z.array(
  z.object({ framework: z.string(), topLevelPackages: references, transitivePackages: references }),
);
const listing = z.object({
  projects: z.array(z.object({ path: z.string(), frameworks: frameworks.optional() })),
});
const listed = json(listing, ({ projects }) =>
  projects.flatMap(({ path: of, frameworks: all = [] }) =>
    all.flatMap(({ framework, topLevelPackages = [], transitivePackages = [] }) =>
      [...topLevelPackages, ...transitivePackages].map((one) => ({
        ...one,
        group: `${of.split(/[\\/]/).at(-1)} ${framework}`,
      })),
    ),
  ),
);
const words_ = ['list', 'package', '--format=json'];
const shown = packages((output) =>
  listed(output).map(({ id, resolvedVersion, latestVersion, group }) => ({
    name: id,
    version: resolvedVersion,
    latest: latestVersion,
    group,
  })),
);
const packageId = matching(/^[A-Za-z_][\w.-]*$/, 'the id of a package', 'Package');
const one = operand(some(packageId, 'One package').max(1));

export default program('dotnet', {
  // No property: some are commands.
  everyday: new RegExp(
    String.raw`^(?!.* [-/]+(?:\w+:|[pP]\w*[ =])\S*=)(?:add|build|clean|format|list|remove` +
      String.raw`|restore|run|sln|test|watch)(?: |$)`,
  ),
  title: '.NET',
  category: 'runtime',
  site: 'https://learn.microsoft.com/dotnet/core/tools',
  get: { apt: 'dotnet-sdk-8.0', brew: 'dotnet', winget: 'Microsoft.DotNet.SDK.8' },
  project: ['*.sln', '*.slnx', '*.csproj', '*.fsproj', '*.vbproj', 'global.json', 'Directory.Build.props'],
  elsewhere: {
    linux: ['~/.dotnet/dotnet', '/usr/share/dotnet/dotnet'],
    darwin: ['/usr/local/share/dotnet/dotnet'],
    win32: ['%ProgramFiles%/dotnet/dotnet.exe'],
  },
  version: { args: ['--version'], pattern: /(\d+\.\d[\w.+-]*)/, caches: ['DOTNET_CLI_HOME'] },
  environment: ['DOTNET_ROOT', 'NUGET_PACKAGES'],
  settings: {
    DOTNET_CLI_UI_LANGUAGE: 'en',
    MSBUILDTERMINALLOGGER: 'off',
    DOTNET_SKIP_FIRST_TIME_EXPERIENCE: '1',
  },
  marks: '-@',
  hints: [
    { says: /No executable found|MSB1003/, wayOut: 'Give the project or solution, or its folder as cwd.' },
  ],
  actions: {
    build: action('Build .NET projects', 'Compiles; errors and warnings with their places.', reaches, {
      ...checked,
      role: 'build',
      run: ['build', ...quiet],
      params: { configuration, no_restore: on('--no-restore', 'Without getting packages'), project },
      given: { configuration: 'Release' },
    }),
    test: action('Run .NET tests', 'Runs the tests; failures with their places.', reaches, {
      role: 'test',
      run: ['test', '--logger=trx', '--results-directory', fresh('.')],
      dashes: false,
      params: {
        only: option('--filter=', list(text('Test'), 'Only these, by full name'), ofNames),
        configuration,
        project,
      },
      given: { only: ['Shop.CartTests.Adds'] },
      ok: [0, 1],
      out: tests(trx),
    }),
    run: action('Run a .NET project', 'Builds and runs a program.', reaches, {
      run: ['run'],
      params: { project: option('--project', path('Project')), configuration, args: words('Its arguments') },
      given: { args: ['--port=5000'] },
    }),
    format: action('Format .NET code', 'Formats files, or checks them.', makes, {
      role: 'format',
      run: ['format'],
      params: { check: on('--verify-no-changes', 'Only say what would change'), project },
      ...checked,
    }),
    ...packageActions('.NET packages', {
      like: 'Serilog',
      changes: makes,
      looks: reaches,
      install: ['restore'],
      remove: ['remove', 'package'],
      list: [words_, shown],
      outdated: [[...words_, '--outdated'], shown],
    }),
    add: action('Add a .NET package', 'Adds a package to a project.', makes, {
      role: 'add',
      run: ({ project: which, packages: what, version }) => ['add', which, 'package', what, version],
      params: { project, version: option('--version', name('Version')), packages: one },
      given: { packages: ['Serilog'] },
    }),
  },
});
