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
    ['tidy', {}, /done|warning|nothing/],
    ['install', {}, /no module dependencies|done/],
    ['doc', { of: '.' }, /func Add/],
    ['env', {}, /go1/],
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

export default [go, goTests] satisfies ProgramTrial[];
