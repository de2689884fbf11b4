import { describe, expect, it } from 'vitest';
import { argvOf, reportOf } from './real-program.ts';
import { programOf } from './programs.ts';

type Said = Parameters<typeof reportOf>[2];
const told = (id: string, action: string, output: Said) => reportOf(programOf(id), action, output).text;
const argv = (id: string, action: string, given: object) => argvOf(programOf(id), action, given).join(' ');

describe('tests, as they are told by programs that cannot be installed here', () => {
  it('.NET', () => {
    const result = (name: string, outcome: string, more = '') =>
      `<UnitTestResult testName="${name}" outcome="${outcome}">${more}</UnitTestResult>`;
    const error =
      '<Output><ErrorInfo><Message>Expected 3</Message><StackTrace>at A() in /shop/Cart.cs:line 7</StackTrace></ErrorInfo></Output>';
    const trx = `<TestRun><Results>${result('Shop.A', 'Passed')}${result('Shop.B', 'Failed', error)}${result('Shop.C', 'NotExecuted')}</Results></TestRun>`;
    const files = { 'a.trx': trx };
    expect(told('dotnet', 'test', { files, exitCode: 1 })).toBe(
      '1 failed, 1 passed, 1 skipped\n/shop/Cart.cs:7 Shop.B - Expected 3',
    );
    expect(argv('dotnet', 'test', { only: ['Shop.B(1)', 'A|B'] })).toContain(
      '--filter=FullyQualifiedName~Shop.B|FullyQualifiedName~A\\|B',
    );
  });

  it('Zig', () => {
    const stderr =
      '1/3 main.test.adds...OK\n2/3 main.test.fails... expected 10, found 15\nFAIL (TestExpectedEqual)\n/zig/testing.zig:79:17: 0x20 in expectEqual (test)\n    return error.TestExpectedEqual;\n/shop/main.zig:8:5: 0x21 in test.fails (test)\n3/3 main.test.later...SKIP\n1 passed; 1 skipped; 1 failed.\n';
    expect(told('zig', 'test', { stderr, exitCode: 1 })).toBe(
      '1 failed, 1 passed, 1 skipped\n/shop/main.zig:8 main.test.fails - expected 10, found 15\nFAIL (TestExpectedEqual)',
    );
  });

  it('Bazel', () => {
    const stdout =
      '==================== Test output for //some:b:\nmain_test.go:8: got 1\n================\n//some:a    (cached) PASSED in 0.1s\n//some:b    FAILED in 0.1s\n@rules//x:c    FAILED TO BUILD\n';
    expect(told('bazel', 'test', { stdout, exitCode: 3 })).toBe(
      '2 failed, 1 passed, 0 skipped\n//some:b - main_test.go:8: got 1\n@rules//x:c - FAILED TO BUILD',
    );
    const stderr = 'ERROR: /shop/BUILD:3:10: Compiling main.cc failed: (Exit 1)\nmain.cc:2:3: error: no y\n';
    expect(told('bazel', 'build', { stderr, exitCode: 1 })).toContain(
      '/shop/BUILD:3:10 error: Compiling main.cc failed',
    );
  });

  it.each(['dart', 'flutter'])('%s', (id) => {
    const events = [
      { type: 'testStart', test: { id: 1, name: 'loading a_test.dart', line: null, url: null } },
      { type: 'testDone', testID: 1, result: 'success', hidden: true, skipped: false },
      {
        type: 'testStart',
        test: { id: 2, name: 'cart adds', line: 5, url: 'file:///shop/test/a_test.dart' },
      },
      { type: 'error', testID: 2, error: 'Expected: <3>' },
      { type: 'testDone', testID: 2, result: 'failure', hidden: false, skipped: false },
      { type: 'testStart', test: { id: 3, name: 'later', line: 9, url: 'file:///shop/test/a_test.dart' } },
      { type: 'testDone', testID: 3, result: 'success', hidden: false, skipped: true },
    ];
    const stdout = events.map((one) => JSON.stringify(one)).join('\n');
    expect(told(id, 'test', { stdout, exitCode: 1 })).toBe(
      '1 failed, 0 passed, 1 skipped\n/shop/test/a_test.dart:5 cart adds - Expected: <3>',
    );
    expect(argv(id, 'test', { only: ['cart adds (x)'] })).toContain('--name=^(?:cart adds \\(x\\))$');
  });

  it('Swift', () => {
    const xml =
      '<testsuites><testsuite><testcase classname="ShopTests.CartTests" name="testAdds"><failure message="no"/></testcase></testsuite></testsuites>';
    const files = { 'report.xml': xml };
    expect(told('swift', 'test', { files, exitCode: 1 })).toContain('ShopTests.CartTests/testAdds - no');
  });

  it('Cabal and Stack', () => {
    const cabal = {
      stdout: 'Test suite t: RUNNING...\nwrong: 3\nTest suite t: FAIL\nTest suite u: PASS\n',
      exitCode: 1,
    };
    expect(told('cabal', 'test', cabal)).toMatch(/^1 failed, 1 passed, 0 skipped\nt - .*wrong: 3/s);
    expect(told('stack', 'test', { stderr: 'shop> Test suite t passed\n', exitCode: 0 })).toContain(
      '0 failed, 1 passed',
    );
  });
});

