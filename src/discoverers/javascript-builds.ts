import * as z from 'zod';
import { action, list, name, on, operand, option, path, words } from '../core/grammar.ts';
import { gnu, together } from './reports/diagnostics.ts';
import { diagnostics, tasks } from './reports/kinds.ts';
import { nodeTool, reaches, reads, runs } from './shared/programs.ts';
import { ofNamedTask } from './shared/tasks.ts';

const port = option('--port', z.int().min(1).max(65_535).describe('Port to listen on'));
const mode = option('--mode', name('Mode: production, development'));
const args = words('Arguments of the task');
const config = option('--config', path('Configuration of another name', 'file'));

const serving = { params: { port, mode, config }, given: { port: 5173 }, stays: 'job' } as const;

const task = z.object({ dependsOn: z.array(z.string()).optional() });
const turbo = z.object({
  tasks: z.record(z.string(), task).optional(),
  pipeline: z.record(z.string(), task).optional(),
});

export default [
  nodeTool('vite', {
    title: 'Vite',
    site: 'https://vite.dev/guide/cli',
    project: ['vite.config.*'],
    actions: {
      build: action('Build with Vite', 'Bundles the project for production.', runs, {
        role: 'build',
        run: ['build'],
        params: { mode, config },
        given: { mode: 'staging' },
        ok: [0, 1],
        out: diagnostics(together(gnu)),
      }),
      dev: action('Serve with Vite', 'Starts the development server, as a job.', reaches, {
        run: ['dev', '--strictPort'],
        ...serving,
      }),
    },
  }),
  nodeTool('turbo', {
    title: 'Turborepo',
    site: 'https://turborepo.com/docs/reference/run',
    project: ['turbo.json', 'turbo.jsonc'],
    settings: {
      TURBO_TELEMETRY_DISABLED: '1',
      TURBO_NO_UPDATE_NOTIFIER: '1',
      TURBO_UI: 'false',
    },
    actions: {
      tasks: action('List Turborepo tasks', 'Tasks of the turbo.json, and what they depend on.', reads, {
        role: 'tasks',
        run: { reads: ['turbo.json', 'turbo.jsonc'] },
        out: tasks(({ stdout }) => {
          const { tasks: all, pipeline } = turbo.parse(JSON.parse(stdout.replaceAll(/^\s*\/\/.*$/gm, '')));
          return Object.entries(all ?? pipeline ?? {}).map(([key, { dependsOn }]) => ({
            name: key,
            says: dependsOn?.length ? `after ${dependsOn.join(', ')}` : undefined,
          }));
        }),
      }),
      run: action('Run a Turborepo task', 'Runs a task in all packages that have it.', reaches, {
        role: 'task',
        moreEffects: ofNamedTask,
        run: ({ task: named, filter, affected, args: rest }) => [
          ...['run', named, '--output-logs=new-only', filter, affected, '--', rest],
        ],
        params: {
          task: operand(name('Task')),
          filter: option('--filter=', list(name('Package, or ./folder'), 'Only in these packages')),
          affected: on('--affected', 'Only packages that differ from the main branch'),
          args,
        },
        given: { task: 'build', filter: ['web'] },
      }),
    },
  }),
];
