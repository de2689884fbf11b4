import * as z from 'zod';
import { operand, option, words } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, family } from '../core/program.ts';
import { entries, packages } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { some } from './shared/python.ts';

const changes = ['execute', 'write', 'network'] as const;
const text = z.string();
const installed = z.array(z.object({ name: text, version: text, channel: text.optional() }));
const spec = text
  .max(300)
  .regex(
    /^(?:[\w.-]+::)?[A-Za-z0-9_][\w.-]*(?:[=<>!~]{1,2}[\w.*,<>=!|-]+)?$/,
    'expected name or name=version',
  )
  .describe('name, name=1.2, channel::name');
const environment = option('--name', name('Environment; the active one when left out'));
const channel = option('--channel', list(name('Channel'), 'Where to look first: conda-forge'));
const specs = operand(some(spec, 'Packages'));
const file = option('--file', path('environment.yml', 'file'));
const given = { packages: ['numpy=2.1'] };
const rows = {
  conda: { title: 'conda', site: 'https://docs.conda.io', folder: 'condabin' },
  mamba: { title: 'mamba', site: 'https://mamba.readthedocs.io', folder: 'condabin' },
  micromamba: { title: 'micromamba', site: 'https://mamba.readthedocs.io', folder: 'bin' },
};

const looks = (title: string) => ({
  list: action(`List ${title} packages`, 'Packages of an environment.', ['execute'], {
    role: 'list',
    run: ['list', '--json'],
    params: { environment },
    out: packages(json(installed, (all) => all.map(({ channel: group, ...one }) => ({ ...one, group })))),
  }),
  environments: action(`List ${title} environments`, 'Environments and their folders.', ['execute'], {
    run: ['env', 'list', '--json'],
    out: entries('environment')(
      json(z.object({ envs: z.array(text) }), ({ envs }) =>
        envs.map((of) => ({ name: of.split(/[\\/]/).at(-1) ?? of, says: of })),
      ),
    ),
  }),
  export: action(`Export a ${title} environment`, 'Its packages as environment.yml.', ['execute'], {
    run: ['env', 'export'],
    params: { environment },
  }),
  search: action(`Search packages with ${title}`, 'Versions of a package.', ['execute', 'network'], {
    run: ['search'],
    dashes: false,
    params: { channel, package: operand(spec) },
    given: { package: 'numpy' },
  }),
  run: action(`Run with ${title}`, 'Runs a program in an environment.', ['execute', 'network'], {
    run: ({ environment: of, program, args }) => ['run', of, program, args],
    params: { environment, program: operand(name('Program')), args: words('Its arguments') },
    given: { environment: 'shop', program: 'python', args: ['-V'] },
  }),
});

const changing = (title: string, id: string) => ({
  create: action(`Create a ${title} environment`, 'Makes one, of packages or a file.', changes, {
    run: ['create', '--yes'],
    dashes: false,
    params: {
      environment: option('--name', name('Its name')),
      file,
      channel,
      packages: operand(list(spec, 'Packages')),
    },
    given: { environment: 'shop', packages: ['python=3.13'] },
  }),
  install: action(`Install with ${title}`, 'Adds packages to an environment.', changes, {
    role: 'add',
    run: ['install', '--yes'],
    dashes: false,
    params: { environment, channel, packages: specs },
    given,
  }),
  update: action(`Update packages with ${title}`, 'Updates packages of an environment.', changes, {
    role: 'update',
    run: ['update', '--yes'],
    dashes: false,
    params: { environment, channel, packages: specs },
    given,
  }),
  remove: action(`Remove packages with ${title}`, 'Removes packages of an environment.', changes, {
    role: 'remove',
    run: ['remove', '--yes'],
    dashes: false,
    params: { environment, packages: specs },
    given,
  }),
  sync: action(`Update a ${title} environment`, 'Makes it what environment.yml says.', changes, {
    role: 'install',
    run: ['env', 'update', '--yes'].slice(0, id === 'conda' ? 2 : 3),
    params: { environment, file },
  }),
});

export default family(rows, ({ title, site, folder }, id) => ({
  title,
  category: 'package-manager',
  site,
  get: { brew: id === 'conda' ? 'miniconda' : 'micromamba', site },
  project: [
    'environment.yml',
    'environment.yaml',
    '.conda',
    { file: 'environment.yml', has: /^dependencies:/m },
  ],
  elsewhere: {
    linux: [`~/miniconda3/${folder}/${id}`, `~/miniforge3/${folder}/${id}`, `/opt/conda/${folder}/${id}`],
    darwin: [`~/miniconda3/${folder}/${id}`, `~/miniforge3/${folder}/${id}`, `/opt/homebrew/bin/${id}`],
    win32: [`%USERPROFILE%/miniconda3/${folder}/${id}.bat`, `%USERPROFILE%/miniforge3/${folder}/${id}.bat`],
  },
  environment: ['CONDA_PREFIX', 'CONDA_DEFAULT_ENV', 'CONDARC', 'MAMBA_ROOT_PREFIX', 'SSL_CERT_FILE'],
  settings: { NO_COLOR: '1', CONDA_JSON: 'false' },
  actions: {
    ...looks(title),
    ...changing(title, id),
  },
}));
