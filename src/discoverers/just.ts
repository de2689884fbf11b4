import * as z from 'zod';
import { action, name, operand, program, words } from '../core/grammar.ts';
import { tasks } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { runs } from './shared/programs.ts';
import { ofNamedTask } from './shared/tasks.ts';

const recipe = z.object({ doc: z.string().nullish(), private: z.boolean().optional() });
const dump = z.object({ recipes: z.record(z.string(), recipe) });

export default program('just', {
  title: 'just',
  category: 'build',
  // No program in an option.
  everyday: /^(?!(?:.* )?(?:--(?:shell|com|set|evaluate)|-c))/,
  site: 'https://just.systems/man/en',
  get: { apt: 'just', brew: 'just', winget: 'Casey.Just', cargo: 'just' },
  project: ['justfile', 'Justfile', '.justfile'],
  hints: [{ says: /does not contain recipe/, wayOut: 'just_tasks lists the recipes there are.' }],
  actions: {
    tasks: action('List just recipes', 'Recipes of the justfile with what they do.', runs, {
      role: 'tasks',
      run: ['--dump', '--dump-format=json'],
      out: tasks(
        json(dump, ({ recipes }) =>
          Object.entries(recipes).flatMap(([key, { doc, private: hidden }]) =>
            hidden ? [] : [{ name: key, says: doc ?? undefined }],
          ),
        ),
      ),
    }),
    task: action('Run a just recipe', 'Runs one recipe of the justfile.', runs, {
      role: 'task',
      moreEffects: ofNamedTask,
      run: ({ task, args }) => [task, args],
      params: { task: operand(name('Recipe')), args: words('Arguments of the recipe') },
      given: { task: 'build', args: ['release'] },
    }),
  },
});
