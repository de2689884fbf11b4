import { operand, required, words } from '../core/parameter.ts';
import { name, path, some, text } from '../core/params.ts';
import { action, family, type Program, type ProgramAction } from '../core/program.ts';
import { said, together } from './reports/diagnostics.ts';
import { diagnostics, packages } from './reports/kinds.ts';
import { lines, records } from './reports/readers.ts';

type Row = Omit<Program, 'id' | 'category' | 'actions'> & { more?: Readonly<Record<string, ProgramAction>> };

const runs = ['execute', 'network'] as const;
// Only what is a name in all of them: it becomes a part of code.
const packageName = name('Package').regex(/^[A-Za-z][\w.]*$/);
const quoted = (names: string[]) => names.map((one) => `"${one}"`).join(', ');
const julia = ['--project=@.', '--startup-file=no', '--color=no'];
const pkg = (title: string, says: string, code: string) =>
  action(title, says, runs, { run: [...julia, '-e', `using Pkg; ${code}`] });

const rows: Readonly<Record<string, Row>> = {
  lua: {
    title: 'Lua',
    site: 'https://www.lua.org/manual/5.4/lua.html',
    get: { apt: 'lua5.4', brew: 'lua', winget: 'DEVCOM.Lua' },
    called: ['lua', 'lua5.4', 'luajit'],
    version: { args: ['-v'], pattern: /(\d+\.\d\S*)/ },
    project: ['*.lua', '*.rockspec'],
  },
  perl: {
    title: 'Perl',
    site: 'https://perldoc.perl.org/perlrun',
    get: { apt: 'perl', brew: 'perl', winget: 'StrawberryPerl.StrawberryPerl' },
    project: ['cpanfile', 'Makefile.PL', 'Build.PL', '*.pl'],
    more: {
      check: action('Check Perl code', 'Whether it compiles; warnings with places.', ['execute'], {
        run: ['-cw'],
        params: { file: operand(path('Script', 'file')) },
        given: { file: 'run.pl' },
        ok: [0, 255],
        out: diagnostics(together(said(/^(?<message>.+) at (?<file>.+?) line (?<line>\d+)[.,]/))),
      }),
    },
  },
  rscript: {
    title: 'R',
    site: 'https://stat.ethz.ch/R-manual/R-devel/library/utils/html/Rscript.html',
    get: { apt: 'r-base-core', brew: 'r', winget: 'RProject.R' },
    called: ['Rscript'],
    project: ['DESCRIPTION', 'renv.lock', '*.Rproj', '*.R'],
    elsewhere: { win32: ['%ProgramFiles%/R/*/bin/Rscript.exe'] },
    more: {
      list: action('List R packages', 'Packages that are installed.', ['execute'], {
        role: 'list',
        run: [
          '-e',
          'write(t(installed.packages()[, c("Package", "Version")]), "", ncolumns = 2, sep = "\\t")',
        ],
        out: packages(records(2, (key, version) => ({ name: key, version }))),
      }),
      install: action('Install R packages', 'Installs packages of CRAN for oneself.', runs, {
        role: 'add',
        run: [],
        params: {
          packages: required(
            '-e',
            some(packageName, 'Packages'),
            (all) => `install.packages(c(${quoted(all)}), repos = "https://cloud.r-project.org")`,
          ),
        },
        given: { packages: ['jsonlite'] },
      }),
    },
  },
  julia: {
    title: 'Julia',
    site: 'https://docs.julialang.org/en/v1/manual/command-line-interface',
    get: { brew: 'julia', winget: 'Julialang.Juliaup', site: 'https://julialang.org/install' },
    project: ['Project.toml', 'Manifest.toml', '*.jl'],
    elsewhere: { linux: ['~/.juliaup/bin/julia'], darwin: ['~/.juliaup/bin/julia'] },
    more: {
      test: pkg('Run Julia tests', 'Runs the tests of the package here.', 'Pkg.test()'),
      install: pkg('Install Julia packages', 'Gets what the project needs.', 'Pkg.instantiate()'),
      list: action('List Julia packages', 'Packages of the project.', runs, {
        role: 'list',
        run: [...julia, '-e', 'using Pkg; Pkg.status()'],
        out: packages(
          lines(/^[ ⌃⌅]*\[\w+\] +(?<name>\w+)(?: v(?<version>\S+))?|./, ({ name: one, version }) =>
            one ? { name: one, version } : undefined,
          ),
        ),
      }),
      add: action('Add Julia packages', 'Adds packages to the project.', runs, {
        role: 'add',
        run: julia,
        params: {
          packages: required(
            '-e',
            some(packageName, 'Packages'),
            (all) => `using Pkg; Pkg.add([${quoted(all)}])`,
          ),
        },
        given: { packages: ['JSON'] },
      }),
    },
  },
  elixir: {
    title: 'Elixir',
    site: 'https://hexdocs.pm/elixir',
    get: { apt: 'elixir', brew: 'elixir', winget: 'ElixirLang.Elixir' },
    version: { args: ['--version'], pattern: /Elixir (\S+)/ },
    settings: { ELIXIR_ERL_OPTIONS: '+fnu' },
  },
};

export default family(rows, ({ title, more, ...facts }) => ({
  title,
  category: 'runtime',
  ...facts,
  actions: {
    run: action(`Run a script with ${title}`, 'Runs a script with arguments.', runs, {
      run: ({ script, args }) => [script, args],
      params: { script: operand(path('Script', 'file')), args: words('Its arguments') },
      given: { script: 'run.txt', args: ['--fast'] },
    }),
    eval: action(`Run code with ${title}`, 'Runs a few lines of code, and shows what they print.', runs, {
      run: [],
      params: { code: required('-e', text('Code')) },
      given: { code: 'print("hello")' },
    }),
    ...more,
  },
}));
