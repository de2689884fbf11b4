import * as z from 'zod';
import { choice, operand, option } from '../core/parameter.ts';
import { list, name, path, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { packages } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';

const folder = operand(path('Folder of the recipe').default('.'));
const settings = {
  build: choice(
    { missing: '--build=missing', never: '--build=never', all: '--build=*' },
    'What is compiled here',
  ),
  profile: option('--profile=', name('Profile')),
  settings: option('--settings=', list(text('build_type=Debug'), 'Settings')),
  options: option('--options=', list(text('fmt/*:shared=True'), 'Options')),
};
const versioned = (reference: string) => {
  const [id = '', version] = reference.split('#')[0]?.split('/') ?? [];
  return { name: id, version };
};
/** References by the place where they are. */
const references = json(z.record(z.string(), z.record(z.string(), z.unknown())), (all) =>
  Object.entries(all).flatMap(([group, found]) => {
    if ('error' in found) throw new Error(String(found['error']));
    return Object.keys(found).map((one) => ({ ...versioned(one), group }));
  }),
);
const node = z.object({
  ref: z.string().nullish(),
  recipe: z.string().nullish(),
  context: z.string().nullish(),
});
const graph = z.object({ graph: z.object({ nodes: z.record(z.string(), node) }) });
// A .conanrc of the project chooses extensions, and the project may have a vcpkg of its own.
const runs = ['execute', 'network'] as const;

const conan = program('conan', {
  title: 'Conan',
  category: 'package-manager',
  site: 'https://docs.conan.io/2/reference/commands.html',
  get: { pip: 'conan', brew: 'conan', winget: 'JFrog.Conan' },
  project: ['conanfile.py', 'conanfile.txt'],
  environment: ['CONAN_HOME'],
  settings: { CONAN_NON_INTERACTIVE: '1' },
  actions: {
    install: action('Install Conan packages', 'Gets what the conanfile needs.', runs, {
      role: 'install',
      run: ['install'],
      params: {
        ...settings,
        output: option('--output-folder=', path('Folder for generated files', 'folder', { written: true })),
        folder,
      },
      given: { settings: ['build_type=Debug'] },
    }),
    build: action('Build with Conan', 'Gets what is needed and builds the recipe here.', runs, {
      run: ['build'],
      params: { ...settings, folder },
    }),
    create: action('Create a Conan package', 'Builds and tests the recipe here into the cache.', runs, {
      run: ['create'],
      params: { ...settings, folder },
    }),
    graph: action('List Conan dependencies', 'All packages that the conanfile leads to.', runs, {
      role: 'list',
      run: ['graph', 'info', '--format=json'],
      params: { profile: settings.profile, settings: settings.settings, options: settings.options, folder },
      out: packages(
        json(graph, ({ graph: { nodes } }) =>
          Object.values(nodes).flatMap(({ ref, recipe, context }) =>
            ref && recipe !== 'Consumer' ? [{ ...versioned(ref), group: context ?? undefined }] : [],
          ),
        ),
      ),
    }),
    search: action('Search Conan packages', 'Versions that the remotes have.', runs, {
      run: ['search', '--format=json'],
      params: { pattern: operand(name('Pattern: fmt, fmt/*')) },
      given: { pattern: 'fmt' },
      out: packages(references),
    }),
  },
});

const port = z.object({
  package_name: z.string(),
  version: z.string().optional(),
  triplet: z.string().optional(),
});
const portOf = ({ package_name, version, triplet: group }: z.output<typeof port>) => ({
  ...{ name: package_name, version, group },
});
const triplet = option('--triplet=', name('Target: x64-linux, x64-windows-static'));
const vcpkg = program('vcpkg', {
  title: 'vcpkg',
  category: 'package-manager',
  site: 'https://learn.microsoft.com/vcpkg/commands/common-options',
  get: { brew: 'vcpkg', site: 'https://learn.microsoft.com/vcpkg/get_started/get-started' },
  project: ['vcpkg.json', 'vcpkg-configuration.json'],
  own: {
    posix: ['vcpkg/vcpkg', '$VCPKG_ROOT/vcpkg'],
    win32: ['vcpkg/vcpkg.exe', '$VCPKG_ROOT/vcpkg.exe'],
  },
  version: { args: ['version'], pattern: /version (\S+)/ },
  environment: ['VCPKG_ROOT', 'VCPKG_DEFAULT_TRIPLET', 'VCPKG_DOWNLOADS', 'VCPKG_DEFAULT_BINARY_CACHE'],
  settings: { VCPKG_DISABLE_METRICS: '1' },
  actions: {
    ...packageActions('vcpkg packages', {
      ...{ like: 'fmt', changes: ['write', 'network'], looks: runs, add: ['add', 'port'] },
      list: [
        ['list', '--x-json'],
        packages(json(z.record(z.string(), port), (all) => Object.values(all).map(portOf))),
      ],
    }),
    search: action('Search vcpkg packages', 'Ports by a text in them.', runs, {
      run: ['search', '--x-json'],
      dashes: false,
      params: { text: operand(text('Text')) },
      given: { text: 'json' },
      out: packages(json(z.record(z.string(), port), (all) => Object.values(all).map(portOf))),
    }),
    install: action('Install vcpkg dependencies', 'Builds or gets what vcpkg.json needs.', runs, {
      role: 'install',
      run: ['install'],
      params: {
        triplet,
        features: option('--x-feature=', list(name('Feature'), 'Features of the manifest')),
      },
    }),
  },
});

export default [conan, vcpkg];
