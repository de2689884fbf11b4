import type { ProgramTrial } from './types.ts';

const cartGo =
  'package shop\n\nimport "fmt"\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n\nfunc Say() { fmt.Printf("%d\\n", "x") }\n';
const cartTest = `package shop

import "testing"

func TestAdd(t *testing.T) {
	t.Run("two", func(t *testing.T) {
		if Add(1, 1) != 3 {
			t.Errorf("got %d", Add(1, 1))
		}
	})
}
func TestOk(t *testing.T)   {}
func TestSkip(t *testing.T) { t.Skip("later") }
`;
const go: ProgramTrial = {
  program: 'go',
  from: { apt: 'golang-go' },
  files: {
    'go.mod': 'module example.com/shop\n\ngo 1.19\n',
    'cart.go': cartGo,
    'cart_test.go': cartTest,
    'bad/bad.go': 'package bad\n\nfunc F() int { return y }\n',
    'app/main.go': 'package main\n\nimport "os"\n\nfunc main()   { println(os.Args[1]) }\n',
  },
  calls: [
    ['build', {}, /^1 diagnostic\nbad\/bad\.go:3:23 error: undefined: y$/],
    ['build', { only: ['./app'], output: 'shop', system: 'linux' }, /no diagnostics/],
    ['vet', { only: ['.'] }, /^1 diagnostic\ncart\.go:8:14 error: (?:fmt\.)?Printf format %d/i],
    ['test', { only: ['TestAdd'], packages: ['.'] }, /PROGRAM_FAILED[^]*Printf format/],
    ['run', { package: './app', args: ['--hello'] }, /--hello/],
    ['generate', {}, /.*/],
    ['format', { only: ['./app'] }, /app\/main\.go/],
    ['packages', {}, /3 packages\nexample\.com\/shop \//],
    ['list', {}, /no packages/],
    ['outdated', {}, /no packages/],
    ['why', { package: 'golang.org/x/text' }, /does not need/],
    ['add', { packages: ['golang.org/x/text'] }, /added|upgraded|PROGRAM_FAILED[^]*golang\.org/],
    ['tidy', {}, /done|warning|nothing/],
    ['install', {}, /no module dependencies|done/],
    ['doc', { of: '.' }, /func Add/],
  ],
};
const goTests: ProgramTrial = {
  ...go,
  files: { ...go.files, 'cart.go': cartGo.replace('%d', '%s') },
  calls: [
    [
      'test',
      { packages: ['.'] },
      /^1 failed, 1 passed, 1 skipped\n.*\/cart_test\.go:8 TestAdd\/two - cart_test\.go:8: got 2/,
    ],
    ['test', {}, /^2 failed, 1 passed, 1 skipped\nexample\.com\/shop\/bad - # example[^]*undefined: y/],
    ['test', { only: ['TestOk'], packages: ['.'] }, /^0 failed, 1 passed/],
  ],
};

const lib = `/// Adds.
/// \`\`\`
/// assert_eq!(demo::add(1, 1), 3);
/// \`\`\`
pub fn add(left: u64, right: u64) -> u64 {
    let unused = 1;
    return left + right;
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn it_works() {
        assert_eq!(add(2, 2), 4);
    }
    #[test]
    fn fails() {
        assert_eq!(add(2, 2), 5, "sum");
    }
    #[test]
    #[ignore]
    fn later() {}
}
`;
const cargo: ProgramTrial = {
  program: 'cargo',
  from: { apt: 'cargo' },
  files: {
    'Cargo.toml':
      '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nother = { path = "other" }\n',
    'src/lib.rs': lib,
    'src/main.rs': 'fn main() {\n    println!("{:?}", std::env::args().nth(1));\n}\n',
    'other/Cargo.toml': '[package]\nname = "other"\nversion = "0.2.0"\nedition = "2021"\n',
    'other/src/lib.rs': 'pub fn f() -> u8 {\n    y\n}\n',
  },
  calls: [
    [
      'build',
      {},
      /^1 diagnostic\nother\/src\/lib\.rs:2:5 error: cannot find value `y` in this scope \[E0425\]/,
    ],
    ['list', {}, /^2 packages\ndemo 0\.1\.0\nother 0\.2\.0/],
    ['tree', {}, /── other v0\.2\.0/],
    ['why', { package: 'other' }, /other v0\.2\.0[^]*demo v0/],
    ['outdated', {}, /no packages/],
    ['add', { packages: ['serde@1'], kind: 'dev' }, /Adding|PROGRAM_FAILED/],
    ['remove', { packages: ['other'] }, /Removing other/],
    [
      'build',
      { release: true },
      /^1 diagnostic\nsrc\/lib\.rs:6:9 warning: unused variable: `unused` \[unused_variables\]/,
    ],
    ['check', {}, /^1 diagnostic/],
    ['clippy', {}, /^2 diagnostics\n[^]*needless_return/],
    [
      'test',
      {},
      /^2 failed, 1 passed, 1 skipped\nsrc\/lib\.rs:19 tests::fails - assertion `left == right` failed: sum[^]*src\/lib\.rs - add \(line 2\)/,
    ],
    ['test', { only: ['tests::it_works'] }, /^0 failed, 1 passed, 0 skipped/],
    ['run', { args: ['--hello'] }, /Some\("--hello"\)/],
    ['format', { check: true }, /done/],
    ['fix', { targets: true }, /no diagnostics/],
    ['doc', {}, /no diagnostics/],
    ['update', {}, /Locking|nothing|up to date|done/],
    ['install', {}, /done|nothing/],
    ['clean', {}, /Removed/],
  ],
};
const rustc: ProgramTrial = {
  program: 'rustc',
  from: { apt: 'rustc' },
  files: {
    'a.rs': 'fn main() {\n    let x = String::new();\n    drop(x);\n    drop(x);\n}\n',
    'b.rs': 'fn main() {}\n',
  },
  calls: [
    ['compile', { file: 'a.rs' }, /^1 diagnostic\n.*a\.rs:4:10 error: use of moved value: `x` \[E0382\]/],
    ['compile', { file: 'b.rs', output: 'b' }, /no diagnostics/],
    ['explain', { code: 'E0382' }, /moved/],
  ],
};

const mix: ProgramTrial = {
  program: 'mix',
  from: { apt: 'elixir' },
  files: {
    'mix.exs':
      'defmodule Shop.MixProject do\n  use Mix.Project\n  def project, do: [app: :shop, version: "0.1.0"]\nend\n',
    'lib/shop.ex':
      'defmodule Shop do\n  def add(a, b) do\n    unused = 1\n    a + b\n  end\n  def bad, do: Nope.call()\nend\n',
    '.formatter.exs': '[inputs: ["lib/*.ex", "test/*.exs"]]\n',
    'test/test_helper.exs': 'ExUnit.start()\n',
    'test/shop_test.exs':
      'defmodule ShopTest do\n  use ExUnit.Case\n  test "adds" do\n    assert Shop.add(1, 1) == 3\n  end\n  test "ok", do: assert(true)\n  @tag :skip\n  test "later", do: assert(false)\nend\n',
  },
  calls: [
    [
      'build',
      {},
      /^2 diagnostics\nlib\/shop\.ex:3 warning: variable "unused"[^]*lib\/shop\.ex:6 warning: Nope\.call\/0/,
    ],
    [
      'test',
      {},
      /^1 failed, 1 passed, 1 skipped\ntest\/shop_test\.exs:3 - test adds \(ShopTest\)\nAssertion with == failed/,
    ],
    ['test', { again: true }, /^1 failed, 0 passed/],
    ['test', { only: ['test/shop_test.exs:6'] }, /^0 failed, 1 passed/],
    ['format', { check: true }, /PROGRAM_FAILED[^]*not formatted/],
    ['format', {}, /done/],
    ['tasks', {}, /\ncompile /],
    ['task', { task: 'app.tree' }, /shop/],
    ['eval', { code: 'IO.inspect(Shop.add(1, 2))' }, /3/],
    ['install', {}, /All dependencies|done|PROGRAM_FAILED/],
    ['list', {}, /no packages|done/],
    ['tree', {}, /shop/],
    ['update', { all: true }, /done|Resolving|PROGRAM_FAILED/],
    ['outdated', {}, /package|PROGRAM_FAILED/],
  ],
};
const ghc: ProgramTrial = {
  program: 'ghc',
  from: { apt: 'ghc' },
  files: {
    'Bad.hs': 'module Main where\nimport Data.List\nmain :: IO ()\nmain = putStrLn (foo 1)\n',
    'Ok.hs': 'module Main where\nimport Data.List\nmain :: IO ()\nmain = putStrLn "hi"\n',
  },
  calls: [
    ['check', { file: 'Bad.hs' }, /^1 diagnostic\n.*Bad\.hs:4:18 error: Variable not in scope: foo/],
    [
      'check',
      { file: 'Ok.hs' },
      /^1 diagnostic\n.*Ok\.hs:2:1 warning: The import of .* \[-Wunused-imports\]/,
    ],
    ['compile', { file: 'Ok.hs', output: 'ok' }, /^1 diagnostic/],
    ['eval', { code: 'map succ [1, 2]' }, /\[2,3\]/],
    ['eval', { code: 'main', file: 'Ok.hs' }, /hi/],
  ],
};
const script = (
  program: string,
  apt: string,
  code: string,
  calls: ProgramTrial['calls'] = [],
): ProgramTrial => ({
  program,
  from: { apt },
  files: { 'run.txt': code, 'bad.pl': 'my $x = 1\nmy $y;\n' },
  calls: [['run', { script: 'run.txt', args: ['--hello'] }, /ran/], ['eval', { code }, /ran/], ...calls],
});
const proto = 'syntax = "proto3";\nmessage A { string x = 1; Foo y = 2; }\n';

export default [
  go,
  goTests,
  cargo,
  rustc,
  mix,
  ghc,
  script('lua', 'lua5.4', 'print("ran")'),
  script('perl', 'perl', 'print "ran"', [
    ['check', { file: 'bad.pl' }, /^1 diagnostic\n.*bad\.pl:2 error: syntax error/],
  ]),
  script('rscript', 'r-base-core', 'cat("ran")', [
    ['list', {}, /\nstats \d/],
    ['install', { packages: ['jsonlite'] }, /jsonlite/],
  ]),
  script('elixir', 'elixir', 'IO.puts("ran")'),
  {
    program: 'shellcheck',
    from: { apt: 'shellcheck' },
    files: { 'a.sh': '#!/bin/bash\ncd $y\n', 'b.sh': '#!/bin/sh\necho hi\n' },
    calls: [
      ['lint', { only: ['a.sh', 'b.sh'] }, /^3 diagnostics\n[^]*a\.sh:2:1 warning: Use 'cd .* \[SC2164\]/],
      ['lint', { only: ['a.sh'], exclude: ['SC2086', 'SC2154'] }, /^1 diagnostic/],
      ['lint', { only: ['b.sh'] }, /no diagnostics/],
    ],
  },
  {
    program: 'shfmt',
    from: { apt: 'shfmt' },
    files: { 'a.sh': '#!/bin/bash\nif true ; then\n echo a\nfi\n' },
    calls: [
      ['check', { indent: 2 }, /\+  echo a/],
      ['format', {}, /a\.sh/],
      ['check', {}, /done/],
    ],
  },
  {
    program: 'protoc',
    from: { apt: 'protobuf-compiler' },
    files: {
      'a.proto': proto,
      'b.proto': 'syntax = "proto3";\nimport "nope.proto";\n',
      'c.proto': 'syntax = "proto3";\nmessage C {}\n',
      'gen/.keep': '',
    },
    calls: [
      ['check', { only: ['a.proto'] }, /^1 diagnostic\na\.proto:2:27 error: "Foo" is not defined/],
      ['check', { only: ['b.proto'] }, /nope\.proto error: File not found/],
      ['check', { only: ['c.proto'] }, /no diagnostics/],
      ['generate', { language: 'python', output: 'gen', only: ['c.proto'] }, /no diagnostics/],
    ],
  },
] satisfies ProgramTrial[];
