import * as z from 'zod';
import { on, operand, option, variable, words } from '../core/parameter.ts';
import { list, name, path, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import type { Reader } from '../core/report.ts';
import { gnu, said, together } from './reports/diagnostics.ts';
import { diagnostics, entries, packages, tests, type Case } from './reports/kinds.ts';
import { jsonLines, lines, records } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';
import { exactly } from './shared/test-names.ts';

const runs = ['execute', 'network'] as const;
const looks = ['read', 'network'] as const;
const changes = ['write', 'network'] as const;
const only = operand(list(name('Package, ./... for all below'), 'Packages').default(['./...']));
const cross = {
  system: variable('GOOS', name('Target system')),
  machine: variable('GOARCH', name('Its processor')),
};
const race = on('-race', 'Detect data races');
const tags = option('-tags=', list(name('Tag'), 'Build tags'), (all) => all.join(','));
const checked = { dashes: false, ok: [0, 1, 2] as number[], out: diagnostics(together(gnu)) } as const;

const modules = ['list', '-m', '-f'];

/** Tests below a test run with it. */
const matching = (names: string[]) => exactly(names.map((one) => one.split('/')[0] ?? ''));

const optional = z.string().optional();
const event = z.object({ Action: z.string(), Package: z.string(), Test: optional, Output: optional });
const states: Readonly<Record<string, Case['status']>> = { pass: 'passed', fail: 'failed', skip: 'skipped' };
/** Tests, without those that only hold others; a package that fails without a failed test is one, too. */
const cases: Reader<Case[]> = (output) => {
  const events = jsonLines(event, (all) => all)(output);
  const [, module = '', folder = ''] = /^(.*)\t(.*)/.exec(output.after['module'] ?? '') ?? [];
  const says = jsonLines(
    z.object({ Action: z.literal('build-output'), Output: z.string() }),
    (all) => all,
  )(output);
  const unbuilt = says.map(({ Output: line }) => line).join('') || output.stderr;
  // Before Go 1.24, on standard error only.
  const broken = new Set([...output.stderr.matchAll(/^# (\S+)/gm)].map(([, of = '']) => of));
  const notBuilt = [...broken].map((of): Case => ({ name: of, status: 'failed', message: unbuilt }));
  const run = events.flatMap(({ Package: of, Test: test, Action: what }): Case[] => {
    const status = states[what];
    const inside = events.filter((one) => one.Package === of && one.Test?.startsWith(test ? `${test}/` : ''));
    if (!status || inside.some((one) => one.Action === what) || (!test && status !== 'failed')) return [];
    if (status !== 'failed') return [{ name: test ?? of, status }];
    const printed = events
      .filter((one) => one.Test === test && one.Package === of)
      .map((one) => one.Output ?? '');
    const message = printed.filter((line) => !/^\s*(?:===|---) |^FAIL/.test(line)).join('') || unbuilt;
    const [, file, line] = /^\s*([\w./-]+\.go):(\d+): /m.exec(message) ?? [];
    const place = file && { file: `${of.replace(module, folder)}/${file}`, line: Number(line) };
    return [{ name: test ?? of, status, message, ...place }];
  });
  return [...notBuilt, ...run];
};

const go = program('go', {
  title: 'Go',
  category: 'runtime',
  site: 'https://pkg.go.dev/cmd/go',
  get: { apt: 'golang', brew: 'go', winget: 'GoLang.Go' },
  version: { args: ['version'], pattern: /go(\d\S*)/ },
  project: ['go.mod', 'go.work'],
  elsewhere: {
    linux: ['/usr/local/go/bin/go'],
    darwin: ['/usr/local/go/bin/go'],
    win32: ['%ProgramFiles%/Go/bin/go.exe'],
  },
  environment: ['GOPATH', 'GOPROXY', 'GOPRIVATE', 'GONOSUMDB', 'GOMODCACHE', 'GOCACHE'],
  actions: {
    build: action('Build Go packages', 'Compiles packages; errors with their places.', runs, {
      ...checked,
      role: 'build',
      run: ['build'],
      params: {
        race,
        tags,
        output: option('-o', path('New file', 'any', { written: true })),
        ...cross,
        only,
      },
      given: { system: 'linux', output: 'shop' },
    }),
    vet: action('Vet Go packages', 'Mistakes that compile, with their places.', runs, {
      ...checked,
      role: 'lint',
      run: ['vet'],
      params: { tags, only },
    }),
    test: action('Run Go tests', 'Runs tests of packages; failures with their places.', runs, {
      role: 'test',
      run: ['test', '-json'],
      dashes: false,
      params: {
        only: option('-run=', list(text('Test'), 'Only these tests'), matching),
        race,
        tags,
        short: on('-short', 'Leave out what takes long'),
        fresh: on('-count=1', 'Not from the cache'),
        packages: only,
      },
      given: { only: ['TestAdd', 'TestRemove'] },
      after: { module: () => ['list', '-m', '-f', '{{.Path}}\t{{.Dir}}'] },
      ok: [0, 1, 2],
      out: tests(cases),
    }),
    run: action('Run a Go program', 'Compiles and runs a main package.', runs, {
      run: ({ race: detect, tags: with_, package: of, args }) => ['run', detect, with_, of, args],
      params: {
        race,
        tags,
        package: operand(name('Package').default('.')),
        args: words('Arguments of the program'),
      },
      given: { args: ['--help'] },
    }),
    generate: action('Generate Go code', 'Runs the commands of go:generate comments.', runs, {
      run: ['generate', '-v'],
      dashes: false,
      params: { only },
    }),
    format: action('Format Go code', 'Formats files; names those that changed.', ['write'], {
      role: 'format',
      run: ['fmt'],
      dashes: false,
      params: { only },
    }),
    packages: action('List Go packages', 'Packages of the module with their folders.', looks, {
      // Asked for versions, git would run what the project configures.
      run: ['list', '-buildvcs=false', '-e', '-f', '{{.ImportPath}}\t{{.Dir}}\t{{.Name}}'],
      dashes: false,
      params: { only },
      out: entries('package')(records(2, (key, folder) => ({ name: key, says: folder }))),
    }),
    ...packageActions('Go modules', {
      ...{ like: 'golang.org/x/text', changes, looks, add: ['get'], install: ['mod', 'download', '-x'] },
      why: ['mod', 'why', '-m'],
      list: [
        [
          ...modules,
          '{{if not .Main}}{{.Path}}\t{{.Version}}\t{{if .Indirect}}indirect{{end}}{{end}}',
          'all',
        ],
        packages(records(3, (key, version, group) => ({ name: key, version, ...(group && { group }) }))),
      ],
      outdated: [
        [...modules, '{{if .Update}}{{.Path}}\t{{.Version}}\t{{.Update.Version}}{{end}}', '-u', 'all'],
        packages(records(3, (key, version, latest) => ({ name: key, version, latest }))),
      ],
    }),
    tidy: action('Tidy the Go module', 'Makes go.mod have what is imported, and no more.', changes, {
      run: ['mod', 'tidy', '-v'],
    }),
    doc: action('Show Go documentation', 'Documentation of a package or one of its names.', looks, {
      run: ['doc'],
      dashes: false,
      params: {
        all: on('-all', 'All of the package'),
        source: on('-src', 'With the source'),
        of: operand(name('fmt, fmt.Printf, ./cart').default('.')),
      },
      given: { of: 'fmt.Printf' },
    }),
  },
});

const timeout = option('--timeout=', name('Time limit: 5m'));
const lint = (
  title: string,
  says: string,
  effects: readonly ('execute' | 'network' | 'write')[],
  ...more: string[]
) =>
  action(title, says, effects, {
    ...(more.length === 0 && { role: 'lint' }),
    run: ['run', '--color=never', ...more],
    dashes: false,
    params: {
      enable: option('--enable=', list(name('Linter'), 'Also these'), (all) => all.join(',')),
      timeout,
      only,
    },
    given: { enable: ['errcheck'] },
    ok: [0, 1],
    out: diagnostics(
      said(/^(?<file>[^\s:]+):(?<line>\d+):(?:(?<column>\d+):)? (?<message>.+?)(?: \((?<code>[\w-]+)\))?$/),
    ),
  });
const golangci = program('golangci_lint', {
  title: 'golangci-lint',
  category: 'build',
  site: 'https://golangci-lint.run/docs/configuration/cli',
  get: {
    brew: 'golangci-lint',
    winget: 'GolangCI.golangci-lint',
    site: 'https://golangci-lint.run/docs/welcome/install',
  },
  called: ['golangci-lint'],
  project: ['.golangci.yml', '.golangci.yaml', '.golangci.toml', '.golangci.json'],
  environment: ['GOPATH', 'GOPROXY', 'GOPRIVATE', 'GOMODCACHE', 'GOCACHE'],
  actions: {
    lint: lint('Lint Go code', 'What its linters find, with places.', runs),
    fix: lint(
      'Fix Go code',
      'Changes what its linters can correct; the rest with places.',
      [...runs, 'write'],
      '--fix',
    ),
    linters: action('List Go linters', 'Linters that are on here, and the others.', ['execute'], {
      run: ['linters', '--color=never'],
      out: entries('linter')(
        lines(
          /^(?<name>[a-z]\w+)(?: \[[^\]]*\])?(?: \([^)]*\))?: (?<says>.+)$|:$|^$/,
          ({ name: one, says }) => (one ? { name: one, says } : undefined),
        ),
      ),
    }),
  },
});

export default [go, golangci];
