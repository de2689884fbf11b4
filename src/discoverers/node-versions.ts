import type { Situation } from '../core/discoverer.ts';
import { glue, type Piece, type Slot } from '../core/command-line.ts';
import { operand, option, required, variable, words, type Param } from '../core/parameter.ts';
import { name } from '../core/params.ts';
import { action, family, present, program, type Program, type ProgramAction } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';

type Words = readonly string[];
/** Where the version stands in a line. */
type WithVersion = (version: Slot) => readonly Piece[];
interface Row extends Omit<Program, 'id' | 'category' | 'actions' | 'settings'> {
  list: readonly [line: Words, version: RegExp];
  install: WithVersion;
  /** What it means to use a version beyond one call. */
  use: readonly [line: WithVersion, says: string];
  current: Words;
  run?: ProgramAction;
}

const version = name('Version: 22, 20.11.1, lts/*; of nvm_run none: what .nvmrc says');
const args = words('Its arguments');
const started = operand(name('Program: node, npm'));
/** Runs a program with one version, for this call only. */
const once = (
  title: string,
  at: Param,
  run: (at: Record<'version' | 'program' | 'args', Slot>) => readonly Piece[],
) =>
  action(
    `Run with a Node.js version of ${title}`,
    'Runs a program with it, for this call only.',
    ['execute'],
    {
      run,
      params: { version: at, program: started, args },
      given: { version: '22', program: 'node', args: ['--test'] } as never,
    },
  );

// nvm is a function of the shell. Its nvm-exec is a program, which starts others with a version, and so a shell, too.
const loaded = '. "$NVM_DIR/nvm.sh" --no-use';
const inShell = ['bash', '-c', `${loaded} && nvm "$@"`, 'nvm'];
// It would make a version the default that is not there.
const alias = 'nvm use --silent "$1" && nvm alias --no-colors default "$1"';
const setDefault = ['bash', '-c', `${loaded} && ${alias}`, 'nvm'];
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
    run: once('nvm', variable('NODE_VERSION', version), ({ program: of, args: rest }) => [of, rest]),
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
    run: once('fnm', required('--using=', version), (at) => ['exec', at.version, '--', at.program, at.args]),
  },
  volta: {
    title: 'Volta',
    site: 'https://docs.volta.sh/reference',
    project: [{ file: 'package.json', has: /"volta":/ }],
    get: { brew: 'volta', winget: 'Volta.Volta', site: 'https://docs.volta.sh/guide/getting-started' },
    list: [['list', 'node', '--format=plain'], /^runtime node@v?(?<name>\S+)(?: \((?<says>.*)\))?/],
    install: (at) => ['install', glue('node@', at)],
    use: [(at) => ['pin', glue('node@', at)], 'Writes a version into the package.json, which Volta follows.'],
    current: ['list', 'node', '--current', '--format=plain'],
    run: once('Volta', option('--node', version), (at) => ['run', at.version, at.program, at.args]),
  },
};

const chosen = { params: { version: operand(version) }, given: { version: '22' } };
const managers = family(
  rows,
  ({ list: [run, found], install, use: [use, says], current, run: once, ...row }) => ({
    ...row,
    category: 'runtime',
    settings: { NO_COLOR: '1' },
    project: row.project ?? ['.nvmrc', '.node-version'],
    actions: present({
      list: action(`List Node.js versions of ${row.title}`, 'Versions that are installed.', ['read'], {
        run,
        out: entries('version')(
          lines(found, ({ name: version = '', says: more, current: is }) => ({
            ...{ name: version, says: more, current: is ? true : undefined },
          })),
        ),
      }),
      current: action(`Show the Node.js of ${row.title}`, 'The version for a folder.', ['read'], {
        run: current,
      }),
      install: action(`Get Node.js with ${row.title}`, 'Fetches a version of it.', ['write', 'network'], {
        run: ({ version: at }) => install(at),
        ...chosen,
      }),
      use: action(`Use a Node.js version with ${row.title}`, says, ['write'], {
        run: ({ version: at }) => use(at),
        ...chosen,
      }),
      run: once,
    }),
  }),
);

const manager = (says: string) => operand(name(says));
const effects = ['write', 'execute', 'network'] as const;

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
        'Writes it down, and installs with it.',
        effects,
        {
          run: ['use'],
          params: { manager: manager('Package manager, with a version or tag: pnpm@9, yarn@stable') },
          given: { manager: 'pnpm@9' },
          dashes: false,
        },
      ),
      install: action(
        'Get a package manager with Corepack',
        'That of the package.json.',
        ['write', 'network'],
        {
          run: ['install'],
          params: { manager: option('--global', name('This one for all folders instead: yarn@4')) },
          given: { manager: 'yarn@4' },
        },
      ),
      enable: action('Enable Corepack', 'Puts pnpm and yarn beside node, in the right versions.', ['write'], {
        run: ['enable'],
        params: { manager: manager('pnpm or yarn') },
        given: { manager: 'pnpm' },
        dashes: false,
      }),
    },
  }),
];
