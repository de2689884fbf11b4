import * as z from 'zod';
import { operand, option, words } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, family } from '../core/program.ts';
import { entries, packages } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';

const changes = ['execute', 'write', 'network'] as const;
const args = words('Arguments of the program');

const text = z.string();
const installed = json(z.array(z.object({ name: text, version: text, channel: text.optional() })), (all) =>
  all.map(({ channel: group, ...one }) => ({ ...one, group })),
);
const spec = text
  .max(300)
  .regex(
    /^(?:[\w.-]+::)?[A-Za-z0-9_][\w.-]*(?:[=<>!~]{1,2}[\w.*,<>=!|-]+)?$/,
    'expected name or name=version',
  )
  .describe('name, name=1.2, channel::name');
const environment = option('--name', name('Environment; the active one when left out'));
const channel = option('--channel', list(name('Channel'), 'Where to look first: conda-forge'));
const file = option('--file', path('environment.yml', 'file'));
const rows = {
  conda: { title: 'conda', site: 'https://docs.conda.io', folder: 'condabin' },
  mamba: { title: 'mamba', site: 'https://mamba.readthedocs.io', folder: 'condabin' },
  micromamba: { title: 'micromamba', site: 'https://mamba.readthedocs.io', folder: 'bin' },
};

const more = (title: string) => ({
  environments: action(`List ${title} environments`, 'Environments and their folders.', ['execute'], {
    run: ['env', 'list', '--json'],
    out: entries('environment')(
      json(z.object({ envs: z.array(text) }), ({ envs }) =>
        envs.map((of) => ({ name: of.split(/[\\/]/).at(-1) ?? of, says: of })),
      ),
    ),
  }),
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
  export: action(`Export a ${title} environment`, 'Its packages as environment.yml.', ['execute'], {
    run: ['env', 'export'],
    params: { environment },
  }),
  run: action(`Run with ${title}`, 'Runs a program in an environment.', ['execute', 'network'], {
    run: ({ environment: of, program, args: rest }) => ['run', of, program, rest],
    params: { environment, program: operand(name('Program')), args },
    given: { environment: 'shop', program: 'python', args: ['-V'] },
  }),
});

export default family(rows, ({ title, site, folder }, id) => ({
  title,
  category: 'package-manager',
  site,
  get: { brew: id === 'conda' ? 'miniconda' : 'micromamba', site },
  project: ['environment.yml', 'environment.yaml', '.conda'],
  elsewhere: {
    linux: [`~/miniconda3/${folder}/${id}`, `~/miniforge3/${folder}/${id}`, `/opt/conda/${folder}/${id}`],
    darwin: [`~/miniconda3/${folder}/${id}`, `~/miniforge3/${folder}/${id}`, `/opt/homebrew/bin/${id}`],
    win32: [`%USERPROFILE%/miniconda3/${folder}/${id}.bat`, `%USERPROFILE%/miniforge3/${folder}/${id}.bat`],
  },
  environment: ['CONDA_PREFIX', 'CONDA_DEFAULT_ENV', 'CONDARC', 'MAMBA_ROOT_PREFIX', 'SSL_CERT_FILE'],
  settings: { NO_COLOR: '1' },
  actions: {
    ...packageActions(`${title} packages`, {
      ...{ like: 'numpy', spec, bare: spec, changes, looks: ['execute'], all: { environment } },
      list: [['list', '--json'], packages(installed)],
      add: ['install', '--yes'],
      adding: { channel },
      remove: ['remove', '--yes'],
      update: ['update', '--yes'],
      install: ['env', 'update'],
      getting: { file },
    }),
    ...more(title),
  },
}));
