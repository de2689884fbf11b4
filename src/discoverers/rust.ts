import * as z from 'zod';
import { choice, on, operand, option, required, words } from '../core/parameter.ts';
import { list, name, path, some, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import type { Reader } from '../core/report.ts';
import { together } from './reports/diagnostics.ts';
import { diagnostics, entries, level, packages, tests, type Case } from './reports/kinds.ts';
import { jsonLines, lines } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';

const runs = ['execute', 'network'] as const;
const changes = ['write', 'network'] as const;
const cargoAt = (exe: string) => ({
  linux: [`~/.cargo/bin/${exe}`],
  darwin: [`~/.cargo/bin/${exe}`],
  win32: [`%USERPROFILE%/.cargo/bin/${exe}.exe`],
});
const rustup = { winget: 'Rustlang.Rustup', site: 'https://rustup.rs' };
const environment = ['CARGO_HOME', 'RUSTUP_HOME', 'RUSTUP_TOOLCHAIN'];

const span = z.object({
  file_name: z.string(),
  line_start: z.int(),
  column_start: z.int(),
  is_primary: z.boolean(),
});
const message = z.object({
  level: z.string(),
  message: z.string(),
  code: z.object({ code: z.string() }).nullish(),
  spans: z.array(span),
});
const told = (all: z.output<typeof message>[]) =>
  all.flatMap(({ level: said, message: text_, code, spans }) => {
    const at = spans.find((one) => one.is_primary);
    if (!at && /^(?:aborting due to|\d+ warnings? emitted|For more information|Some errors have)/.test(text_))
      return [];
    const place = at && { file: at.file_name, line: at.line_start, column: at.column_start };
    return [{ level: level(said), message: text_, ...(code && { code: code.code }), ...place }];
  });
const compiled = diagnostics(
  together(jsonLines(z.object({ message }), (all) => told(all.map((one) => one.message)))),
);

/** A line for each, and what those that failed have printed. Only their last line is stable: text is what there is. */
const cases: Reader<Case[]> = ({ stdout }) =>
  [
    ...stdout.matchAll(/^test (.+?)(?: - (?:should panic|compile(?: fail)?))? \.\.\. (ok|FAILED|ignored)/gm),
  ].map(([, test = '', state]) => {
    if (state !== 'FAILED') return { name: test, status: state === 'ok' ? 'passed' : 'skipped' };
    const printed =
      stdout.split(`\n---- ${test} stdout ----\n`)[1]?.split(/\n---- .+ ----\n|\nfailures:\n/)[0] ?? '';
    const [, file, line] = /panicked at (.+?):(\d+):\d+:/.exec(printed) ?? [];
    const why = printed
      .replace(/\nstack backtrace:[^]*|\nnote: run with [^]*/, '')
      .replace(/^\s*thread .+\n/, '');
    return { name: test, status: 'failed', message: why, ...(file && { file, line: Number(line) }) };
  });

const manifest = option('--manifest-path', path('Cargo.toml; the nearest unless told', 'file'));
const members = option('--package', list(name('Package'), 'Only these packages of the workspace'));
const build = {
  manifest,
  members,
  features: option('--features', list(name('Feature'), 'Features to switch on')),
  all_features: on('--all-features', 'All of them'),
  release: on('--release', 'Optimised'),
};
const targets = on('--all-targets', 'Tests and examples, too');
const checking = { ok: [0, 101] as number[], out: compiled } as const;
const json = ['--quiet', '--message-format=json'];
const crates = operand(some(name('Crate'), 'Crates: serde, serde@1'));
const found = lines(
  /^(?<name>[\w-]+) v(?<version>[\d.]\S*)(?: (?<group>\(proc-macro\)|\(\/.+\)))?(?: \(\*\))?$|^$|^\[/,
  ({ name: one, version }) => (one ? { name: one, version } : undefined),
);

const newer = / v(?<version>\S+)(?: -> v(?<wanted>\S+))?(?: \(\w+: v(?<latest>[^,)]+).*\))?$/.source;
const moved = lines(
  new RegExp(`^ +(?:Updating|Unchanged) (?<name>[\\w-]+)${newer}|Locking`),
  ({ name: one, version, wanted, latest = wanted }) =>
    one ? { name: one, version, wanted, latest } : undefined,
  'both',
);

const cargo = program('cargo', {
  title: 'Cargo',
  category: 'build',
  site: 'https://doc.rust-lang.org/cargo/commands',
  get: { apt: 'cargo', brew: 'rust', ...rustup },
  project: ['Cargo.toml'],
  elsewhere: cargoAt('cargo'),
  environment,
  settings: { CARGO_TERM_COLOR: 'never', CARGO_TERM_PROGRESS_WHEN: 'never', RUST_BACKTRACE: '0' },
  actions: {
    build: action('Build with Cargo', 'Compiles packages; errors with their places.', runs, {
      ...checking,
      role: 'build',
      run: ['build', ...json],
      params: { ...build, targets },
      given: { release: true },
    }),
    check: action('Check Rust code', 'Compiles without making programs; errors with places.', runs, {
      ...checking,
      role: 'types',
      run: ['check', ...json],
      params: { ...build, targets },
    }),
    clippy: action('Lint Rust code with Clippy', 'Mistakes and better ways, with places.', runs, {
      ...checking,
      role: 'lint',
      run: ['clippy', ...json],
      params: { ...build, targets },
    }),
    fix: action('Fix Rust code', 'Changes what Clippy can correct.', [...runs, 'write'], {
      ...checking,
      run: ['clippy', '--fix', '--allow-dirty', '--allow-staged', '--allow-no-vcs', ...json],
      params: { ...build, targets },
    }),
    test: action('Run Rust tests', 'Runs unit, integration and documentation tests.', runs, {
      role: 'test',
      run: ({ only, ...at }) => [
        ...['test', '--no-fail-fast'],
        ...[at.manifest, at.members, at.features, at.all_features, at.release, at.test],
        ...['--', '--exact', only],
      ],
      params: {
        ...build,
        test: option('--test', list(name('Name of a file in tests/'), 'Only these integration tests')),
        only: operand(list(text('Test: tests::adds'), 'Only these, by their whole name')),
      },
      given: { only: ['tests::adds'] },
      ok: [0, 101],
      out: tests(cases),
    }),
    run: action('Run a Rust program', 'Builds and runs a program of the package.', runs, {
      run: ['run', '--quiet'],
      params: {
        ...build,
        program: option('--bin', name('Which one')),
        args: words('Arguments of the program'),
      },
      given: { args: ['--help'] },
    }),
    format: action('Format Rust code', 'Formats sources.', ['write', 'execute'], {
      role: 'format',
      run: ['fmt'],
      params: { manifest, members, check: on('--check', 'Only show what is not') },
    }),
    add: action('Add crates', 'Adds dependencies to Cargo.toml.', changes, {
      role: 'add',
      run: ['add'],
      params: {
        manifest,
        kind: choice({ usual: [], dev: '--dev', build: '--build' }, 'What for'),
        features: build.features,
        defaults: choice({ on: [], off: '--no-default-features' }, 'Its default features'),
        packages: crates,
      },
      given: { packages: ['serde@1'], features: ['derive'] },
    }),
    doc: action('Build Rust documentation', 'Documentation of packages; warnings with places.', runs, {
      ...checking,
      run: ['doc', '--no-deps', ...json],
      params: build,
    }),
    ...packageActions('crates', {
      ...{ like: 'serde', changes, looks: runs, install: ['fetch'], remove: ['remove'], update: ['update'] },
      why: ['tree', '--invert'],
      list: [['tree', '--prefix=none', '--depth=1'], packages(found)],
      outdated: [['update', '--dry-run', '--verbose'], packages(moved)],
    }),
    tree: action('Show the tree of crates', 'Crates with what they depend on.', runs, {
      run: ['tree'],
      params: { manifest, members, duplicates: on('--duplicates', 'Only those in several versions') },
    }),
    clean: action('Clean with Cargo', 'Deletes what was built.', ['write'], {
      run: ['clean'],
      params: { manifest },
    }),
  },
});

const rustc = program('rustc', {
  title: 'rustc',
  category: 'build',
  site: 'https://doc.rust-lang.org/rustc/command-line-arguments.html',
  get: { apt: 'rustc', brew: 'rust', ...rustup },
  elsewhere: cargoAt('rustc'),
  environment,
  marks: '-@',
  actions: {
    compile: action('Compile with rustc', 'Compiles one file; errors with their places.', ['execute'], {
      run: ['--error-format=json'],
      dashes: false,
      params: {
        edition: option('--edition=', name('2015, 2018, 2021, 2024')),
        optimize: on('-O', 'Optimised'),
        tests: on('--test', 'A program that runs its tests'),
        output: option('-o', path('New file', 'file', { written: true })),
        file: operand(path('Source', 'file')),
      },
      given: { file: 'main.rs', output: 'main' },
      ok: [0, 1],
      out: diagnostics(
        together(({ stderr, ...rest }) => jsonLines(message, told)({ ...rest, stderr: '', stdout: stderr })),
      ),
    }),
    explain: action('Explain a Rust error', 'What an error code means, with examples.', ['execute'], {
      run: [],
      params: { code: required('--explain', name('Code: E0382')) },
      given: { code: 'E0382' },
    }),
  },
});

const toolchain = name('Toolchain: stable, nightly, 1.80');
const installed = (of: string) =>
  entries(of)(
    lines(/^(?<name>\S+)(?<says>.*)$/, ({ name: one = '', says }) => ({ name: one, says: says?.trim() })),
  );
const rustup_ = program('rustup', {
  title: 'rustup',
  category: 'package-manager',
  site: 'https://rust-lang.github.io/rustup',
  get: { brew: 'rustup', ...rustup },
  project: ['rust-toolchain.toml', 'rust-toolchain'],
  elsewhere: cargoAt('rustup'),
  environment,
  settings: { RUSTUP_TERM_COLOR: 'never' },
  actions: {
    toolchains: action('List Rust toolchains', 'Installed ones; which is active.', ['read'], {
      run: ['toolchain', 'list'],
      out: installed('toolchain'),
    }),
    parts: action('List parts of a Rust toolchain', 'Its components or targets.', runs, {
      run: [],
      params: {
        what: choice({ components: ['component', 'list'], targets: ['target', 'list'] }, 'Which'),
        installed: choice({ installed: '--installed', all: [] }, 'Those that are there, or could be'),
        toolchain: option('--toolchain', toolchain),
      },
      out: installed('part'),
    }),
    install: action('Install a Rust toolchain', 'Installs or updates one.', changes, {
      run: ['toolchain', 'install', '--profile=minimal', '--no-self-update'],
      params: { toolchain: operand(toolchain) },
      given: { toolchain: 'nightly' },
    }),
    add: action('Add parts to a Rust toolchain', 'Components, or targets.', changes, {
      run: [],
      params: {
        what: choice({ component: ['component', 'add'], target: ['target', 'add'] }, 'Which'),
        toolchain: option('--toolchain', toolchain),
        parts: operand(some(name('Name'), 'Names')),
      },
      given: { parts: ['clippy'] },
    }),
    use: action('Choose the Rust toolchain', 'Everywhere, or below this folder.', changes, {
      run: [],
      params: {
        where: choice({ folder: ['override', 'set'], everywhere: 'default' }, 'Where'),
        toolchain: operand(toolchain),
      },
      given: { toolchain: 'stable' },
    }),
    update: action('Update Rust toolchains', 'Updates all that are installed.', changes, {
      run: ['update', '--no-self-update'],
    }),
  },
});

export default [cargo, rustc, rustup_];
