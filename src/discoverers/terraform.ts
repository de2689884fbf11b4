import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import { on, operand, option } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, family, type Program } from '../core/program.ts';
import { told, type Output } from '../core/report.ts';
import { diagnostics, entries, level, plannedChanges } from './reports/kinds.ts';
import { json, jsonLines, lines } from './reports/readers.ts';
import { makes, reaches, reads, runs, writes } from './shared/effects.ts';

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
/** What would change; mistakes come on the same stream. */
const planned = (output: Output) => {
  const all = jsonLines(said, (found) => found)(output);
  const wrong = all.flatMap(({ diagnostic: one }) => (one?.severity === 'error' ? [diagnostic(one)] : []));
  const messages = wrong.map((one) => [one.file, one.line, one.message].filter(Boolean).join(': '));
  if (output.exitCode !== 0) throw new ToolcribError('PROGRAM_FAILED', messages.join('\n') || output.stdout);
  if (!all.some(({ type }) => type === 'change_summary')) throw new Error('no summary');
  return all.flatMap(({ type, change }) =>
    type === 'planned_change' && change ? [{ action: change.action, name: change.resource.addr }] : [],
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

const params = {
  variables: option('-var=', list(z.string().regex(/^\w[\w-]*=/, 'expected name=value'), 'Variables')),
  var_file: option('-var-file=', path('File of variables', 'file')),
  target: option('-target=', list(name('Address'), 'Only these resources and what they need')),
};
const plan = operand(path('Kept plan', 'file'));
const published = ['execute', 'network', 'publish', 'destroy'] as const;
const quiet = ['-no-color', '-lock=false'];

const looking = (title: string): Program['actions'] => ({
  validate: action(`Validate ${title}`, 'Mistakes in the configuration with their places.', runs, {
    role: 'lint',
    run: ['validate', '-json'],
    ok: [0, 1],
    out: diagnostics(
      json(z.object({ diagnostics: z.array(problem) }), (all) => all.diagnostics.map(diagnostic)),
    ),
  }),
  format_check: action(`Check the format of ${title}`, 'What formatting would change.', reads, {
    run: ['fmt', '-check', '-diff', '-recursive', '-no-color'],
    ok: [0, 3],
    out: told(({ stdout }) => stdout.trim() || 'All files are formatted.'),
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
  state_show: action(`Show a ${title} resource`, 'Attributes of a resource.', reaches, {
    run: ['state', 'show', '-no-color'],
    dashes: false,
    params: { address: operand(name('Address')) },
    given: { address: 'aws_instance.web' },
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
    params: { only: operand(path('File or folder').optional()) },
  }),
  plan: action(`Plan with ${title}`, 'What applying would change.', makes, {
    run: ['plan', '-json', '-lock=false'],
    params: {
      ...params,
      destroy: on('-destroy', 'What destroying all would change'),
      save: option('-out=', path('File to keep the plan in', 'file', { written: true })),
    },
    given: { variables: ['region=eu-1'], save: 'next.tfplan' },
    ok: [0, 1],
    out: plannedChanges(planned),
  }),
  apply: action(`Apply ${title}`, 'Makes the infrastructure as the configuration says.', published, {
    run: ['apply', '-auto-approve', '-no-color'],
    params,
    first: ({ variables, var_file, target }) => ['plan', ...quiet, variables, var_file, target],
  }),
  apply_plan: action(`Apply a kept ${title} plan`, 'Makes what a kept plan says, and no more.', published, {
    run: ['apply', '-no-color'],
    dashes: false,
    params: { plan },
    given: { plan: 'next.tfplan' },
    first: ({ plan: kept }) => ['show', '-no-color', kept],
  }),
  destroy: action(`Destroy ${title} resources`, 'Deletes all that the state has.', published, {
    run: ['destroy', '-auto-approve', '-no-color'],
    params,
    first: ({ variables, var_file, target }) => ['plan', '-destroy', ...quiet, variables, var_file, target],
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
