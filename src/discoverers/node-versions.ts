import type { Situation } from '../core/discoverer.ts';
import { glue, type Glue, type Slot } from '../core/command-line.ts';
import { operand, option, required, variable, words } from '../core/parameter.ts';
import { name } from '../core/params.ts';
import { action, family, present, program, type Program, type ProgramAction } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';

type Words = readonly string[];
/** Where the version stands in a line. */
type WithVersion = (version: Slot) => readonly (string | Slot | Glue)[];
interface Row extends Pick<
  Program,
  'title' | 'site' | 'get' | 'called' | 'on' | 'version' | 'elsewhere' | 'inspect'
> {
  list: readonly [line: Words, version: RegExp];
  install: WithVersion;
  /** What it means to use a version beyond one call. */
  use: readonly [line: WithVersion, says: string];
  current: Words;
  run?: ProgramAction;
}

const version = name('Version: 22, 20.11.1, lts/*');
const args = words('Its arguments');
const given = { version: '22', program: 'node', args: ['--test'] };
const once = (title: string) => `Run with a Node.js version of ${title}`;
const says = 'Runs a program with one version of Node.js, for this call only.';
const started = operand(name('Program: node, npm'));

// nvm is a function of the shell. Its nvm-exec is a program, which starts others with a version, and so a shell, too.
const loaded = '. "$NVM_DIR/nvm.sh" --no-use';
const inShell = ['bash', '-c', `${loaded} && nvm "$@"`, 'nvm'];
// It would make a version the default that is not there.
const setDefault = [
  'bash',
  '-c',
  `${loaded} && nvm use --silent "$1" && nvm alias --no-colors default "$1"`,
  'nvm',
];
const withAny = ({ action: key }: Situation) =>
  Promise.resolve(key === 'run' || key === 'current' ? {} : { env: { NODE_VERSION: 'node' } });

const rows: Readonly<Record<string, Row>> = {
  nvm: {
    title: 'nvm',
    site: 'https://github.com/nvm-sh/nvm',
    get: { site: 'https://github.com/nvm-sh/nvm#installing-and-updating', brew: 'nvm' },
    called: ['nvm-exec'],
    on: ['linux', 'darwin'],
    version: 'unknown',
    elsewhere: {
      linux: ['~/.nvm/nvm-exec', '~/.config/nvm/nvm-exec'],
      darwin: ['~/.nvm/nvm-exec', '/opt/homebrew/opt/nvm/nvm-exec', '/usr/local/opt/nvm/nvm-exec'],
    },
    inspect: (_, situation) => withAny(situation),
    list: [
      [...inShell, 'ls', '--no-colors', '--no-alias'],
      /^(?:->)?\s+(?<name>v\d\S*|system)(?: \* \((?<says>.*)\))?/,
    ],
    install: (at) => [...inShell, 'install', '--no-progress', at],
    use: [(at) => [...setDefault, at], 'Makes a version that of new shells.'],
    current: ['node', '--version'],
    run: action(once('nvm'), says, ['execute'], {
      run: ({ program: of, args: rest }) => [of, rest],
      params: {
        version: variable('NODE_VERSION', version.describe('Version; none: what .nvmrc says')),
        program: started,
        args,
      },
      given,
    }),
  },
  nvm_windows: {
    title: 'nvm for Windows',
    site: 'https://github.com/coreybutler/nvm-windows#usage',
    get: { winget: 'CoreyButler.NVMforWindows' },
    called: ['nvm'],
    on: ['win32'],
    version: { args: ['version'], pattern: /(\d+\.\d[\w.]*)/ },
    list: [['list'], /^\s*(?<current>\*)?\s*(?<name>\d+\.\d+\.\d+)/],
    install: (at) => ['install', at],
    use: [(at) => ['use', at], 'Makes a version that of the whole machine.'],
    current: ['current'],
  },
  fnm: {
    title: 'fnm',
    site: 'https://github.com/Schniz/fnm/blob/master/docs/commands.md',
    get: { brew: 'fnm', winget: 'Schniz.fnm', cargo: 'fnm' },
    list: [['list'], /^\*?\s*(?<name>v\d\S*|system)(?: (?<says>.+))?$/],
    install: (at) => ['install', at],
    use: [(at) => ['default', at], 'Makes a version that of new shells.'],
    current: ['current'],
    run: action(once('fnm'), says, ['execute'], {
      run: ({ version: at, program: of, args: rest }) => ['exec', at, '--', of, rest],
      params: { version: required('--using=', version), program: started, args },
      given,
    }),
  },
  volta: {
    title: 'Volta',
    site: 'https://docs.volta.sh/reference',
    get: { brew: 'volta', winget: 'Volta.Volta', site: 'https://docs.volta.sh/guide/getting-started' },
    list: [['list', 'node', '--format=plain'], /^runtime node@v?(?<name>\S+)(?: \((?<says>.*)\))?/],
    install: (at) => ['install', glue('node@', at)],
    use: [(at) => ['pin', glue('node@', at)], 'Writes a version into the package.json, which Volta follows.'],
    current: ['list', 'node', '--current', '--format=plain'],
    run: action(once('Volta'), says, ['execute', 'network'], {
      run: ({ version: at, program: of, args: rest }) => ['run', at, of, rest],
      params: { version: option('--node', version), program: started, args },
      given,
    }),
  },
};

