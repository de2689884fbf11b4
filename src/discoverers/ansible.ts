import * as z from 'zod';
import { on, operand, option } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told } from '../core/report.ts';
import { diagnostics, level } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { reaches, runs } from './shared/effects.ts';

const inventory = option('--inventory=', path('Inventory; default: as configured'));
const hosts = option('--limit=', name('Only these hosts or groups'));
const assignment = z.string().regex(/^[A-Za-z_]\w*=/, 'expected name=value');
const playbook = operand(path('Playbook', 'file'));
const params = {
  inventory,
  limit: hosts,
  tags: option('--tags=', list(name('Tag'), 'Only tasks with these tags'), (all) => all.join(',')),
  // As JSON: what is written as name=value is split at blanks.
  variables: option('--extra-vars=', list(assignment, 'Variables: name=value'), (all) =>
    JSON.stringify(
      Object.fromEntries(all.map((one) => [one.split('=')[0], one.slice(one.indexOf('=') + 1)])),
    ),
  ),
  become: on('--become', 'As the administrator of the hosts'),
  playbook,
};
const given = { playbook: 'site.yml' };
const settings = {
  ANSIBLE_NOCOLOR: '1',
  ANSIBLE_NOCOWS: '1',
  ANSIBLE_DEPRECATION_WARNINGS: 'False',
  ANSIBLE_STDOUT_CALLBACK: 'default',
};
const facts = {
  category: 'other' as const,
  environment: ['ANSIBLE_CONFIG', 'ANSIBLE_INVENTORY', 'SSH_AUTH_SOCK'],
  project: ['ansible.cfg', 'playbooks', 'site.yml', 'galaxy.yml'],
  settings,
};

const ansible = program('ansible', {
  ...facts,
  title: 'Ansible',
  site: 'https://docs.ansible.com/ansible/latest/command_guide',
  get: { apt: 'ansible-core', brew: 'ansible', pip: 'ansible-core' },
  called: ['ansible-playbook'],
  version: { args: ['--version'], pattern: /\[?core (\d[\w.]+)/ },
  hints: [
    {
      says: /Missing sudo password/,
      wayOut: 'There is nobody to type a password: become has to work without.',
    },
  ],
  actions: {
    syntax: action('Check the syntax of an Ansible playbook', 'Whether a playbook can be read.', runs, {
      run: ['--syntax-check'],
      params: { inventory, playbook },
      given,
    }),
    hosts: action('List the hosts of an Ansible playbook', 'On which hosts it would run.', runs, {
      run: ['--list-hosts'],
      params: { inventory, limit: hosts, playbook },
      given,
    }),
    check: action('Dry-run an Ansible playbook', 'What it would change on its hosts.', reaches, {
      run: ['--check', '--diff'],
      params,
      given,
    }),
    run: action(
      'Run an Ansible playbook',
      'Changes the hosts as the playbook says.',
      ['execute', 'network', 'publish', 'destroy'],
      {
        run: ['--diff'],
        params,
        given,
        first: (at) => [
          ...[
            '--check',
            '--diff',
            at.inventory,
            at.limit,
            at.tags,
            at.variables,
            at.become,
            '--',
            at.playbook,
          ],
        ],
        // A dry run fails where a task needs what an earlier one would have made.
        firstOk: [0, 2],
      },
    ),
  },
});

const group = z.object({ hosts: z.array(z.string()).default([]), children: z.array(z.string()).default([]) });
const inventories = program('ansible_inventory', {
  ...facts,
  title: 'Ansible inventory',
  site: 'https://docs.ansible.com/ansible/latest/cli/ansible-inventory.html',
  get: { apt: 'ansible-core', brew: 'ansible', pip: 'ansible-core' },
  called: ['ansible-inventory'],
  version: { args: ['--version'], pattern: /\[?core (\d[\w.]+)/ },
  actions: {
    groups: action('List Ansible hosts', 'Groups of the inventory with their hosts.', runs, {
      run: ['--list'],
      params: { inventory },
      out: told(
        json(z.record(z.string(), z.unknown()), ({ _meta, ...groups }) =>
          Object.entries(groups)
            .map(([key, one]) => [key, group.parse(one)] as const)
            .map(
              ([key, one]) =>
                `${key}: ${[...one.hosts, ...one.children.map((child) => `@${child}`)].join(' ')}`,
            )
            .join('\n'),
        ),
      ),
    }),
  },
});

const place = z.object({
  path: z.string(),
  lines: z.object({ begin: z.union([z.int(), z.object({ line: z.int() })]) }).optional(),
  positions: z.object({ begin: z.object({ line: z.int() }) }).optional(),
});
const issue = z.object({
  check_name: z.string(),
  description: z.string(),
  severity: z.string(),
  location: place,
});
const lint = program('ansible_lint', {
  ...facts,
  title: 'ansible-lint',
  site: 'https://ansible.readthedocs.io/projects/lint',
  get: { apt: 'ansible-lint', brew: 'ansible-lint', pip: 'ansible-lint' },
  called: ['ansible-lint'],
  project: ['.ansible-lint', 'ansible.cfg', 'galaxy.yml'],
  actions: {
    lint: action('Lint Ansible playbooks', 'Mistakes and bad habits in playbooks and roles.', runs, {
      role: 'lint',
      run: ['--offline', '--nocolor', '--format=codeclimate'],
      params: { only: operand(list(path('Playbook or role'), 'Default: what it finds')) },
      ok: [0, 2],
      out: diagnostics(
        json(z.array(issue), (all) =>
          all.map(({ check_name, description, severity, location }) => {
            const begin = location.lines?.begin ?? location.positions?.begin;
            return {
              level: /^(?:major|critical|blocker)$/.test(severity) ? level('error') : level('warning'),
              message: description,
              code: check_name,
              file: location.path,
              line: typeof begin === 'object' ? begin.line : begin,
            };
          }),
        ),
      ),
    }),
  },
});

export default [ansible, inventories, lint];
