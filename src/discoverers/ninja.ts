import * as z from 'zod';
import { on, operand, option, required } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { compiled } from './reports/diagnostics.ts';
import { diagnostics, tasks } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';
import { reads, runs } from './shared/programs.ts';

const folder = required('-C', path('Folder of build.ninja', 'folder').default('.'));
const targets = operand(list(name('Target'), 'The usual ones unless told'));

export default program('ninja', {
  title: 'Ninja',
  category: 'build',
  site: 'https://ninja-build.org/manual.html',
  get: { apt: 'ninja-build', brew: 'ninja', winget: 'Ninja-build.Ninja' },
  called: ['ninja', 'ninja-build'],
  project: ['build.ninja', '*/build.ninja'],
  settings: { NINJA_STATUS: '[%f/%t] ', LC_ALL: 'C.UTF-8' },
  hints: [
    {
      says: /loading 'build\.ninja'/,
      wayOut: 'Give the folder that has build.ninja, often build, as folder.',
    },
    { says: /unknown target/, wayOut: 'ninja_targets lists the targets there are.' },
  ],
  actions: {
    build: action('Build with Ninja', 'Builds targets; compilers’ errors with their places.', runs, {
      role: 'build',
      run: [],
      params: {
        folder,
        jobs: option('-j', z.int().min(1).max(256).describe('Jobs at once')),
        keep_going: on(['-k', '0'], 'Go on after failures'),
        targets,
      },
      given: { folder: 'build', targets: ['app'] },
      ok: [0, 1],
      out: diagnostics(compiled),
    }),
    targets: action('List Ninja targets', 'Targets of a build folder that stand for files.', reads, {
      role: 'tasks',
      run: ({ folder: here }) => [here, '-t', 'targets', 'all'],
      params: { folder },
      out: tasks(
        lines(/^(?<name>\S+): (?<says>\S+)$/, ({ name: target = '', says }) => ({ name: target, says })),
      ),
    }),
  },
});
