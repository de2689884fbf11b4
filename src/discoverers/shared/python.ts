import * as z from 'zod';
import {
  glue,
  type InspectionRequest,
  joined,
  list,
  matching,
  name,
  on,
  operand,
  option,
  path,
  program,
  type Program,
  type ProjectFiles,
  type Reader,
  type Template,
  ToolcribError,
  upwards,
} from '../../core/grammar.ts';
import { json } from '../reports/readers.ts';
import { venvBin } from './programs.ts';

/**
 * The places of Python. What runs in it is `execute` always: the interpreter of a project's environment is a
 * file of the project, and runs the .pth files and sitecustomize of that environment before anything else.
 */
export const interpreter: Required<Pick<Program, 'own' | 'elsewhere'>> = {
  own: {
    posix: ['.venv', 'venv', '.conda', '$VIRTUAL_ENV', '$CONDA_PREFIX'].map((at) => `${at}/bin/python`),
    win32: [
      ...['.venv/Scripts/python.exe', 'venv/Scripts/python.exe', '.conda/python.exe'],
      ...['$VIRTUAL_ENV/Scripts/python.exe', '$CONDA_PREFIX/python.exe'],
    ],
  },
  elsewhere: { win32: ['%LOCALAPPDATA%/Programs/Python/Launcher/py.exe', '%SystemRoot%/py.exe'] },
};
export const pythons = ['python3', 'python', 'py'];
export const pythonEnvironment = ['VIRTUAL_ENV', 'CONDA_PREFIX', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'];
/** Variables for the places where pip gets packages, which its users set up by variables. */
export const pipEnvironment = [
  'CACHE_DIR',
  'CERT',
  'CONFIG_FILE',
  'EXTRA_INDEX_URL',
  'INDEX_URL',
  'TRUSTED_HOST',
].map((key) => `PIP_${key}`);
export const pipSettings = {
  PIP_NO_COLOR: '1',
  PIP_NO_INPUT: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_PROGRESS_BAR: 'off',
};

export const pipHints = [
  {
    says: /Could not find an activated virtualenv/,
    wayOut: 'Only a virtual environment is installed into: python_venv makes one in .venv.',
  },
  {
    says: /No module named pip/,
    wayOut: 'This environment has no pip (uv makes such): uv_list, uv_add; or python -m ensurepip adds it.',
  },
];

// A requirement that names a file of the folder is that file to pip, with or without extras behind it.
const isArchive = /\.(?:whl|zip|tar|tgz|tbz|txz|tlz|gz|bz2|xz|lz|lzma)(?:\[|$)/i;
const bound = '(?:==|~=|!=|>=|<=|>|<)[A-Za-z0-9][\\w.*+!-]*';
/** A package of an index: no option, URL, path or version control. */
export const requirement = z
  .string()
  .max(300)
  .regex(
    new RegExp(`^[A-Za-z0-9](?:[\\w.-]*[A-Za-z0-9])?(?:\\[[\\w.,-]+\\])?(?:${bound}(?:,${bound})*)?$`),
    'expected name, name==version or name[extra]>=version; options, URLs, paths and version ' +
      'control are not accepted',
  )
  .refine((spec) => !isArchive.test(spec), 'expected a package of the index, not an archive')
  .describe('name, name==version or name[extra]>=version');
const bareName = /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/;
export const packageName = matching(bareName, 'a package name such as "requests"', 'Package name');

/** Packages, files and folders that pip may install. */
export const pipParams = {
  upgrade: on('--upgrade', 'Also when an older version is there'),
  allow_build: on([], 'Also packages without a wheel: their build code is run', '--only-binary=:all:'),
  requirements: option(
    '--requirement=',
    list(path('requirements.txt or the like', 'file'), 'Files to install'),
  ),
  editable: operand(path('Folder of a package, installed so that edits count', 'folder').optional()),
  extras: operand(list(name('Extra'), 'Extras of editable'), joined(',')),
  packages: operand(list(requirement, 'Packages of the index')),
};
/** Its line; `python_pip_install` and `pip_install` are one act. */
export const pipInstall: Template<typeof pipParams> = (at) => [
  ...['install', '--require-virtualenv'],
  ...[at.allow_build, at.upgrade, at.requirements],
  glue('--editable=', at.editable, glue('[', at.extras, ']')),
  ...['--', at.packages],
];
export const pipGiven = {
  requirements: ['requirements.txt'],
  editable: '.',
  extras: ['test'],
  packages: ['requests==2.32.3'],
};

const listed = z.array(
  z.object({
    name: z.string(),
    version: z.string(),
    latest_version: z.string().optional(),
    editable_project_location: z.string().nullish(),
  }),
);
/** The installed packages, as pip and uv write it. */
export const installed = json(listed, (all) =>
  all.map(({ name: of, version, editable_project_location: folder }) => ({
    name: of,
    version,
    ...(folder && { group: `editable: ${folder}` }),
  })),
);
const unreached = /connection broken|Could not fetch URL|ConnectionError|ConnectTimeout|Max retries exceeded/;
/** The outdated packages. pip says that nothing is, and succeeds, when it could not ask anybody. */
export const outdated: Reader<{ name: string; version: string; latest: string }[]> = (output) => {
  if (unreached.test(output.stderr))
    throw new ToolcribError(
      'PROGRAM_FAILED',
      `The package index could not be reached: nobody knows what is ` +
        `outdated.\n${output.stderr.trim().slice(0, 600)}`,
    );
  return json(listed, (all) =>
    all.map(({ name: of, version, latest_version }) => ({
      name: of,
      version,
      latest: z.string().parse(latest_version),
    })),
  )(output);
};

/** The manager of a project's packages, by the lock file. */
const locks = { 'uv.lock': 'uv', 'poetry.lock': 'poetry' };
const changes: Readonly<Record<string, string>> = {
  install: 'add',
  pip_install: 'add',
  add: 'add',
  update: 'update',
  remove: 'remove',
  sync: 'install',
  lock: 'lock',
};

/** Refuses to change the packages of a project that another program keeps: its lock file would be wrong. */
export const keptBy =
  (own: string) =>
  async (look: ProjectFiles, { action, folder, roots, values }: InspectionRequest) => {
    const packages = values['packages'] ?? [];
    // Without a name it installs what the project itself says, which changes nothing that a lock file has.
    const names = Array.isArray(packages) && packages.length > 0;
    const change = changes[action] === 'add' && !names ? 'install' : changes[action];
    if (!change || (own === 'pip' && !names)) return {};
    for (const here of upwards(folder, roots))
      for (const [lock, owner] of Object.entries(locks)) {
        if ((await look.kind(`${here}/${lock}`)) !== 'file') continue;
        if (owner === own) return {};
        throw new ToolcribError(
          'ARG_INVALID',
          `${here}/${lock}: the packages of this project are kept by ${owner}.`,
          `Call ${owner}_${change} ${JSON.stringify({ ...(names && { packages }) })} instead.`,
        );
      }
    return {};
  };

/**
 * A program that a project has in its virtual environment: even what only looks is a file of the project
 * then.
 */
export const pythonTool = (
  id: string,
  { get = {}, ...spec }: Omit<Program, 'id' | 'category' | 'own'>,
): Program => {
  const called = spec.called?.[0] ?? id;
  return program(id, {
    category: 'build',
    own: venvBin(called),
    environment: ['VIRTUAL_ENV', 'CONDA_PREFIX'],
    settings: { NO_COLOR: '1' },
    ...spec,
    get: { pip: called, ...get },
  });
};
