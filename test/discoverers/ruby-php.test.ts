import { expect, it } from 'vitest';
import { programOf } from './programs.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

const shown = (id: string, action: string, output: Parameters<typeof reportOf>[2]) =>
  reportOf(programOf(id), action, output).text;

it('names the failures of RSpec by what only takes, and files that could not be loaded', () => {
  const test = (file: string) =>
    shown('rspec', 'test', { files: { 'report.json': recorded(file) }, exitCode: 1 });
  expect(test('rspec/failures.json')).toBe(
    '1 failed, 1 passed, 1 skipped\nspec/cart_spec.rb:5 ./spec/cart_spec.rb[1:2] - ' +
      'cart fails: expected: 4; got: 3; (compared using ==)',
  );
  expect(test('rspec/load-error.json')).toMatch(
    /^1 failed, 0 passed, 0 skipped\n\.\/spec\/b_spec\.rb - An error occurred[^]*cannot load such file -- nope/,
  );
});

it('names the failures of PHPUnit by what only takes', () => {
  const files = { 'report.xml': recorded('phpunit/failures.xml') };
  const text = shown('phpunit', 'test', { files, exitCode: 1 });
  expect(text.split('\n')).toEqual([
    '2 failed, 2 passed, 1 skipped',
    '/home/dev/shop/tests/CartTest.php:5 Shop\\CartTest::testFails - Failed asserting that 3 is identical to 4.',
    '/home/dev/shop/tests/CartTest.php:7 Shop\\CartTest::testMany with data set "two" - ' +
      'Failed asserting that 2 is identical to 1.',
  ]);
  const [, filter = ''] =
    /--filter=\/(.*)\/$/.exec(
      argvOf(programOf('phpunit'), 'test', { only: ['Shop\\CartTest::testMany with data set "two"'] }).find(
        (one) => one.startsWith('--filter'),
      ) ?? '',
    ) ?? [];
  expect('Shop\\CartTest::testMany with data set "two"').toMatch(new RegExp(filter));
  expect('Shop\\CartTest::testManyMore').not.toMatch(new RegExp(filter));
});

it('runs a gem as the bundle has it, where the bundle has it', async () => {
  const folder = '/home/dev/shop';
  const lock = 'GEM\n  specs:\n    rake (13.0.6)\n\nDEPENDENCIES\n  rake\n';
  const look = async (id: string) => {
    const read = (path: string) => Promise.resolve(path.endsWith('Gemfile.lock') ? lock : undefined);
    const situation = { action: 'x', folder, roots: [folder], effects: [], values: {}, denied: [] };
    return programOf(id).inspect?.({ read } as never, { ...situation, trusted: () => Promise.resolve(true) });
  };
  const env = { RUBYOPT: '-rbundler/setup', BUNDLE_GEMFILE: `${folder}/Gemfile` };
  expect(await look('rake')).toEqual({ env });
  expect(await look('rubocop')).toEqual({});
});

it('tells the tasks that a Rakefile names at its top, without running it', () => {
  const stdout = [
    'task default: :test',
    'Rake::TestTask.new("test:regular") do |t|',
    'Minitest::TestTask.create',
    'RSpec::Core::RakeTask.new(:examples)',
    'RSpec::Core::RakeTask.new do |t|',
    'multitask "build" => [:a] do',
    'namespace :db do',
    '  task :inside',
  ];
  expect(shown('rake', 'scripts', { stdout: stdout.join('\n') })).toBe(
    '6 tasks\ndefault\ntest:regular\ntest\nexamples\nspec\nbuild',
  );
});

it('reads what Composer lists, an empty list too', () => {
  const list =
    '{"installed": [{"name": "psr/log", "version": "1.1.4", "latest": "3.0.2", "latest-status": "update-possible"}]}';
  expect(shown('composer', 'outdated', { stdout: list })).toBe('1 package\npsr/log 1.1.4 -> 3.0.2');
  expect(shown('composer', 'list', { stdout: '[]' })).toBe('no packages');
});

it('reads what PHPStan finds', () => {
  const stdout =
    '{"totals":{"errors":0,"file_errors":1},"files":{"/a/Cart.php":{"errors":1,"messages":' +
    '[{"message":"Undefined variable: $x","line":4,"ignorable":true,"identifier":"variable.undefined"}]}},"errors":[]}';
  expect(shown('phpstan', 'types', { stdout, exitCode: 1 })).toBe(
    '1 diagnostic\n/a/Cart.php:4 error: Undefined variable: $x [variable.undefined]',
  );
});
