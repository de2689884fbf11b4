import * as z from 'zod';
import { choice, on, operand, option } from '../core/parameter.ts';
import { path, some } from '../core/params.ts';
import { action } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { pythonTool } from './shared/python.ts';

const notebooks = operand(some(path('Notebook', 'file'), 'Notebooks'));
const given = { notebooks: ['analysis.ipynb'] };
const formats = ['html', 'markdown', 'script', 'rst', 'latex', 'pdf', 'slides'] as const;
const specs = z.object({
  kernelspecs: z.record(
    z.string(),
    z.object({ resource_dir: z.string(), spec: z.object({ display_name: z.string() }) }),
  ),
});

export default pythonTool('jupyter', {
  title: 'Jupyter',
  site: 'https://nbconvert.readthedocs.io',
  get: { apt: 'jupyter', brew: 'jupyterlab' },
  project: ['*.ipynb'],
  environment: ['VIRTUAL_ENV', 'JUPYTER_PATH', 'JUPYTER_CONFIG_DIR'],
  hints: [{ says: /No such kernel|NoSuchKernel/, wayOut: 'jupyter_kernels lists the kernels there are.' }],
  actions: {
    convert: action(
      'Convert Jupyter notebooks',
      'Writes notebooks as scripts, HTML, Markdown, PDF.',
      ['execute', 'write'],
      {
        run: ['nbconvert'],
        params: {
          to: choice(
            Object.fromEntries(formats.map((key) => [key, `--to=${key}`])) as Record<
              (typeof formats)[number],
              string
            >,
            'Format',
          ),
          execute: on('--execute', 'Run it first'),
          no_input: on('--no-input', 'Leave code out'),
          folder: option('--output-dir', path('Where to', 'folder', { written: true })),
          notebooks,
        },
        given: { to: 'script', ...given },
      },
    ),
    run: action('Run Jupyter notebooks', 'Runs notebooks, and keeps results in them.', ['execute', 'write'], {
      run: ['nbconvert', '--to=notebook', '--execute', '--inplace'],
      params: { go_on: on('--allow-errors', 'Go on after an error'), notebooks },
      given,
    }),
    kernels: action('List Jupyter kernels', 'Kernels that notebooks can run in.', ['execute'], {
      run: ['kernelspec', 'list', '--json'],
      out: entries('kernel')(
        json(specs, ({ kernelspecs }) =>
          Object.entries(kernelspecs).map(([key, { spec, resource_dir: folder }]) => ({
            name: key,
            says: `${spec.display_name}, ${folder}`,
          })),
        ),
      ),
    }),
  },
});