const managers = family(rows, ({ list, install, use, current, run, ...row }) => ({
  ...row,
  category: 'runtime',
  settings: { NO_COLOR: '1' },
  project: [
    '.nvmrc',
    '.node-version',
    ...(row.title === 'Volta' ? [{ file: 'package.json', has: /"volta":/ }] : []),
  ],
  actions: present({
    list: action(`List Node.js versions of ${row.title}`, 'Versions that are installed.', ['read'], {
      run: list[0],
      out: entries('version')(
        lines(list[1], (found) => ({
          name: found['name'] ?? '',
          says: found['says'],
          ...(found['current'] && { current: true }),
        })),
      ),
    }),
    current: action(
      `Show the Node.js version of ${row.title}`,
      'The version that this folder gets.',
      ['read'],
      {
        run: current,
      },
    ),
    install: action(
      `Install Node.js with ${row.title}`,
      'Fetches a version of Node.js.',
      ['write', 'network'],
      {
        run: ({ version: at }) => install(at),
        params: { version: operand(version) },
        given: { version: '22' },
      },
    ),
    use: action(`Use a Node.js version with ${row.title}`, use[1], ['write'], {
      run: ({ version: at }) => use[0](at),
      params: { version: operand(version) },
      given: { version: '22' },
    }),
    run,
  }),
}));

const which = operand(name('Package manager, with a version or tag: pnpm@9, yarn@stable'));
const effects = ['write', 'execute', 'network'] as const;
const shims = { params: { manager: operand(name('Only this one').optional()) }, given: { manager: 'pnpm' } };

export default [
  ...managers,
  program('corepack', {
    title: 'Corepack',
    category: 'package-manager',
    site: 'https://github.com/nodejs/corepack#readme',
    get: { npm: 'corepack' },
    project: [{ file: 'package.json', has: /"packageManager":/ }],
    settings: { NO_COLOR: '1', COREPACK_ENABLE_DOWNLOAD_PROMPT: '0', COREPACK_ENV_FILE: '0' },
    actions: {
      use: action(
        'Choose a package manager with Corepack',
        'Writes it into the package.json, and installs with it.',
        effects,
        {
          run: ['use'],
          params: { manager: which },
          given: { manager: 'pnpm@9' },
          dashes: false,
        },
      ),
      install: action(
        'Fetch the package manager with Corepack',
        'Fetches what the package.json names.',
        ['write', 'network'],
        {
          run: ['install'],
          params: { manager: option('--global', name('This one for all folders instead: yarn@4')) },
          given: { manager: 'yarn@4' },
        },
      ),
      enable: action(
        'Enable Corepack',
        'Puts pnpm and yarn beside node, as the project names them.',
        ['write'],
        {
          ...{ run: ['enable'], ...shims, dashes: false },
        },
      ),
      disable: action(
        'Disable Corepack',
        'Takes away the pnpm and yarn that it put beside node.',
        ['write'],
        {
          ...{ run: ['disable'], ...shims, dashes: false },
        },
      ),
    },
  }),
];