describe('diagnostics', () => {
  it('of golangci-lint, whose first and second editions differ in all but text', () => {
    const stdout =
      'cart.go:8:14: Error return value is not checked (errcheck)\n\tf()\n\t ^\n1 issues:\n* errcheck: 1\n';
    expect(told('golangci_lint', 'lint', { stdout, exitCode: 1 })).toBe(
      '1 diagnostic\ncart.go:8:14 error: Error return value is not checked [errcheck]',
    );
  });

  it('of MSBuild and Visual Studio', () => {
    const stdout =
      "  1>main.cpp(3,5): error C2065: 'y': undeclared identifier [C:\\shop\\Shop.vcxproj]\nCart.cs(7,9): warning CS0168: unused [C:\\shop\\Shop.csproj]\n";
    expect(told('msbuild', 'build', { stdout, exitCode: 1 })).toMatch(
      /\nmain\.cpp:3:5 error: 'y': undeclared identifier \[C2065\]\nCart/,
    );
    expect(argv('msbuild', 'build', { configuration: 'Release', targets: ['A', 'B'] })).toBe(
      '-nologo -verbosity:quiet -property:Configuration=Release -target:A;B',
    );
    expect(() => argv('msbuild', 'build', { project: '/property:Evil' })).toThrow('read as an option');
    expect(argv('visual_studio', 'build', { solution: 'Shop.sln', configuration: 'Release|x64' })).toBe(
      'Shop.sln /Build Release|x64',
    );
  });

  it('of Hadolint, and of Dart', () => {
    const found = [
      { file: 'Dockerfile', line: 3, column: 1, level: 'style', code: 'DL3008', message: 'Pin versions' },
    ];
    expect(told('hadolint', 'lint', { stdout: JSON.stringify(found), exitCode: 1 })).toContain(
      'Dockerfile:3:1 info: Pin versions [DL3008]',
    );
    const location = { file: '/shop/a.dart', range: { start: { offset: 1, line: 3, column: 5 } } };
    const one = { code: 'unused', severity: 'WARNING', problemMessage: 'Unused.', location };
    const stdout = JSON.stringify({ version: 1, diagnostics: [one] });
    expect(told('dart', 'analyze', { stdout, exitCode: 2 })).toContain(
      '/shop/a.dart:3:5 warning: Unused. [unused]',
    );
    const flutter = '   info • Unused • lib/main.dart:3:5 • unused_import\n\n1 issue found. (ran in 1.0s)\n';
    expect(told('flutter', 'analyze', { stdout: flutter, exitCode: 1 })).toContain(
      'lib/main.dart:3:5 info: Unused [unused_import]',
    );
  });

  it('of newer Elixir and GHC', () => {
    const elixir =
      '    warning: variable "unused" is unused\n    │\n  3 │     unused = 1\n    │     ~~~~~~\n    │\n    └─ lib/shop.ex:3:5: Shop.add/2\n';
    expect(told('mix', 'build', { stderr: elixir })).toBe(
      '1 diagnostic\nlib/shop.ex:3:5 warning: variable "unused" is unused',
    );
    const old =
      '== Compilation error in file lib/x.ex ==\n** (CompileError) lib/x.ex:2: undefined function y/0\n';
    expect(told('mix', 'build', { stderr: old, exitCode: 1 })).toContain(
      'lib/x.ex:2 error: undefined function y/0',
    );
    const ghc =
      'A.hs:4:18: error: [GHC-88464]\n    • Variable not in scope: hi\n    • Perhaps pi\n  |\n4 | main = hi\n';
    expect(told('cabal', 'build', { stderr: ghc, exitCode: 1 })).toBe(
      '1 diagnostic\nA.hs:4:18 error: • Variable not in scope: hi • Perhaps pi [GHC-88464]',
    );
  });
});

