import * as z from 'zod';
import { choice, on, operand, option, words } from '../core/parameter.ts';
import { list, name, path, text } from '../core/params.ts';
import { action, family, type Program, type ProgramAction } from '../core/program.ts';
import type { Reader, Report } from '../core/report.ts';
import { said } from './reports/diagnostics.ts';
import { diagnostics, level, packages, tests, type Case } from './reports/kinds.ts';
import { json, jsonLines } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';
import { exactly } from './shared/test-names.ts';

interface Row extends Pick<Program, 'title' | 'site' | 'get' | 'project' | 'hints'> {
  analyze: readonly string[];
  found: Report;
  test: string;
  more: Readonly<Record<string, ProgramAction>>;
}
const runs = ['execute', 'network'] as const;
const changes = ['write', 'network'] as const;

const start = z.object({ line: z.int(), column: z.int() });
const finding = z.object({
  code: z.string(),
  severity: z.string(),
  problemMessage: z.string(),
  location: z.object({ file: z.string(), range: z.object({ start }) }),
});
const analyzed = diagnostics(
  json(z.object({ diagnostics: z.array(finding) }), (all) =>
    all.diagnostics.map(({ code, severity, problemMessage, location: { file, range } }) => ({
      ...{ level: level(severity), message: problemMessage, code, file },
      ...{ line: range.start.line, column: range.start.column },
    })),
  ),
);

const number = z.int().nullish();
const event = z.object({
  type: z.string(),
  test: z
    .object({ id: z.int(), name: z.string(), url: z.string().nullish(), line: number, root_line: number })
    .optional(),
  testID: z.int().optional(),
  result: z.string().optional(),
  hidden: z.boolean().optional(),
  skipped: z.boolean().optional(),
  error: z.string().optional(),
});
/** What both say of tests, an event a line. */
const cases: Reader<Case[]> = jsonLines(event, (all) =>
  all.flatMap(({ type, testID, result, hidden, skipped }): Case[] => {
    const of = all.find((one) => one.test?.id === testID)?.test;
    if (type !== 'testDone' || !of || (hidden && result === 'success')) return [];
    const status = result !== 'success' ? 'failed' : skipped ? 'skipped' : 'passed';
    const message = all
      .filter((one) => one.type === 'error' && one.testID === testID)
      .map((one) => one.error);
    const line = of.root_line ?? of.line;
    const place = line && of.url?.startsWith('file:') && { file: decodeURI(new URL(of.url).pathname), line };
    return [{ name: of.name, status, message: message.join('\n'), ...place }];
  }),
);

const listed = z.object({
  packages: z.array(z.object({ name: z.string(), version: z.string(), kind: z.string() })),
});
const version = z.object({ version: z.string() }).nullish();
const older = z.object({
  packages: z.array(
    z.object({
      package: z.string(),
      kind: z.string(),
      current: version,
      upgradable: version,
      latest: version,
    }),
  ),
});
const only = operand(list(path('File or folder'), 'Only these'));

