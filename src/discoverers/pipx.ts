import * as z from 'zod';
import { on, operand, words } from '../core/parameter.ts';
import { action, program } from '../core/program.ts';
import { packages } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { packageName, requirement } from './shared/python.ts';

const changes = ['execute', 'write', 'network'] as const;
const main = z.object({ package_version: z.string(), apps: z.array(z.string()) });
const venvs = z.object({
  venvs: z.record(z.string(), z.object({ metadata: z.object({ main_package: main }) })),
});
const given = { package: 'ruff' };

export default program('pipx', {
  title: 'pipx',
  category: 'package-manager',
  site: 'https://pipx.pypa.io',
  get: { apt: 'pipx', brew: 'pipx', pip: 'pipx' },
  environment: [
    'PIPX_HOME',
    'PIPX_BIN_DIR',
    'PIP_INDEX_URL',
    'PIP_EXTRA_INDEX_URL',
    'PIP_CERT',
    'PIP_CONFIG_FILE',
  ],
  settings: { NO_COLOR: '1', USE_EMOJI: '0' },
  actions: {
    list: action('List programs of pipx', 'Python programs that it installed.', ['execute'], {
      role: 'list',
      run: ['list', '--json'],
      out: packages(
        json(venvs, ({ venvs: all }) =>
          Object.entries(all).map(([key, { metadata }]) => ({
            name: key,
            version: metadata.main_package.package_version,
            group: metadata.main_package.apps.join(', '),
          })),
        ),
      ),
    }),
    install: action('Install a program with pipx', 'Installs a Python program by itself.', changes, {
      run: ['install'],
      params: { force: on('--force', 'Again'), package: operand(requirement) },
      given,
    }),
    upgrade: action('Upgrade a program of pipx', 'Brings one to its newest version.', changes, {
      run: ['upgrade'],
      params: { package: operand(packageName) },
      given,
    }),
    uninstall: action('Remove a program of pipx', 'Removes it with its environment.', ['execute', 'write'], {
      run: ['uninstall'],
      params: { package: operand(packageName) },
      given,
    }),
    run: action('Run a Python program with pipx', 'Fetches it for this run.', changes, {
      run: ({ package: of, args }) => ['run', of, args],
      params: { package: operand(requirement), args: words('Arguments of the program') },
      given: { package: 'cowsay', args: ['-t', 'hello'] },
    }),
  },
});
