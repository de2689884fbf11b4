import { describe, expect, it } from 'vitest';
import { argvOf, reportOf } from './real-program.ts';
import { programOf } from './programs.ts';

type Said = Parameters<typeof reportOf>[2];
const told = (id: string, action: string, output: Said) => reportOf(programOf(id), action, output).text;
const argv = (id: string, action: string, given: object) => argvOf(programOf(id), action, given).join(' ');

describe('a report of tests from a program that cannot be installed here', () => {
  it('is read as .NET writes it', () => {
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
});

describe('a reader of diagnostics', () => {
  it('reads both editions of golangci-lint, which differ in all but text', () => {
    const stdout =
      'cart.go:8:14: Error return value is not checked (errcheck)\n\tf()\n\t ^\n1 issues:\n* errcheck: 1\n';
    expect(told('golangci_lint', 'lint', { stdout, exitCode: 1 })).toBe(
      '1 diagnostic\ncart.go:8:14 error: Error return value is not checked [errcheck]',
    );
  });

  it('reads what MSBuild and Visual Studio print', () => {
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

  it('reads what Hadolint prints', () => {
    const found = [
      { file: 'Dockerfile', line: 3, column: 1, level: 'style', code: 'DL3008', message: 'Pin versions' },
    ];
    expect(told('hadolint', 'lint', { stdout: JSON.stringify(found), exitCode: 1 })).toContain(
      'Dockerfile:3:1 info: Pin versions [DL3008]',
    );
  });

  it('takes no line that begins with a time for a place', () => {
    const stderr = '2024-01-01 12:30:45: started\n[12:30:45] done\na.c:1:2: error: no y\n';
    expect(told('gcc', 'check', { stderr, exitCode: 1 })).toBe('1 diagnostic\na.c:1:2 error: no y');
  });
});

describe('a list of packages', () => {
  const reference = {
    id: 'Serilog',
    requestedVersion: '3.0.0',
    resolvedVersion: '3.0.1',
    latestVersion: '4.0.0',
  };
  const listing = (one: object) =>
    JSON.stringify({
      version: 1,
      projects: [
        { path: '/shop/Shop.csproj', frameworks: [{ framework: 'net8.0', topLevelPackages: [one] }] },
      ],
    });

  it.each([['dotnet', 'outdated', listing(reference), 'Serilog 3.0.1 -> 4.0.0 (Shop.csproj net8.0)']])(
    'is read as %s prints it for %s',
    (id, action, stdout, expected) => {
      expect(told(id, action, { stdout, exitCode: 0 })).toContain(expected);
    },
  );

  it('is read from standard error, where cargo says what update would do', () => {
    const stderr =
      '    Updating crates.io index\n     Locking 1 package to latest compatible version\n    Updating serde v1.0.1 -> v1.0.9 (available: v2.0.0)\n   Unchanged rand v0.8.5 (available: v0.9.1)\n';
    expect(told('cargo', 'outdated', { stderr })).toBe(
      '2 packages\nserde 1.0.1 -> 1.0.9 2.0.0\nrand 0.8.5 -> 0.9.1',
    );
  });
});

it('tells where Go before 1.24 cannot build the only package', () => {
  const stdout = 'FAIL\texample.com/shop [build failed]\n';
  const stderr = '# example.com/shop [example.com/shop.test]\n./count.go:14:6: n declared but not used\n';
  expect(told('go', 'test', { stdout, stderr, exitCode: 2 })).toBe(
    '1 failed, 0 passed, 0 skipped\ncount.go:14 example.com/shop - ./count.go:14:6: n declared but not used',
  );
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
      'bad/bad.go:3 example.com/shop/bad - bad/bad.go:3:23: undefined: y',
      '/home/ada/shop/cart/cart_test.go:8 TestAdd/two - cart_test.go:8: got 2',
    ].join('\n'),
  );
});
