import * as z from 'zod';
import * as grammar from '../../core/grammar.ts';
import { gnu } from '../reports/diagnostics.ts';
import { diagnostics, tests } from '../reports/kinds.ts';
import { junit } from '../reports/xml.ts';

// A program in a file of a person's own: the part of the grammar that is data.

const word = z.string().min(1).max(1000);
const words = z.union([word, z.array(word)]);
const says = z.string().min(1).max(300).describe('What it is, in a few words');

const parameter = z
  .strictObject({
    says,
    type: z
      .enum(['name', 'text', 'path', 'file', 'folder', 'number'])
      .default('name')
      .describe('What it may be; paths must lie in the project'),
    list: z.boolean().default(false).describe('Several of them'),
    required: z.boolean().default(false),
    option: word.optional().describe('Written behind this option; glued to it when it ends with "="'),
    on: words.optional().describe('A yes or no: these words stand there when it is yes'),
    choice: z
      .record(word, words)
      .refine((all) => Object.keys(all).length > 0, 'needs at least one name')
      .optional()
      .describe('One of these names: its words stand there'),
    variable: word.optional().describe('Put into this variable of the environment'),
    operand: z.boolean().optional().describe('Written behind all options'),
    words: z.boolean().optional().describe('Any words, options too, for what the action runs'),
    input: z.boolean().optional().describe('Read by the program on standard input'),
  })
  .refine(
    (one) => ways.filter((way) => one[way] !== undefined).length === 1,
    `needs exactly one of option, on, choice, variable, operand, words, input`,
  )
  .refine(
    ({ list, variable, input }) => !(list && (variable !== undefined || input)),
    'list: one variable, or the input, cannot hold several; expected option or operand beside it',
  );
const ways = ['option', 'on', 'choice', 'variable', 'operand', 'words', 'input'] as const;

const oneAction = z.strictObject({
  title: z.string().min(1).max(60),
  description: z.string().min(1).max(160),
  effects: z.array(z.enum(grammar.effects)).min(1).describe('What running it can do'),
  run: z.array(word).describe('Fixed words; the parameters follow: options, then operands'),
  dashes: z.boolean().default(true).describe('Whether it knows "--" before operands'),
  ok: z.array(z.int()).optional().describe('Exit codes that are an answer; [0] when left out'),
  out: z.enum(['text', 'diagnostics']).default('text').describe('diagnostics: file:line: message'),
  tests: word.optional().describe('A glob of the JUnit reports that it writes'),
  params: z.record(z.string().regex(/^[a-z][a-z0-9_]{0,29}$/, 'expected a_name'), parameter).default({}),
});

/** The schema of a file of a program. */
export const programFile = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9_]{0,19}$/, 'expected a name of small letters and digits'),
  title: z.string().min(1).max(40),
  category: z.enum(grammar.categories).default('other'),
  site: z.url().default('https://example.org'),
  called: z.array(word).min(1).optional().describe('Its names, best first; the id when left out'),
  project: z.array(word).optional().describe('Files by which a project shows that it uses it'),
  environment: z.array(word).optional().describe('Variables that it may inherit'),
  settings: z.record(word, z.string()).optional().describe('Variables that it is run with'),
  actions: z.record(z.string().regex(/^[a-z][a-z0-9_]{0,29}$/, 'expected a_name'), oneAction),
});
export type ProgramFile = z.output<typeof programFile>;
type FileParameter = z.output<typeof parameter>;

function schemaOf({ says: description, type, list, required }: FileParameter): z.ZodType {
  const one = {
    name: grammar.name(description),
    text: grammar.text(description),
    path: grammar.path(description),
    file: grammar.path(description, 'file'),
    folder: grammar.path(description, 'folder'),
    number: z.number().describe(description),
  }[type];
  if (list)
    return required ? z.array(one).min(1).max(1000).describe(description) : grammar.list(one, description);
  return required ? one : one.optional();
}

function paramOf(one: FileParameter): grammar.Param {
  const schema = schemaOf(one);
  if (one.option !== undefined) return grammar.required(one.option, schema);
  if (one.on !== undefined) return grammar.on(one.on, one.says);
  if (one.choice !== undefined) return grammar.choice(one.choice, one.says);
  if (one.variable !== undefined) return grammar.variable(one.variable, schema);
  if (one.words) return grammar.words(one.says);
  return one.input ? grammar.input(schema) : grammar.operand(schema);
}

/** The program that a file describes. `least` are effects that each of its actions has at least. */
export function programFrom(
  { actions, ...facts }: ProgramFile,
  least: readonly 'execute'[] = [],
): grammar.Program {
  const made = Object.entries(actions).map(([key, one]) => {
    const { title, description, run, dashes, ok, out, tests: reports, params } = one;
    const does =
      least.length > 0
        ? [...new Set([...one.effects.filter((effect) => effect !== 'read'), ...least])]
        : one.effects;
    const spec = {
      run,
      ...(!dashes && { dashes: false as const }),
      ...(ok && { ok }),
      ...(reports !== undefined && {
        steps: { reports: [reports] },
        out: tests(junit(({ of, name }) => (of === '' ? name : `${of}.${name}`))),
      }),
      ...(out === 'diagnostics' && { out: diagnostics(gnu) }),
      params: Object.fromEntries(Object.entries(params).map(([name, param]) => [name, paramOf(param)])),
    };
    return [key, grammar.action(title, description, does, spec as never)] as const;
  });
  const { called, project, environment, settings, ...rest } = facts;
  return grammar.program(facts.id, {
    ...rest,
    get: {},
    ...(called && { called }),
    ...(project && { project }),
    ...(environment && { environment }),
    ...(settings && { settings }),
    actions: Object.fromEntries(made),
  });
}
