import * as z from 'zod';
import { on, option, words } from '../core/parameter.ts';
import { name } from '../core/params.ts';
import { action } from '../core/program.ts';
import { tasks } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { pythonTool } from './shared/python.ts';

const session = z.object({ session: z.string(), description: z.string().nullish() });

export default pythonTool('nox', {
  title: 'Nox',
  site: 'https://nox.thea.codes',
  get: { apt: 'python3-nox', brew: 'nox' },
  project: ['noxfile.py'],
  environment: ['VIRTUAL_ENV', 'PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_CERT', 'PIP_CONFIG_FILE'],
  actions: {
    tasks: action('List Nox sessions', 'Sessions of the noxfile.py.', ['execute'], {
      role: 'tasks',
      run: ['--list', '--json'],
      out: tasks(
        json(z.array(session), (all) =>
          all.map(({ session: of, description }) => ({ name: of, says: description ?? undefined })),
        ),
      ),
    }),
    task: action('Run a Nox session', 'Runs one session.', ['execute', 'network'], {
      role: 'task',
      run: ({ reuse, task, args }) => [reuse, task, '--', args],
      params: {
        reuse: on('--reuse-existing-virtualenvs', 'Keep environments that are there'),
        task: option('--session', name('Session')),
        args: words('Arguments of the session: session.posargs'),
      },
      given: { task: 'tests', args: ['-k', 'cart'] },
    }),
  },
});
