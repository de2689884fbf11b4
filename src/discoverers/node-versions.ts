import {
  action,
  family,
  name,
  operand,
  present,
  type Program,
  type ProgramAction,
  variable,
  words,
} from '../core/grammar.ts';
import { entries } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';
import { fetches, reads, runs, writes } from './shared/programs.ts';

type LineWords = readonly string[];
interface VersionManagerRow extends Omit<Program, 'id' | 'category' | 'actions'> {
  list: readonly [line: LineWords, version: RegExp];
  /** A version follows. */
  install: LineWords;
  /** The meaning of using a version beyond one call. */
  use: readonly [line: LineWords, says: string];
  current: LineWords;
  run?: ProgramAction;
}

const version = (says: string) => name(`Version: 22, 20.11.1, lts/*${says}`);

// nvm is a function of the shell. Its nvm-exec is a program, which starts others with a version, and so a
// shell, too.
const loaded = '. "$NVM_DIR/nvm.sh" --no-use';
const inShell = ['bash', '-c', `${loaded} && nvm "$@"`, 'nvm'];
// It would make a version the default that is not there.
const alias = 'nvm use --silent "$1" && nvm alias --no-colors default "$1"';
const setDefault = ['bash', '-c', `${loaded} && ${alias}`, 'nvm'];

const rows: Readonly<Record<string, VersionManagerRow>> = {
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
    inspect: (_, { action: key }) =>
      Promise.resolve(key === 'run' || key === 'current' ? {} : { env: { NODE_VERSION: 'node' } }),
    list: [
      [...inShell, 'ls', '--no-colors', '--no-alias'],
      /^(?:->)?\s+(?<name>v\d\S*|system)(?: \* \((?<says>.*)\))?/,
    ],
    install: [...inShell, 'install', '--no-progress'],
    use: [setDefault, 'Makes a version that of new shells.'],
    current: ['node', '--version'],
    run: action('Run with a Node.js version of nvm', 'Runs a program with it, for this call only.', runs, {
      run: ({ program, args }) => [program, args],
      params: {
        version: variable('NODE_VERSION', version('; none: what .nvmrc says')),
        program: operand(name('Program: node, npm')),
        args: words('Its arguments'),
      },
      given: { version: '22', program: 'node', args: ['--test'] },
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
    install: ['install'],
    use: [['use'], 'Makes a version that of the whole machine.'],
    current: ['current'],
  },
};

const chosen = {
  dashes: false as const,
  params: { version: operand(version('')) },
  given: { version: '22' },
};
export default family(
  rows,
  ({ list: [run, found], install, use: [use, says], current, run: once, ...row }) => ({
    ...row,
    category: 'runtime',
    settings: { NO_COLOR: '1' },
    project: ['.nvmrc', '.node-version'],
    actions: present({
      list: action(`List Node.js versions of ${row.title}`, 'Versions that are installed.', reads, {
        run,
        out: entries('version')(
          lines(found, ({ name: version = '', says: more, current: is }) => ({
            name: version,
            says: more,
            current: is ? true : undefined,
          })),
        ),
      }),
      current: action(`Show the Node.js of ${row.title}`, 'The version for a folder.', reads, {
        run: current,
      }),
      install: action(`Get Node.js with ${row.title}`, 'Fetches a version of it.', fetches, {
        run: install,
        ...chosen,
      }),
      use: action(`Use a Node.js version with ${row.title}`, says, writes, {
        run: use,
        ...chosen,
      }),
      run: once,
    }),
  }),
);
