import { on, operand, required } from '../core/parameter.ts';
import { list, name, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import type { Output } from '../core/report.ts';
import { entries } from './reports/kinds.ts';
import { changes, makes, reaches, reads, runs } from './shared/effects.ts';

/** `time,machine,type,data` a line: a machine's state in words, and what runs it. */
const machines = ({ stdout }: Output) => {
  const all = stdout.split('\n').map((line) => line.trim().split(','));
  const found = all.filter(([, machine, type]) => machine && type === 'state');
  if (found.length === 0) throw new Error('no machine');
  const said = (of = '', key = '') => all.find(([, machine, type]) => machine === of && type === key)?.[3];
  return found.map(([, machine = '', , state]) => ({
    name: machine,
    says: [state, said(machine, 'provider-name')].filter(Boolean).join(', '),
  }));
};
const machine = operand(list(name('Machine'), 'Default: all'));

export default program('vagrant', {
  title: 'Vagrant',
  category: 'other',
  site: 'https://developer.hashicorp.com/vagrant/docs/cli',
  get: { apt: 'vagrant', brew: 'vagrant', winget: 'Hashicorp.Vagrant' },
  project: ['Vagrantfile'],
  environment: ['VAGRANT_HOME', 'VAGRANT_DEFAULT_PROVIDER', 'SSH_AUTH_SOCK'],
  settings: { VAGRANT_NO_COLOR: '1', VAGRANT_CHECKPOINT_DISABLE: '1' },
  actions: {
    // The Vagrantfile is Ruby, which each of these runs.
    status: action('List Vagrant machines', 'Machines of the Vagrantfile with their states.', runs, {
      run: ['status', '--machine-readable'],
      params: { machine },
      out: entries('machine')(machines),
    }),
    validate: action('Validate a Vagrantfile', 'Whether the Vagrantfile can be used.', runs, {
      run: ['validate'],
    }),
    up: action('Start Vagrant machines', 'Makes, starts and provisions machines.', makes, {
      run: ['up'],
      params: { provision: on('--provision', 'Again, when it was done before'), machine },
    }),
    provision: action('Provision Vagrant machines', 'Runs the provisioners again.', makes, {
      run: ['provision'],
      params: { machine },
    }),
    halt: action('Stop Vagrant machines', 'Shuts machines down and keeps them.', changes, {
      run: ['halt'],
      params: { machine },
    }),
    ssh: action('Run a command in a Vagrant machine', 'Runs a shell command over SSH.', reaches, {
      run: ['ssh', '--no-tty'],
      params: {
        command: required('--command', text('Shell command')),
        machine: operand(name('Machine').optional()),
      },
      given: { command: 'uname -a' },
    }),
    destroy: action(
      'Destroy Vagrant machines',
      'Deletes machines with all on them.',
      ['execute', 'destroy'],
      {
        run: ['destroy', '--force'],
        params: { machine },
        first: ({ machine: which }) => ['status', which],
      },
    ),
    boxes: action('List Vagrant boxes', 'Boxes on this machine.', reads, { run: ['box', 'list'] }),
  },
});