const rows: Readonly<Record<string, Row>> = {
  dart: {
    title: 'Dart',
    site: 'https://dart.dev/tools/dart-tool',
    get: { brew: 'dart', winget: 'Google.DartSDK', site: 'https://dart.dev/get-dart' },
    project: ['pubspec.yaml'],
    analyze: ['analyze', '--format=json'],
    found: analyzed,
    test: '--reporter=json',
    more: {
      run: action('Run a Dart program', 'Runs a file, or a program of the package.', runs, {
        run: ({ what, args }) => ['run', what, args],
        params: { what: operand(name('File, or package:program')), args: words('Its arguments') },
        given: { what: 'bin/shop.dart', args: ['--help'] },
      }),
      format: action('Format Dart code', 'Formats files; names those that changed.', ['write'], {
        role: 'format',
        run: ['format'],
        params: {
          check: on(['--output=none', '--set-exit-if-changed'], 'Only say which'),
          only: operand(list(path('File or folder'), 'Which').default(['.'])),
        },
      }),
      fix: action('Fix Dart code', 'Changes what can be corrected.', ['write', 'execute'], {
        run: ['fix'],
        params: { how: choice({ show: '--dry-run', apply: '--apply' }, 'Whether it is done') },
      }),
      compile: action('Compile a Dart program', 'Makes a program, or JavaScript.', runs, {
        run: ['compile'],
        params: {
          to: choice({ program: 'exe', javascript: 'js', wasm: 'wasm' }, 'To what'),
          output: option('--output', path('New file', 'file', { written: true })),
          file: operand(path('Source', 'file')),
        },
        given: { file: 'bin/shop.dart', output: 'shop' },
      }),
    },
  },
  flutter: {
    title: 'Flutter',
    site: 'https://docs.flutter.dev/reference/flutter-cli',
    get: { winget: 'Flutter.Flutter', brew: 'flutter', site: 'https://docs.flutter.dev/get-started/install' },
    project: [{ file: 'pubspec.yaml', has: /^ {2}flutter:/m }],
    analyze: ['analyze', '--no-congratulate'],
    found: diagnostics(
      said(
        /^ *(?<level>error|warning|info) • (?<message>.+) • (?<file>\S+?):(?<line>\d+):(?<column>\d+) • (?<code>\w+)/,
      ),
    ),
    test: '--machine',
    more: {
      build: action('Build a Flutter app', 'Builds the app for a system.', runs, {
        run: ['build'],
        params: {
          target: operand(
            z.enum(['apk', 'appbundle', 'ios', 'ipa', 'web', 'linux', 'macos', 'windows']).describe('For'),
          ),
          mode: choice({ release: '--release', profile: '--profile', debug: '--debug' }, 'How'),
          flavor: option('--flavor', name('Flavor')),
        },
        given: { target: 'web' },
      }),
      devices: action('List devices of Flutter', 'Phones, emulators and systems it can run on.', runs, {
        run: ['devices'],
      }),
      doctor: action('Check the setup of Flutter', 'What it finds and misses.', runs, {
        run: ['doctor', '--verbose'],
      }),
    },
  },
};

const pub = (title: string) =>
  packageActions(`${title} packages`, {
    ...{ like: 'http', changes, looks: changes, install: ['pub', 'get'], add: ['pub', 'add'] },
    ...{ remove: ['pub', 'remove'], update: ['pub', 'upgrade'] },
    outdated: [
      ['pub', 'outdated', '--json'],
      packages(
        json(older, (all) =>
          all.packages.map(({ package: one, kind, current, upgradable, latest }) => ({
            ...{ name: one, version: current?.version, wanted: upgradable?.version },
            ...{ latest: latest?.version, group: kind },
          })),
        ),
      ),
    ],
    list: [
      ['pub', 'deps', '--json'],
      packages(
        json(listed, (all) =>
          all.packages
            .filter((one) => one.kind !== 'root')
            .map(({ kind, ...one }) => ({ ...one, group: kind })),
        ),
      ),
    ],
  });

export default family(rows, ({ title, analyze, found, test, more, ...facts }) => ({
  title,
  category: 'runtime',
  ...facts,
  environment: ['PUB_CACHE', 'PUB_HOSTED_URL', 'FLUTTER_STORAGE_BASE_URL'],
  actions: {
    analyze: action(`Analyze ${title} code`, 'Errors, warnings and hints with their places.', runs, {
      role: 'lint',
      run: analyze,
      params: { only },
      ok: [0, 1, 2, 3],
      out: found,
    }),
    test: action(`Run ${title} tests`, 'Runs tests; failures with their places.', runs, {
      role: 'test',
      run: ['test', test],
      params: {
        only: option('--name=', list(text('Test'), 'Only these, by name'), exactly),
        paths: operand(list(path('File or folder'), 'Only in these')),
      },
      given: { only: ['cart adds'] },
      ok: [0, 1],
      out: tests(cases),
    }),
    ...pub(title),
    ...more,
  },
}));
