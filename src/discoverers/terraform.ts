import * as z from 'zod';
import {
  action,
  family,
  list,
  matching,
  name,
  on,
  operand,
  option,
  type Output,
  path,
  type Program,
  told,
  ToolcribError,
} from '../core/grammar.ts';
import { diagnostics, entries, level } from './reports/kinds.ts';
import { allFormatted, json, jsonLines, lines, saidOr } from './reports/readers.ts';
import { makes, reaches, runs, writes } from './shared/programs.ts';

const position = z.object({ line: z.int(), column: z.int() });
const problem = z.object({
  severity: z.string(),
  summary: z.string(),
  detail: z.string().default(''),
  range: z.object({ filename: z.string(), start: position }).nullish(),
});
const diagnostic = ({ severity, summary, detail, range }: z.output<typeof problem>) => ({
  level: level(severity),
  message: detail === '' ? summary : `${summary}: ${detail}`,
  ...(range && { file: range.filename, ...range.start }),
});

const said = z.object({
  diagnostic: problem.optional(),
  type: z.string(),
  change: z.object({ action: z.string(), resource: z.object({ addr: z.string() }) }).optional(),
});
/** The planned changes; mistakes come on the same stream. */
const planned = (output: Output) => {
  const all = jsonLines(said, (found) => found)(output);
  const wrong = all.flatMap(({ diagnostic: one }) => (one?.severity === 'error' ? [diagnostic(one)] : []));
  const messages = wrong.map((one) => [one.file, one.line, one.message].filter(Boolean).join(': '));
  if (output.exitCode !== 0) throw new ToolcribError('PROGRAM_FAILED', messages.join('\n') || output.stdout);
  if (!all.some(({ type }) => type === 'change_summary')) throw new Error('no summary');
  return all.flatMap(({ type, change }) =>
    type === 'planned_change' && change ? [{ name: change.resource.addr, says: change.action }] : [],
  );
};

const outputs = z.record(z.string(), z.object({ sensitive: z.boolean(), value: z.unknown() }));
const values = json(
  outputs,
  (all) =>
    Object.entries(all)
      .map(([key, one]) => `${key} = ${one.sensitive ? '(sensitive)' : JSON.stringify(one.value)}`)
      .join('\n') || 'no outputs',
);

const assignment = matching(/^\w[\w-]*=/, 'name=value', 'Variable');
const plan = operand(path('Kept plan', 'file'));
const published = ['execute', 'network', 'publish', 'destroy'] as const;

const looking = (title: string): Program['actions'] => ({
  validate: action(`Validate ${title}`, 'Mistakes in the configuration with their places.', runs, {
    role: 'lint',
    run: ['validate', '-json'],
    ok: [0, 1],
    out: diagnostics(
      json(z.object({ diagnostics: z.array(problem) }), (all) => all.diagnostics.map(diagnostic)),
    ),
  }),
  show: action(`Show a ${title} plan or state`, 'A kept plan with all its values, or the state.', runs, {
    run: ['show', '-no-color'],
    dashes: false,
    params: { plan: operand(path('Kept plan; default: the state', 'file').optional()) },
    given: { plan: 'next.tfplan' },
  }),
  output: action(`Show ${title} outputs`, 'Outputs; sensitive ones by name only.', reaches, {
    run: ['output', '-json'],
    out: told(values),
  }),
  state_list: action(`List ${title} resources`, 'Resources of the state.', reaches, {
    run: ['state', 'list'],
    dashes: false,
    params: { address: operand(name('Only below this address').optional()) },
    out: entries('resource')(lines(/^(?<name>\S.*)$/, ({ name: key = '' }) => ({ name: key }))),
  }),
});

const changing = (title: string): Program['actions'] => ({
  init: action(`Initialise ${title}`, 'Gets providers and modules.', makes, {
    run: ['init', '-no-color'],
    params: { upgrade: on('-upgrade', 'To the newest versions that are allowed') },
  }),
  format: action(`Format ${title} files`, 'Formats files; names those it changed.', writes, {
    role: 'format',
    run: ['fmt', '-recursive'],
    dashes: false,
    ok: [0, 3],
    out: told(saidOr(allFormatted)),
    params: {
      check: on('-check', 'Only say which'),
      only: operand(list(path('File or folder'), 'Only these')),
    },
  }),
  plan: action(`Plan with ${title}`, 'What applying would change.', makes, {
    run: ['plan', '-json', '-lock=false'],
    params: {
      variables: option('-var=', list(assignment, 'Variables')),
      var_file: option('-var-file=', path('File of variables', 'file')),
      target: option('-target=', list(name('Address'), 'Only these resources and what they need')),
      destroy: on('-destroy', 'What destroying all would change'),
      save: option('-out=', path('File to keep the plan in', 'file', { written: true })),
    },
    given: { variables: ['region=eu-1'], save: 'next.tfplan' },
    ok: [0, 1],
    out: entries('planned change')(planned),
  }),
  apply: action(`Apply a kept ${title} plan`, 'Makes what a kept plan says, and no more.', published, {
    run: ['apply', '-no-color'],
    dashes: false,
    params: { plan },
    given: { plan: 'next.tfplan' },
    steps: { preview: ({ plan: kept }) => ['show', '-no-color', kept] },
  }),
});

export default family(
  {
    terraform: {
      title: 'Terraform',
      site: 'https://developer.hashicorp.com/terraform/cli',
      get: { brew: 'terraform', winget: 'Hashicorp.Terraform' },
    },
    tofu: {
      title: 'OpenTofu',
      site: 'https://opentofu.org/docs/cli',
      get: { brew: 'opentofu', winget: 'OpenTofu.Tofu' },
    },
  },
  (row, id) => ({
    ...row,
    category: 'other',
    project: ['*.tf', '*.tf.json', '.terraform.lock.hcl'],
    environment: ['TF_WORKSPACE', 'TF_PLUGIN_CACHE_DIR', 'AWS_PROFILE', 'AWS_REGION', 'KUBECONFIG'],
    settings: { TF_IN_AUTOMATION: '1', TF_INPUT: '0', CHECKPOINT_DISABLE: '1' },
    hints: [
      { says: /terraform init|tofu init/, wayOut: `The folder is not initialised: ${id}_init does that.` },
    ],
    actions: { ...looking(row.title), ...changing(row.title) },
  }),
);