describe('packages', () => {
  const reference = {
    id: 'Serilog',
    requestedVersion: '3.0.0',
    resolvedVersion: '3.0.1',
    latestVersion: '4.0.0',
  };
  const vulnerable = {
    ...reference,
    vulnerabilities: [{ severity: 'High', advisoryurl: 'https://x.example/1' }],
  };
  const listing = (one: object) =>
    JSON.stringify({
      version: 1,
      projects: [
        { path: '/shop/Shop.csproj', frameworks: [{ framework: 'net8.0', topLevelPackages: [one] }] },
      ],
    });

  it.each([
    ['dotnet', 'outdated', listing(reference), 'Serilog 3.0.1 -> 4.0.0 (Shop.csproj net8.0)'],
    ['dotnet', 'audit', listing(vulnerable), 'High Serilog 3.0.1 https://x.example/1'],
    [
      'conan',
      'search',
      '{"conancenter":{"fmt/11.0.0":{},"fmt/10.1.1#f4":{}}}',
      'fmt 11.0.0 (conancenter)\nfmt 10.1.1',
    ],
    [
      'conan',
      'graph',
      '{"graph":{"nodes":{"0":{"ref":"conanfile","recipe":"Consumer"},"1":{"ref":"zlib/1.3#x","context":"host"}}}}',
      'zlib 1.3 (host)',
    ],
    [
      'vcpkg',
      'list',
      '{"fmt:x64-linux":{"package_name":"fmt","triplet":"x64-linux","version":"11.0"}}',
      'fmt 11.0 (x64-linux)',
    ],
    [
      'swift',
      'list',
      '{"identity":"shop","version":"unspecified","dependencies":[{"identity":"nio","version":"2.1.0","dependencies":[]}]}',
      'nio 2.1.0',
    ],
    [
      'dart',
      'outdated',
      '{"packages":[{"package":"http","kind":"direct","current":{"version":"1.0.0"},"upgradable":{"version":"1.1.0"},"latest":{"version":"2.0.0"}}]}',
      'http 1.0.0 -> 1.1.0 2.0.0 (direct)',
    ],
    [
      'dart',
      'list',
      '{"root":"shop","packages":[{"name":"shop","version":"1.0.0","kind":"root"},{"name":"http","version":"1.0.0","kind":"direct"}]}',
      'http 1.0.0 (direct)',
    ],
    [
      'julia',
      'list',
      'Status `/shop/Project.toml`\n  [682c06a0] JSON v0.21.4\n⌃ [7073ff75] IJulia v1.2.0\n',
      'JSON 0.21.4\nIJulia 1.2.0',
    ],
    ['stack', 'list', 'base 4.18.0.0\ntext 2.0.2\n', 'text 2.0.2'],
    [
      'cabal',
      'outdated',
      'Outdated dependencies:\naeson ^>=1.5 (latest: 2.2.0.0)\n',
      'aeson ^>=1.5 -> 2.2.0.0',
    ],
    [
      'mix',
      'outdated',
      'Dependency  Current  Latest  Status\nabsinthe    1.7.5    1.7.5   Up-to-date\nappsignal   2.7.9    2.7.11  Update possible\n',
      '1 package\nappsignal 2.7.9 -> 2.7.11',
    ],
    [
      'mix',
      'list',
      '* jason 1.4.4 (Hex package) (mix)\n  locked at 1.4.4 (jason) c5eb\n  ok\n* plug (Hex package) (mix)\n  the dependency is not available, run "mix deps.get"\n',
      'jason 1.4.4 (Hex package)\nplug (Hex package) - the dependency is not',
    ],
  ])('%s %s', (id, action, stdout, expected) => {
    expect(told(id, action, { stdout, exitCode: 0 })).toContain(expected);
  });

  it('cargo says on standard error what update would do', () => {
    const stderr =
      '    Updating crates.io index\n     Locking 1 package to latest compatible version\n    Updating serde v1.0.1 -> v1.0.9 (available: v2.0.0)\n   Unchanged rand v0.8.5 (available: v0.9.1)\n';
    expect(told('cargo', 'outdated', { stderr })).toBe(
      '2 packages\nserde 1.0.1 -> 1.0.9 2.0.0\nrand 0.8.5 -> 0.9.1',
    );
  });
});

it('tells Go’s tests with places, parents left out, and packages that do not build', () => {
  const event = (Action: string, Test?: string, Output?: string) =>
    JSON.stringify({ Action, Package: 'example.com/shop/cart', Test, Output });
  const stdout = [
    event('output', 'TestAdd/two', '    cart_test.go:8: got 2\n'),
    ...[event('fail', 'TestAdd/two'), event('fail', 'TestAdd'), event('pass', 'TestOk'), event('fail')],
  ].join('\n');
  const after = { module: 'example.com/shop\t/home/ada/shop\n' };
  const stderr = '# example.com/shop/bad\nbad/bad.go:3:23: undefined: y\n';
  expect(told('go', 'test', { stdout, stderr, after, exitCode: 1 })).toBe(
    [
      '2 failed, 1 passed, 0 skipped',
      'example.com/shop/bad - # example.com/shop/bad',
      'bad/bad.go:3:23: undefined: y',
      '/home/ada/shop/cart/cart_test.go:8 TestAdd/two - cart_test.go:8: got 2',
    ].join('\n'),
  );
});
