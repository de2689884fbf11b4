import * as z from 'zod';
import { glue } from '../core/command-line.ts';
import { operand } from '../core/parameter.ts';
import { path } from '../core/params.ts';
import { action, program } from '../core/program.ts';

// An expression may load any file; a path of keys cannot, and both programs called yq know it.
const keys = z
  .string()
  .max(1000)
  .regex(
    /^(?:\.|(?:\.[\w-]+|\.\["[^"\\]*"\]|\.\[\d*\]|(?<=.)\[\d*\])+)(?: ?\| ?(?:keys|length))?$/,
    'expected a path of keys: .services.web, .jobs["a b"], .list[0] | length',
  )
  .describe('Path of keys: .services.web.image, .services | keys');
const isJson = (text: string) => {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
};
const value = z.string().max(10_000).refine(isJson, 'expected JSON: "text", 3, true, {"a": 1}');
const file = (written = false) => operand(path('YAML file', 'file', { written }));

export default program('yq', {
  title: 'yq',
  category: 'other',
  site: 'https://mikefarah.gitbook.io/yq',
  get: { apt: 'yq', brew: 'yq', winget: 'MikeFarah.yq' },
  hints: [
    {
      says: /in-place can only be used with -y/,
      wayOut: 'This is the yq in Python, which would lose comments: edit the file instead.',
    },
  ],
  actions: {
    get: action(
      'Read YAML with yq',
      'Shows a value of a YAML file, its keys, or how many there are.',
      ['read'],
      {
        run: [],
        dashes: false,
        params: { keys: operand(keys), path: file() },
        given: { keys: '.services | keys', path: 'compose.yaml' },
      },
    ),
    set: action('Change YAML with yq', 'Sets a value of a YAML file; comments stay.', ['write'], {
      run: ({ keys: at, value: to, path: it }) => ['-i', glue(at, ' = ', to), it],
      params: { keys: operand(keys), value: operand(value.describe('New value, as JSON')), path: file(true) },
      given: { keys: '.services.web.image', value: '"nginx"', path: 'compose.yaml' },
    }),
  },
});
