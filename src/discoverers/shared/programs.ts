import {
  action,
  glue,
  list,
  name,
  operand,
  path,
  program,
  type Program,
  text,
  words,
} from '../../core/grammar.ts';

// What many programs have alike.

// Effects in the combinations that many actions have.
export const reads = ['read'] as const;
export const asks = ['read', 'network'] as const;
export const writes = ['write'] as const;
export const fetches = ['write', 'network'] as const;
export const runs = ['execute'] as const;
export const reaches = ['execute', 'network'] as const;
export const changes = ['write', 'execute'] as const;
export const makes = ['write', 'execute', 'network'] as const;
export const publishes = ['network', 'publish'] as const;
export const loses = ['write', 'destroy'] as const;
export const destroys = ['network', 'publish', 'destroy'] as const;

/** Files or folders to work on: all below the folder when none is named. */
export const here = operand(list(path('File or folder'), 'Only these; none: all here').default(['.']));

const args = words('Arguments of the program');

/** Runs a file with an interpreter. */
export const runsFile = (title: string, like: string, says = 'Runs a file with its arguments.') =>
  action(title, says, runs, {
    run: ({ file, args: rest }) => [file, rest],
    params: { file: operand(path('Script to run', 'file')), args },
    given: { file: like, args: ['--all'] },
  });

/** Runs code that is glued to an option; `end` keeps the interpreter from taking the code's own arguments. */
export const runsCode = (title: string, flag: string, like: string, ...end: string[]) =>
  action(title, 'Runs code that is given as text; print what is wanted.', runs, {
    run: ({ code, args: rest }) => [glue(flag, code), ...end, rest],
    params: { code: operand(text('Code')), args },
    given: { code: like, args: ['a'] },
  });

/** Runs a program by another one, behind these words. */
export const runsProgram = (title: string, says: string, before: readonly string[], like: string) =>
  action(title, says, reaches, {
    run: ({ program: of, args: rest }) => [...before, of, rest],
    params: { program: operand(name('Program')), args },
    given: { program: like, args: ['--version'] },
  });

type OwnPlaces = NonNullable<Program['own']>;

// A project's own copies: of npm's packages, of a virtual environment, and wrappers that projects carry.

const nodeBin = (name: string): OwnPlaces => ({
  posix: [`node_modules/.bin/${name}`],
  win32: [`node_modules/.bin/${name}.cmd`],
});

export const venvBin = (name: string): OwnPlaces => ({
  posix: [`.venv/bin/${name}`, `venv/bin/${name}`, `$VIRTUAL_ENV/bin/${name}`],
  win32: [`.venv/Scripts/${name}.exe`, `venv/Scripts/${name}.exe`, `$VIRTUAL_ENV/Scripts/${name}.exe`],
});

export const wrapper = (name: string, windows: string): OwnPlaces => ({ posix: [name], win32: [windows] });

/** The places of LLVM's programs. */
export const llvmAt = (exe: string) => ({
  linux: [`/usr/lib/llvm-*/bin/${exe}`],
  darwin: [`/opt/homebrew/opt/llvm/bin/${exe}`],
  win32: [`%ProgramFiles%/LLVM/bin/${exe}.exe`],
});

type NodeToolSpec = Omit<Program, 'id' | 'category' | 'get' | 'own'> & { readonly from?: string };

/**
 * A program of npm's registry that projects keep in node_modules; `from`: its package, when that has another
 * name.
 */
export const nodeTool = (id: string, { from = id, project = [], settings, ...spec }: NodeToolSpec): Program =>
  program(id, {
    ...spec,
    category: 'build',
    get: { npm: from },
    own: nodeBin(id),
    project: [...project, { file: 'package.json', has: new RegExp(`"${from}":`) }],
    settings: { NO_COLOR: '1', FORCE_COLOR: '0', DO_NOT_TRACK: '1', ...settings },
  });

const isFile = /^[^\s:]+\.[cm]?[jt]sx?$/;
/** Names of tests, as JavaScript's test runners take them beside files. */
export const testNames = list(
  text('Test').refine(
    (one) => !isFile.test(one),
    'expected the full name of a test; the parameter files takes files',
  ),
  'Only tests of these full names',
);

/** One regular expression for tests of exactly these names, as JavaScript's test runners take it. */
export const exactly = Object.assign(
  (names: readonly string[]): string =>
    `^(?:${names.map((one) => one.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')})$`,
  {
    unspell(text: string): string[] | undefined {
      const [, names] = /^\^\(\?:([^]*)\)\$$/.exec(text) ?? [];
      return names?.match(/(?:\\[^]|[^|\\])+/g)?.map((one) => one.replaceAll(/\\([^])/g, '$1'));
    },
  },
);
