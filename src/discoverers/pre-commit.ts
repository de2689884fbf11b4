import { action, name, on, operand, path, some } from '../core/grammar.ts';
import { pythonTool } from './shared/python.ts';
import { makes } from './shared/programs.ts';

const hook = operand(name('Only this hook').optional());

export default pythonTool('pre_commit', {
  title: 'pre-commit',
  site: 'https://pre-commit.com',
  get: { apt: 'pre-commit', brew: 'pre-commit' },
  called: ['pre-commit'],
  project: ['.pre-commit-config.yaml'],
  environment: ['VIRTUAL_ENV', 'PRE_COMMIT_HOME', 'SKIP'],
  settings: { PRE_COMMIT_COLOR: 'never' },
  everyday: 'autoupdate install migrate-config run validate-config',
  actions: {
    run: action('Run pre-commit hooks', 'Checks what is staged, or all files; hooks may fix.', makes, {
      run: ({ hook: one, all }) => ['run', '--show-diff-on-failure', all, one],
      params: { all: on('--all-files', 'All files, not what is staged'), hook },
      given: { all: true },
    }),
    run_files: action('Run pre-commit hooks on files', 'Checks these files; hooks may fix.', makes, {
      run: ({ hook: one, files }) => ['run', one, '--files', files],
      params: { hook, files: operand(some(path('File', 'file'), 'Files')) },
      given: { files: ['src/cart.py'] },
    }),
    install: action('Install the pre-commit git hook', 'Git runs the hooks at each commit.', makes, {
      run: ['install', '--install-hooks'],
    }),
    update: action('Update pre-commit hooks', 'Takes the newest version of each repository.', makes, {
      run: ['autoupdate'],
    }),
  },
});
