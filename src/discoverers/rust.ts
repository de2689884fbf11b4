import * as z from 'zod';
import {
  action,
  choice,
  list,
  name,
  on,
  operand,
  option,
  program,
  type Reader,
  some,
  text,
  told as told_,
  words,
} from '../core/grammar.ts';
import { withReason } from './reports/diagnostics.ts';
import { diagnostics, entries, level, packages, tests, type TestCase } from './reports/kinds.ts';
import { allFormatted, jsonLines, lines, saidOr } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';
import { fetches, makes, reaches, reads } from './shared/programs.ts';

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
// Most lines are about something else: what was made.
const line = z.object({ reason: z.string(), message: message.optional() });
const compiled = diagnostics(
  withReason(jsonLines(line, (all) => told(all.flatMap((one) => one.message ?? [])))),
);

/**
 * A line for each, and what those that failed have printed. Only their last line is stable: text is what
 * there is.
 */
const cases: Reader<TestCase[]> = ({ stdout }) =>
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

const members = option('--package', list(name('Package'), 'Only these packages of the workspace'));
const build = {
  members,
  features: option('--features', list(name('Feature'), 'Features to switch on')),
  release: on('--release', 'Optimised'),
};
const targets = on('--all-targets', 'Tests and examples, too');
const checking = { ok: [0, 101] as number[], out: compiled } as const;
const json = ['--quiet', '--message-format=json'];
const found = lines(
  /^(?<name>[\w-]+) v(?<version>[\d.]\S*)(?: (?<group>\(proc-macro\)|\(\/.+\)))?(?: \(\*\))?$|^\[[a-z-]+\]$/,
  ({ name: one, version }) => (one ? { name: one, version } : undefined),
);

const newer = / v(?<version>\S+)(?: -> v(?<wanted>\S+))?(?: \(\w+: v(?<latest>[^,)]+).*\))?$/.source;
const moved = lines(
  new RegExp(`^ +(?:Updating|Unchanged) (?<name>[\\w-]+)${newer}|Locking`),
  ({ name: one, version, wanted, latest = wanted }) =>
    one ? { name: one, version, wanted, latest } : undefined,
  'both',
);

const works =
  'add b bench build c check clean clippy doc fetch fix fmt metadata nextest r remove run t test tree update';

const cargo = program('cargo', {
  // No configuration: it names programs.
  everyday: new RegExp(`^(?!.* --config)(?:${works.replaceAll(' ', '|')})(?: |$)`),
  title: 'Cargo',
  category: 'build',
  site: 'https://doc.rust-lang.org/cargo/commands',
  get: { apt: 'cargo', brew: 'rust', ...rustup },
  project: ['Cargo.toml'],
  elsewhere: cargoAt('cargo'),
  environment,
  settings: { CARGO_TERM_COLOR: 'never', CARGO_TERM_PROGRESS_WHEN: 'never', RUST_BACKTRACE: '0' },
  actions: {
    build: action('Build with Cargo', 'Compiles packages; errors with their places.', reaches, {
      ...checking,
      role: 'build',
      run: ['build', ...json],
      params: { ...build, targets },
      given: { release: true },
    }),
    check: action('Check Rust code', 'Compiles without making programs; errors with places.', reaches, {
      ...checking,
      role: 'types',
      run: ['check', ...json],
      params: { ...build, targets },
    }),
    clippy: action('Lint Rust code with Clippy', 'Mistakes with their places; can mend them.', makes, {
      ...checking,
      role: 'lint',
      run: ['clippy', ...json],
      params: {
        ...build,
        targets,
        fix: on(['--fix', '--allow-dirty', '--allow-staged', '--allow-no-vcs'], 'Correct what it can'),
      },
    }),
    test: action('Run Rust tests', 'Runs unit, integration and documentation tests.', reaches, {
      role: 'test',
      run: ({ only, ...at }) => [
        ...['test', '--no-fail-fast'],
        ...[at.members, at.features, at.release, at.test],
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
    run: action('Run a Rust program', 'Builds and runs a program of the package.', reaches, {
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
      params: { members, check: on('--check', 'Only show what is not', ['--', '-l']) },
      out: told_(saidOr(allFormatted)),
    }),
    ...packageActions('crates', {
      like: 'serde',
      changes: fetches,
      looks: reaches,
      install: ['fetch'],
      add: ['add'],
      remove: ['remove'],
      adding: { dev: on('--dev', 'For tests and examples'), features: build.features },
      update: ['update'],
      why: ['tree', '--invert'],
      list: [['tree', '--prefix=none', '--depth=1'], packages(found)],
      outdated: [['update', '--dry-run', '--verbose'], packages(moved)],
    }),
    clean: action('Clean with Cargo', 'Deletes what was built.', ['write'], { run: ['clean'] }),
  },
});

const toolchain = name('Toolchain: stable, nightly, 1.80');
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
    toolchains: action('List Rust toolchains', 'Installed ones; which is active.', reads, {
      run: ['toolchain', 'list'],
      out: entries('toolchain')(
        lines(/^(?<name>\S+)(?<says>.*)$/, ({ name: one = '', says }) => ({ name: one, says: says?.trim() })),
      ),
    }),
    install: action('Install a Rust toolchain', 'Installs or updates one.', fetches, {
      run: ['toolchain', 'install', '--profile=minimal', '--no-self-update'],
      params: { toolchain: operand(toolchain) },
      given: { toolchain: 'nightly' },
    }),
    add: action('Add parts to a Rust toolchain', 'Components, or targets.', fetches, {
      run: [],
      params: {
        what: choice({ component: ['component', 'add'], target: ['target', 'add'] }, 'Which'),
        toolchain: option('--toolchain', toolchain),
        parts: operand(some(name('Name'), 'Names')),
      },
      given: { parts: ['clippy'] },
    }),
    update: action('Update Rust toolchains', 'Updates all that are installed.', fetches, {
      run: ['update', '--no-self-update'],
    }),
  },
});

export default [cargo, rustup_];
