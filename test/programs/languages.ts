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
  check: ['test', /failed/],
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
    ['build', { only: ['./app'], output: 'shop' }, /no diagnostics/],
    ['vet', { only: ['.'] }, /^1 diagnostic\ncart\.go:8:14 error: (?:fmt\.)?Printf format %d/i],
    [
      'test',
      { only: ['TestAdd'], packages: ['.'] },
      /^1 failed, 0 passed, 0 skipped\ncart\.go:8 [^]*Printf format/,
    ],
    ['run', { package: './app', args: ['--hello'] }, /--hello/],
    ['format', { only: ['./app'] }, /app\/main\.go/],
    ['list', {}, /no packages/],
    ['outdated', {}, /no packages/],
    ['why', { package: 'golang.org/x/text' }, /does not need/],
    ['add', { packages: ['golang.org/x/text'] }, /added|upgraded|PROGRAM_FAILED[^]*golang\.org/],
    ['tidy', {}, /go\.mod has what is imported|warning/],
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
      /^1 failed, 1 passed, 1 skipped\n(?:.*\/)?cart_test\.go:8 TestAdd\/two - cart_test\.go:8: got 2/,
    ],
    ['test', {}, /^2 failed, 1 passed, 1 skipped\nbad\/bad\.go:3 example\.com\/shop\/bad - .*undefined: y/],
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
  check: ['test', /failed|error/],
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
    ['why', { package: 'other' }, /other v0\.2\.0[^]*demo v0/],
    ['outdated', {}, /no packages/],
    ['add', { packages: ['serde@1'], dev: true }, /Adding|PROGRAM_FAILED/],
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
    ['format', { check: true }, /every file is formatted/],
    ['update', {}, /Locking|nothing|up to date|done/],
    ['install', {}, /done|nothing/],
    ['clean', {}, /Removed/],
  ],
};
export default [
  go,
  goTests,
  cargo,
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
    files: { 'a.sh': '#!/bin/bash\nif true ; then\n echo a\nfi\n', 'bad/b.sh': 'if true; then\n' },
    check: ['format', /^format: not passed, exit code 1 [^]*b\.sh:1:1: /],
    calls: [
      ['format', { check: true, indent: 2, only: ['a.sh'] }, /\+  echo a/],
      ['format', { only: ['a.sh'] }, /a\.sh/],
      ['format', { check: true, only: ['a.sh'] }, /^every file is formatted$/],
      ['format', { only: ['bad'] }, /^PROGRAM_FAILED: [^]*b\.sh:1:1: /],
      ['format', { only: ['nope.sh'] }, /^PATH_NOT_FOUND: /],
    ],
  },
] satisfies ProgramTrial[];
