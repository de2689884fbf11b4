import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { flag } from '../core/params.ts';
import { interpreter } from './python-interpreter.ts';

const packageName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/, 'expected a package name such as "requests"')
  .describe('Package name');
const packages = (description: string) => z.array(packageName).min(1).max(100).describe(description);

// A requirement that names a file of the folder is that file to pip, with or without extras behind it.
const isArchive = /\.(?:whl|zip|tar|tgz|tbz|txz|tlz|gz|bz2|xz|lz|lzma)(?:\[|$)/i;
const bound = '(?:==|~=|!=|>=|<=|>|<)[A-Za-z0-9][\\w.*+!-]*';
const requirement = z
  .string()
  .max(300)
  .regex(
    new RegExp(`^[A-Za-z0-9](?:[\\w.-]*[A-Za-z0-9])?(?:\\[[\\w.,-]+\\])?(?:${bound}(?:,${bound})*)?$`),
    'expected name, name==version or name[extra]>=version; options, URLs, paths and version control are not accepted',
  )
  .refine((spec) => !isArchive.test(spec), 'expected a package of the index, not an archive')
  .describe('name, name==version or name[extra]>=version');

export const pip = defineDiscoverer({
  id: 'pip',
  title: 'pip',
  category: 'package-manager',
  homepage: 'https://pip.pypa.io',
  ...interpreter,
  version: { args: ['-I', '-m', 'pip', '--version'], pattern: /^pip (\S+)/ },
  install: {
    linux: "Install python3-pip with your distribution's package manager, or run `python3 -m ensurepip`.",
    darwin: 'brew install python',
    win32: 'winget install Python.Python.3.13',
  },
  signals: {
    files: ['requirements.txt', 'pyproject.toml', 'setup.py', 'setup.cfg'],
    folders: ['.venv', 'venv'],
  },
  environment: [
    'VIRTUAL_ENV',
    'CONDA_PREFIX',
    'PIP_CACHE_DIR',
    'PIP_CERT',
    'PIP_CONFIG_FILE',
    'PIP_EXTRA_INDEX_URL',
    'PIP_INDEX_URL',
    'PIP_TRUSTED_HOST',
    'REQUESTS_CA_BUNDLE',
    'SSL_CERT_FILE',
  ],
  settings: {
    PIP_NO_COLOR: '1',
  },
  // Without -I Python would take a pip.py in the working folder for pip.
  prefix: ['-I', '-m', 'pip'],
  hints: [
    {
      says: /Could not find an activated virtualenv/,
      wayOut:
        'Only a virtual environment is installed into: ' +
        'make one with python_run_module {"module": "venv", "args": [".venv"]}.',
    },
    {
      says: /No module named pip/,
      wayOut:
        'This environment has no pip (uv makes such): python_run_module {"module": "ensurepip"} adds it.',
    },
  ],

  actions: {
    list: {
      title: 'List installed packages',
      description:
        "Packages of the project's Python environment, or of the machine's Python when it has none.",
      effects: ['execute'],
      params: { top_level: flag('Leave out packages that others need') },
      argv: ['list', '--format=json', { flag: '--not-required', param: 'top_level' }],
      example: { given: { top_level: true }, runs: 'python3 -I -m pip list --format=json --not-required' },
      result: z.object({
        packages: z.array(
          z.object({
            name: z.string(),
            version: z.string(),
            editable: z.string().optional().describe('Its source folder, when installed from there'),
          }),
        ),
      }),
      parse: listInstalled,
    },

    show: {
      title: 'Describe installed packages',
      description: 'Version, summary, location, requirements and dependents of installed packages.',
      effects: ['execute'],
      params: { packages: packages('Packages to describe') },
      argv: ['show', '--', { each: 'packages' }],
      example: { given: { packages: ['requests'] }, runs: 'python3 -I -m pip show -- requests' },
      result: z.object({
        packages: z.array(
          z.object({
            name: z.string(),
            version: z.string(),
            summary: z.string().optional(),
            location: z.string().optional(),
            editable: z.string().optional(),
            requires: z.array(z.string()),
            required_by: z.array(z.string()),
          }),
        ),
      }),
      parse: describeInstalled,
    },

    outdated: {
      title: 'List outdated packages',
      description: 'Installed packages for which the package index has a newer version.',
      effects: ['execute', 'network'],
      params: { top_level: flag('Leave out packages that others need') },
      argv: ['list', '--outdated', '--format=json', { flag: '--not-required', param: 'top_level' }],
      example: { runs: 'python3 -I -m pip list --outdated --format=json' },
      result: z.object({
        packages: z.array(z.object({ name: z.string(), version: z.string(), latest: z.string() })),
      }),
      parse: listOutdated,
    },

    check: {
      title: 'Check dependencies',
      description: 'Installed packages whose requirements are missing or of the wrong version.',
      effects: ['execute'],
      params: {},
      argv: ['check'],
      example: { runs: 'python3 -I -m pip check' },
      // 1: there are some.
      succeedsWith: [0, 1],
      result: z.object({ problems: z.array(z.string()) }),
      parse: listProblems,
    },

    install: {
      title: 'Install packages',
      description:
        'Installs packages of the index into a virtual environment, never elsewhere; wheels only by default.',
      effects: ['write', 'execute', 'network'],
      params: {
        requirements: z.array(requirement).min(1).max(100).describe('What to install'),
        upgrade: flag('Also when an older version is there'),
        allow_build: flag('Also packages without a wheel: their build code is run'),
      },
      argv: [
        'install',
        '--require-virtualenv',
        { choose: 'allow_build', from: { false: ['--only-binary=:all:'] } },
        { flag: '--upgrade', param: 'upgrade' },
        '--',
        { each: 'requirements' },
      ],
      example: {
        given: { requirements: ['requests==2.32.3'] },
        runs: 'python3 -I -m pip install --require-virtualenv --only-binary=:all: -- requests==2.32.3',
      },
    },

    uninstall: {
      title: 'Remove packages',
      description: 'Removes packages from a virtual environment.',
      effects: ['write', 'execute'],
      params: { packages: packages('Packages to remove') },
      argv: ['uninstall', '--yes', '--require-virtualenv', '--', { each: 'packages' }],
      example: {
        given: { packages: ['requests'] },
        runs: 'python3 -I -m pip uninstall --yes --require-virtualenv -- requests',
      },
    },
  },
});

const listed = z.array(
  z.object({
    name: z.string(),
    version: z.string(),
    latest_version: z.string().optional(),
    editable_project_location: z.string().optional(),
  }),
);

function listInstalled(stdout: string) {
  return {
    packages: listed.parse(JSON.parse(stdout)).map(({ name, version, editable_project_location }) => ({
      name,
      version,
      ...(editable_project_location && { editable: editable_project_location }),
    })),
  };
}

function listOutdated(stdout: string) {
  return {
    packages: listed.parse(JSON.parse(stdout)).map(({ name, version, latest_version }) => ({
      name,
      version,
      latest: z.string().parse(latest_version),
    })),
  };
}

function describeInstalled(stdout: string) {
  return {
    packages: stdout
      .replaceAll('\r\n', '\n')
      .split(/^---\n(?=Name: )/m)
      .map(describeOne),
  };
}

function describeOne(block: string) {
  const values = (key: string) =>
    [...block.matchAll(new RegExp(`^${key}:(.*)$`, 'gm'))].map((found) => found[1]?.trim());
  const required = (key: string) => {
    const value = values(key)[0];
    if (!value) throw new Error(`pip show: there is no "${key}:" in its answer.`);
    return value;
  };
  // A licence can span lines and stands between the first fields and the last ones: it may hold what looks like both.
  const last = (key: string) => values(key).at(-1) || undefined;
  const names = (key: string) => last(key)?.split(/,\s*/) ?? [];
  return {
    name: required('Name'),
    version: required('Version'),
    summary: values('Summary')[0] || undefined,
    location: last('Location'),
    editable: last('Editable project location'),
    requires: names('Requires'),
    required_by: names('Required-by'),
  };
}

const isProblem = /^\S+ \S+ (?:requires |has requirement |is not supported )/;

function listProblems(stdout: string) {
  const lines = stdout.split(/\r?\n/).filter((line) => line.trim() !== '');
  const problems = lines.filter((line) => line !== 'No broken requirements found.');
  if (lines.length === 0) {
    throw new ToolcribError(
      'PROGRAM_FAILED',
      'pip check said nothing.',
      'Is pip in this environment? uv leaves it out.',
    );
  }
  const strange = problems.find((line) => !isProblem.test(line));
  if (strange !== undefined) throw new Error(`pip check: "${strange}" is no problem it is known to report`);
  return { problems };
}
