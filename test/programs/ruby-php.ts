import type { ProgramTrial } from './types.ts';

const bundle = {
  Gemfile: 'source "https://rubygems.org"\ngem "rspec"\ngem "rake"\n',
  Rakefile:
    'desc "Says hello"\ntask(:hello, [:who]) { |_, args| puts "hi #{args[:who]}" }\ntask(:other) { }\n',
  'cart.rb': 'def add(a, b)\n  a+b\nend\n',
  'spec/cart_spec.rb': `require_relative '../cart'
RSpec.describe 'cart' do
  it('adds') { expect(add(1, 2)).to eq 3 }
  it 'fails' do
    expect(add(1, 2)).to eq 4
  end
  xit('later') { }
end
`,
};
const shop = {
  'composer.json': JSON.stringify({
    name: 'a/shop',
    require: { php: '>=7' },
    scripts: { hello: 'echo hi', both: ['@hello', '@hello'] },
    'scripts-descriptions': { hello: 'Says hello' },
  }),
  'tests/CartTest.php': `<?php
namespace Shop;
use PHPUnit\\Framework\\TestCase;
final class CartTest extends TestCase {
  public function testAdds(): void { $this->assertSame(3, 1 + 2); }
  public function testFails(): void { $this->assertSame(4, 1 + 2); }
  /** @dataProvider many */
  public function testMany(int $n): void { $this->assertSame(1, $n); }
  public static function many() { return [[1], 'two/a' => [2]]; }
  public function testSkip(): void { $this->markTestSkipped('later'); }
}
`,
};

export default [
  {
    program: 'ruby',
    from: { apt: 'ruby' },
    files: { ...bundle, 'bad.rb': 'def a(\n  x = 1\n  y = \nend\n' },
    calls: [
      ['run', { file: 'cart.rb' }, /done/],
      ['eval', { code: '-1; puts ARGV.inspect', args: ['-x'] }, /^\["-x"\]/],
      ['check', { file: 'cart.rb' }, /^no diagnostics/],
      ['check', { file: 'bad.rb' }, /bad\.rb:3 error: syntax error/],
    ],
  },
  {
    program: 'bundle',
    from: { apt: 'bundler rake' },
    files: {
      ...bundle,
      Gemfile: 'gem "tiny", path: "tiny"\n',
      'tiny/tiny.gemspec':
        'Gem::Specification.new { |s| s.name = "tiny"; s.version = "1.0"; s.summary = "t"; s.authors = ["a"] }\n',
    },
    calls: [
      ['install', {}, /Bundle complete/],
      ['list', {}, /tiny 1\.0/],
      ['update', { packages: ['tiny'] }, /Bundle updated/],
      ['outdated', {}, /^no packages/],
      ['exec', { program: 'ruby', args: ['-e', 'puts 6*7'] }, /^42/],
      // There is no source to add it from.
      ['add', { packages: ['no-such-gem-at-all-1'] }, /PROGRAM_FAILED[^]*no-such-gem-at-all-1/],
      ['remove', { packages: ['tiny'] }, /Removing gems|tiny/],
    ],
  },
  {
    program: 'rake',
    from: { apt: 'rake' },
    files: bundle,
    calls: [
      ['tasks', {}, /^2 tasks\nhello\[who\] \(Says hello\)\nother$/],
      ['scripts', {}, /^2 tasks\nhello\nother$/],
      ['task', { task: 'hello[you]' }, /^hi you/],
      ['task', { task: 'nope' }, /PROGRAM_FAILED[^]*Don't know how to build task/],
    ],
  },
  {
    program: 'rspec',
    check: ['test', /1 failed[^]*cart/],
    from: { apt: 'ruby-rspec' },
    files: bundle,
    calls: [
      [
        'test',
        {},
        /^1 failed, 1 passed, 1 skipped\nspec\/cart_spec\.rb:5 \.\/spec\/cart_spec\.rb\[1:2\] - cart fails: expected: 4; got: 3/,
      ],
      ['test', { only: ['./spec/cart_spec.rb[1:2]'] }, /^1 failed, 0 passed/],
      ['test', { matching: 'adds' }, /^0 failed, 1 passed/],
    ],
  },
  {
    program: 'rubocop',
    check: ['lint', /cart\.rb/],
    from: { apt: 'rubocop' },
    files: { 'cart.rb': bundle['cart.rb'], '.rubocop.yml': 'AllCops:\n  NewCops: disable\n' },
    calls: [
      [
        'check',
        {},
        /cart\.rb:2:4 info: Surrounding space missing for operator `\+`\. \[Layout\/SpaceAroundOperators\]/,
      ],
      ['format', {}, /corrected/],
      ['check', { fix: 'all' }, /^\d diagnostic/],
    ],
  },
  {
    program: 'php',
    from: { apt: 'php-cli' },
    files: { 'a.php': '<?php echo "a", $argv[1] ?? "";', 'bad.php': '<?php\nfunction {\n' },
    calls: [
      ['run', { file: 'a.php', args: ['-x'] }, /^a-x/],
      ['eval', { code: '-1; echo $argv[1];', args: ['-x'] }, /^-x/],
      ['check', { file: 'a.php' }, /^no diagnostics/],
      ['check', { file: 'bad.php' }, /^1 diagnostic\n.*bad\.php:2 error: syntax error/],
    ],
  },
  {
    program: 'composer',
    from: { apt: 'composer' },
    files: {
      ...shop,
      'composer.json': shop['composer.json'].replace(
        '{',
        '{"repositories": [{"type": "path", "url": "./tiny"}, {"packagist.org": false}], ',
      ),
      'tiny/composer.json': '{"name": "a/tiny", "version": "1.0.0"}',
    },
    calls: [
      ['tasks', {}, /^2 tasks\nhello = echo hi \(Says hello\)\nboth = @hello && @hello$/],
      ['run_script', { task: 'hello', args: ['a'] }, /hi/],
      ['install', {}, /Generating autoload|Nothing to install/],
      ['list', {}, /^no packages/],
      ['outdated', {}, /^no packages/],
      ['why', { package: 'psr/log' }, /PROGRAM_FAILED/],
      ['add', { packages: ['no/such'] }, /PROGRAM_FAILED[^]*no\/such/],
      ['add', { packages: ['a/tiny'] }, /a\/tiny/],
      ['list', {}, /^1 package\na\/tiny 1\.0\.0/],
      ['why', { package: 'a/tiny' }, /a\/shop/],
      ['update', { packages: ['a/tiny'] }, /Nothing to modify|Nothing to install|Lock file/],
      ['remove', { packages: ['a/tiny'] }, /a\/tiny/],
    ],
  },
  {
    program: 'phpunit',
    check: ['test', /2 failed/],
    from: { apt: 'phpunit' },
    files: {
      ...shop,
      'phpunit.xml':
        '<phpunit><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>',
    },
    calls: [
      [
        'test',
        {},
        /^2 failed, 2 passed, 1 skipped\n.*CartTest\.php:6 Shop\\CartTest::testFails - Failed asserting that 3 is identical to 4/,
      ],
      ['test', { only: ['Shop\\CartTest::testMany with data set "two/a"'] }, /^1 failed, 0 passed/],
      ['test', { only: ['CartTest::testAdds', 'CartTest::testSkip'] }, /^0 failed, 1 passed, 1 skipped/],
    ],
  },
] satisfies ProgramTrial[];
