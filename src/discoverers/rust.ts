import * as z from 'zod';
import { choice, on, operand, option, required, words } from '../core/parameter.ts';
import { list, name, path, some, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import type { Reader } from '../core/report.ts';
import { together } from './reports/diagnostics.ts';
import { diagnostics, entries, level, packages, tests, type Case } from './reports/kinds.ts';
import { jsonLines, lines } from './reports/readers.ts';

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
    fix: action(
      'Fix Rust code',
      'Changes what Clippy can correct; the rest with places.',
      [...runs, 'write'],
      {
        ...checking,
        run: ['clippy', '--fix', '--allow-dirty', '--allow-staged', '--allow-no-vcs', ...json],
        params: { ...build, targets },
      },
    ),
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
    remove: action('Remove crates', 'Removes dependencies from Cargo.toml.', changes, {
      role: 'remove',
      run: ['remove'],
      params: {
        manifest,
        kind: choice({ usual: [], dev: '--dev', build: '--build' }, 'Of which'),
        packages: crates,
      },
      given: { packages: ['serde'] },
    }),
    update: action('Update crates', 'Moves Cargo.lock to the newest versions that fit.', changes, {
      role: 'update',
      run: ['update'],
      params: { manifest, packages: operand(list(name('Crate'), 'Only these')) },
      given: { packages: ['serde'] },
    }),
    outdated: action('List outdated crates', 'Crates that update would move, and newer ones.', runs, {
      role: 'outdated',
      run: ['update', '--dry-run', '--verbose'],
      params: { manifest },
      out: packages(
        lines(
          /^ +(?:Updating|Unchanged) (?<name>[\w-]+) v(?<version>\S+)(?: -> v(?<wanted>\S+))?(?: \(\w+: v(?<latest>[^,)]+).*\))?$|Locking/,
          ({ name: one, version, wanted, latest = wanted }) =>
            one ? { name: one, version, wanted, latest } : undefined,
          'both',
        ),
      ),
    }),
    list: action('List crates', 'Crates that the packages here depend on.', runs, {
      role: 'list',
      run: ['tree', '--prefix=none', '--no-dedupe'],
      params: { manifest, depth: choice({ direct: '--depth=1', all: [] }, 'Which') },
      out: packages((output) => [
        ...new Map(found(output).map((one) => [JSON.stringify(one), one])).values(),
      ]),
    }),
    tree: action('Show the tree of crates', 'Crates with what they depend on.', runs, {
      run: ['tree'],
      params: { manifest, members, duplicates: on('--duplicates', 'Only those in several versions') },
    }),
    why: action('Explain a crate', 'What leads to a crate.', runs, {
      role: 'why',
      run: ['tree'],
      params: { manifest, package: required('--invert', name('Crate')) },
      given: { package: 'syn' },
    }),
    doc: action('Build Rust documentation', 'Documentation of the packages; warnings with places.', runs, {
      ...checking,
      run: ['doc', '--no-deps', ...json],
      params: { manifest, members, features: build.features },
    }),
    install: action('Download crates', 'Gets all that the lock file has.', changes, {
      role: 'install',
      run: ['fetch'],
      params: { manifest, locked: on('--locked', 'Fail when Cargo.lock is not up to date') },
    }),
    search: action('Search crates', 'Crates of the registry by a text.', runs, {
      run: ['search', '--limit=20'],
      params: { text: operand(text('Text')) },
      given: { text: 'json' },
      out: entries('crate')(
        lines(/^(?<name>[\w-]+) = (?<says>".*)$|^\.\.\./, ({ name: one, says }) =>
          one ? { name: one, says } : undefined,
        ),
      ),
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
    targets: action('List targets of rustc', 'Systems that it can compile for.', ['execute'], {
      run: ['--print=target-list'],
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
    parts: action('List parts of a Rust toolchain', 'Its components or targets.', ['read', 'network'], {
      run: [],
      params: {
        what: choice({ components: ['component', 'list'], targets: ['target', 'list'] }, 'Which'),
        installed: choice({ installed: '--installed', all: [] }, 'Those that are there, or could be'),
        toolchain: option('--toolchain', toolchain),
      },
      out: installed('part'),
    }),
    outdated: action(
      'List outdated Rust toolchains',
      'Toolchains with newer versions.',
      ['read', 'network'],
      {
        run: ['check'],
        ok: [0, 100],
      },
    ),
    install: action('Install a Rust toolchain', 'Installs or updates one.', changes, {
      run: ['toolchain', 'install', '--profile=minimal', '--no-self-update'],
      params: { toolchain: operand(toolchain) },
      given: { toolchain: 'nightly' },
    }),
    add: action(
      'Add parts to a Rust toolchain',
      'Components as clippy, or targets as wasm32-wasip1.',
      changes,
      {
        run: [],
        params: {
          what: choice({ component: ['component', 'add'], target: ['target', 'add'] }, 'Which'),
          toolchain: option('--toolchain', toolchain),
          parts: operand(some(name('Name'), 'Names')),
        },
        given: { parts: ['clippy'] },
      },
    ),
    use: action(
      'Choose the Rust toolchain',
      'The one that counts everywhere, or below this folder.',
      ['write'],
      {
        run: [],
        params: {
          where: choice({ folder: ['override', 'set'], everywhere: 'default' }, 'Where'),
          toolchain: operand(toolchain),
        },
        given: { toolchain: 'stable' },
      },
    ),
    update: action('Update Rust toolchains', 'Updates all that are installed.', changes, {
      run: ['update', '--no-self-update'],
    }),
  },
});

export default [cargo, rustc, rustup_];
