import * as z from 'zod';
import {
  action,
  joined,
  list,
  matching,
  name,
  on,
  operand,
  option,
  path,
  program,
  type Reader,
  text,
  told,
  words,
} from '../core/grammar.ts';
import { gnu, said, together } from './reports/diagnostics.ts';
import { diagnostics, packages, tests, type TestCase } from './reports/kinds.ts';
import { allFormatted, jsonLines, records, saidOr } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';
import { asks, makes, exactly, fetches, reaches, writes } from './shared/programs.ts';

const only = operand(list(name('Package, ./... for all below'), 'Packages').default(['./...']));
/** A package of the module, or what it depends on: one with a version would be anybody's. */
const ownPackage = matching(/^[^-\s@][^\s@]*$/, 'a package of this module, without a version', 'Package');
const race = on('-race', 'Detect data races');
const tags = option('-tags=', list(name('Tag'), 'Build tags'), joined(','));
const checked = { dashes: false, ok: [0, 1, 2] as number[], out: diagnostics(together(gnu)) } as const;

const modules = ['list', '-m', '-f'];

/** Tests below a test run with it. */
const ofNames = (names: string[]) => exactly(names.map((one) => one.split('/')[0] ?? ''));

const optional = z.string().optional();
const event = z.object({ Action: z.string(), Package: optional, Test: optional, Output: optional });
const states: Readonly<Record<string, TestCase['status']>> = {
  pass: 'passed',
  fail: 'failed',
  skip: 'skipped',
};
const placeIn = (message: string, folder: string) => {
  const [, file, line] = /^\s*([\w./-]+\.go):(\d+):/m.exec(message) ?? [];
  return file && { file: `${folder}${file.replace(/^\.\//, '')}`, line: Number(line) };
};
/** Tests, without those that only hold others; a package that fails without a failed test is one, too. */
const cases: Reader<TestCase[]> = (output) => {
  // A line without JSON says that a package was not built.
  const stdout = output.stdout.replaceAll(/^FAIL\t.*\n?/gm, '');
  const events = jsonLines(event, (all) => all)({ ...output, stdout });
  const [, module = '', folder = ''] = /^(.*)\t(.*)/.exec(output.after['module'] ?? '') ?? [];
  const compiled = events.filter((one) => one.Action === 'build-output').map((one) => one.Output ?? '');
  const unbuilt = compiled.join('') || output.stderr;
  // Before Go 1.24, on standard error only.
  const broken = new Set([...output.stderr.matchAll(/^# (\S+)/gm)].map(([, of = '']) => of));
  const message = unbuilt.replaceAll(/^# .*\n/gm, '');
  const notBuilt = [...broken].map((of): TestCase => {
    return { name: of, status: 'failed', message, ...placeIn(message, '') };
  });
  const run = events.flatMap(({ Package: of = '', Test: test, Action: what }): TestCase[] => {
    const status = states[what];
    const inside = events.filter((one) => one.Package === of && one.Test?.startsWith(test ? `${test}/` : ''));
    if (!status || inside.some((one) => one.Action === what) || (!test && status !== 'failed')) return [];
    if (status !== 'failed') return [{ name: test ?? of, status }];
    const printed = events
      .filter((one) => one.Test === test && one.Package === of)
      .map((one) => one.Output ?? '');
    const said = printed.filter((line) => !/^\s*(?:===|---) |^FAIL/.test(line)).join('') || unbuilt;
    const below = said === unbuilt ? '' : `${of.replace(module, folder)}/`;
    return [{ name: test ?? of, status, message: said, ...placeIn(said, below) }];
  });
  return [...notBuilt, ...run];
};

// No program in an option.
const begins = '(?:build|doc|fmt|generate|list|mod|test|vet|work)(?: |$)';
const everyday = new RegExp(`^(?!.* -+(?:exec|toolexec|vettool|ldflags|gccgo))(?:${begins}|run \\.)`);

const go = program('go', {
  everyday,
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
    build: action('Build Go packages', 'Compiles packages; errors with their places.', reaches, {
      ...checked,
      role: 'build',
      run: ['build'],
      params: {
        race,
        tags,
        output: option('-o', path('New file', 'any', { written: true })),
        only,
      },
      given: { output: 'shop' },
    }),
    vet: action('Vet Go packages', 'Mistakes that compile, with their places.', reaches, {
      ...checked,
      role: 'lint',
      run: ['vet'],
      params: { tags, only },
    }),
    test: action('Run Go tests', 'Runs tests of packages; failures with their places.', reaches, {
      role: 'test',
      run: ['test', '-json'],
      dashes: false,
      params: {
        only: option('-run=', list(text('Test'), 'Only these tests'), ofNames),
        race,
        tags,
        fresh: on('-count=1', 'Not from the cache'),
        packages: only,
      },
      given: { only: ['TestAdd', 'TestRemove'] },
      steps: { after: { module: () => ['list', '-m', '-f', '{{.Path}}\t{{.Dir}}'] } },
      ok: [0, 1, 2],
      out: tests(cases),
    }),
    run: action('Run a Go program', 'Compiles and runs a main package.', reaches, {
      run: ({ race: detect, tags: with_, package: of, args }) => ['run', detect, with_, of, args],
      params: {
        race,
        tags,
        package: operand(ownPackage.default('.')),
        args: words('Arguments of the program'),
      },
      given: { args: ['--help'] },
    }),
    format: action('Format Go code', 'Formats files; names those that changed.', writes, {
      role: 'format',
      run: ['fmt'],
      dashes: false,
      params: { only },
      out: told(saidOr(allFormatted)),
    }),
    ...packageActions('Go modules', {
      like: 'golang.org/x/text',
      changes: fetches,
      looks: asks,
      add: ['get'],
      install: ['mod', 'download', '-x'],
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
    tidy: action('Tidy the Go module', 'Makes go.mod have what is imported, and no more.', fetches, {
      run: ['mod', 'tidy', '-v'],
      out: told(saidOr('go.mod has what is imported, and no more')),
    }),
    doc: action('Show Go documentation', 'Documentation of a package or one of its names.', asks, {
      run: ['doc'],
      dashes: false,
      params: {
        of: operand(name('fmt, fmt.Printf, ./cart').default('.')),
      },
      given: { of: 'fmt.Printf' },
    }),
  },
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
    lint: action('Lint Go code', 'What its linters find, with places; corrects it when told.', makes, {
      role: 'lint',
      run: ['run', '--color=never'],
      dashes: false,
      params: {
        enable: option('--enable=', list(name('Linter'), 'Also these'), joined(',')),
        fix: on('--fix', 'Correct what it can'),
        only,
      },
      given: { enable: ['errcheck'] },
      ok: [0, 1],
      out: diagnostics(
        said(
          /^(?<file>[^\s:]+):(?<line>\d+):(?:(?<column>\d+):)? (?<message>.+?)(?: \((?<code>[\w-]+)\))?$/,
          /^0 issues\.$/m,
        ),
      ),
    }),
  },
});

export default [go, golangci];
