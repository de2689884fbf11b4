import { required } from '../../core/parameter.ts';
import { path } from '../../core/params.ts';
import { action } from '../../core/program.ts';
import { entries } from '../reports/kinds.ts';
import { lines } from '../reports/readers.ts';
import * as py from '../shared/python.ts';
import { changes, names, type Row } from './row.ts';

const requirements = py.some(path('Requirements', 'file'), 'Files').default(['requirements.txt']);
const broken = '(?:requires|has requirement|is not supported) .*';

export const pip: Row = {
  title: 'pip',
  site: 'https://pip.pypa.io',
  get: { apt: 'python3-pip', brew: 'python', winget: 'Python.Python.3.13', site: 'https://pip.pypa.io' },
  called: py.pythons.map((python) => `${python} -m pip`),
  ...py.interpreter,
  project: ['requirements.txt', 'setup.py', 'setup.cfg', { file: 'pyproject.toml', has: /^\[project\]/m }],
  environment: [...py.pythonEnvironment, ...py.pipEnvironment],
  settings: py.pipSettings,
  // Without -I Python would take a pip.py in the working folder for pip.
  before: ['-I'],
  hints: py.pipHints,
  list: [['list', '--format=json'], py.installed],
  direct: '--not-required',
  outdated: [['list', '--outdated', '--format=json', '--retries=1'], py.outdated],
  update: ['install', '--require-virtualenv', '--only-binary=:all:', '--upgrade'],
  more: {
    install: action(
      'Install with pip',
      'Installs packages, -r files or a folder (-e) into a venv.',
      changes,
      {
        role: 'add',
        run: py.pipInstall,
        params: py.pipParams,
        given: py.pipGiven,
      },
    ),
    sync: action('Install requirements with pip', 'Installs what requirements.txt says.', changes, {
      role: 'install',
      run: ['install', '--require-virtualenv'],
      params: { requirements: required('--requirement=', requirements) },
    }),
    uninstall: action('Remove packages with pip', 'Removes packages from a venv.', ['execute', 'write'], {
      role: 'remove',
      run: ['uninstall', '--yes', '--require-virtualenv'],
      params: { packages: names },
      given: { packages: ['requests'] },
    }),
    show: action('Describe packages with pip', 'Version, place, needs and dependents.', ['execute'], {
      run: ['show'],
      params: { packages: names },
      given: { packages: ['requests'] },
    }),
    check: action('Check packages with pip', 'Requirements missing or of the wrong version.', ['execute'], {
      run: ['check'],
      ok: [0, 1],
      out: entries('problem')(
        lines(new RegExp(`^(?:No broken.*|(?<of>\\S+ \\S+) (?<says>${broken}))$`), ({ of, says }) =>
          of === undefined ? undefined : { name: of, says },
        ),
      ),
    }),
    freeze: action('Freeze packages with pip', 'What is installed, as requirements.', ['execute'], {
      run: ['freeze'],
    }),
  },
};
