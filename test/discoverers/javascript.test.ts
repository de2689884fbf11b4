import { expect, it } from 'vitest';
import { folderWith } from '../support/files-in.ts';
import { inspected } from '../support/inspected.ts';
import { programOf } from './programs.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

const ran = (id: string, file = 'report.json') =>
  reportOf(programOf(id), 'test', { files: { report: recorded(`${id}/${file}`) }, exitCode: 1 }).text;

it('reads the reports of test runners: full names, places, and files that failed before their tests', () => {
  expect(ran('vitest')).toMatchInlineSnapshot(`
    "2 failed, 1 passed, 1 skipped
    /home/dev/shop/vt/cart.test.js:2:61 cart adds (1+1) - AssertionError: expected 1 to be 2 // Object.is equality
    /home/dev/shop/vt/load.test.js /home/dev/shop/vt/load.test.js - Cannot find module './nope.js' imported from /home/dev/shop/vt/load.test.js"
  `);
  expect(ran('jest')).toMatchInlineSnapshot(`
    "2 failed, 1 passed, 1 skipped
    /home/dev/shop/jt/cart.test.cjs:1:61 cart adds (1+1) - Error: expect(received).toBe(expected) // Object.is equality

    Expected: 2
    Received: 1
    /home/dev/shop/jt/load.test.cjs /home/dev/shop/jt/load.test.cjs - ● Test suite failed to run

        Cannot find module './nope.js' from 'load.test.cjs'

        > 1 | require('./nope.js'); it('x', () => {});
            | ^
          2 |

          at Resolver._throwModNotFoundError (../node_modules/jest-resolve/build/index.js:1031:11)
          at Object.<anonymous> (load.test.cjs:1:1)"
  `);
  expect(ran('mocha', 'report.xml')).toMatchInlineSnapshot(`
    "1 failed, 1 passed, 1 skipped
    mt/cart.cjs:1 cart adds (1+1) - 1 == 2"
  `);
  const stdout = recorded('playwright/report.json');
  expect(reportOf(programOf('playwright'), 'test', { stdout, exitCode: 1 }).text).toMatchInlineSnapshot(`
    "1 failed, 1 passed, 1 skipped
    /home/dev/shop/pt/cart.spec.js:2:68 cart adds (1+1) - Error: expect(received).toBe(expected) // Object.is equality

    Expected: 2
    Received: 1"
  `);
  const errors = JSON.stringify({ suites: [], errors: [{ message: 'Error: No tests found' }] });
  expect(reportOf(programOf('playwright'), 'test', { stdout: errors, exitCode: 1 }).text).toContain(
    'No tests found',
  );
});

it('chooses tests by the names that were reported', () => {
  const only = ['cart adds (1+1)', 'top'];
  const pattern = String.raw`(?:cart adds \(1\+1\)|top)`;
  expect(argvOf(programOf('vitest'), 'test', { only })).toContain(`--testNamePattern=^${pattern}$`);
  expect(argvOf(programOf('mocha'), 'test', { only })).toContain(`--grep=^${pattern}$`);
  expect(argvOf(programOf('deno'), 'test', { only })).toContain(`--filter=/^${pattern}$/`);
  expect(argvOf(programOf('playwright'), 'test', { only })).toContain(`--grep= ${pattern}(?: |$)`);
});

it('reads what linters find', () => {
  const found = (id: string, file: string) =>
    reportOf(programOf(id), 'lint', { stdout: recorded(`${id}/${file}`), exitCode: 1 }).text;
  expect(found('eslint', 'lint.json')).toMatchInlineSnapshot(`
    "5 diagnostics
    /home/dev/shop/src/bad.js:1:5 error: 'unused' is assigned a value but never used. [no-unused-vars]
    /home/dev/shop/src/bad.js:2:30 warning: Expected '===' and instead saw '=='. [eqeqeq]
    /home/dev/shop/src/bad.js:2:38 error: Unexpected 'debugger' statement. [no-debugger]
    /home/dev/shop/src/bad.js:2:57 error: 'undefinedName' is not defined. [no-undef]
    /home/dev/shop/src/broken.js:1:14 error: Parsing error: Unexpected token ="
  `);
  expect(found('oxlint', 'lint.json')).toMatchInlineSnapshot(`
    "4 diagnostics
    src/broken.js:1:14 error: Unexpected token
    src/bad.ts:2:7 warning: Variable 'y' is declared but never used. Unused variables should start with a '_'. [eslint(no-unused-vars)]
    src/bad.js:1:5 warning: Variable 'unused' is declared but never used. Unused variables should start with a '_'. [eslint(no-unused-vars)]
    src/bad.js:2:38 warning: \`debugger\` statement is not allowed [eslint(no-debugger)]"
  `);
  expect(found('biome', 'check.txt')).toMatchInlineSnapshot(`
    "10 diagnostics
    /home/dev/shop/src/bad.js:1:5 warning: This variable unused is unused. [lint/correctness/noUnusedVariables]
    /home/dev/shop/src/bad.ts:2:1 warning: This let declares a variable that is only assigned once. [lint/style/useConst]
    /home/dev/shop/src/bad.ts:2:7 warning: This variable y is unused. [lint/correctness/noUnusedVariables]
    /home/dev/shop/src/bad.js:2:30 error: Using == may be unsafe if you are relying on type coercion. [lint/suspicious/noDoubleEquals]
    /home/dev/shop/src/bad.js:2:38 error: This is an unexpected use of the debugger statement. [lint/suspicious/noDebugger]
    /home/dev/shop/src/bad.js:1:2 error: Formatter would have printed the following content: [format]
    /home/dev/shop/src/bad.ts:1:2 error: Formatter would have printed the following content: [format]
    /home/dev/shop/src/broken.js:1:14 error: Expected an identifier, an array pattern, or an object pattern but instead found '= 1'. [parse]
    /home/dev/shop/src/broken.js:1:17 error: expected \`,\` but instead found \`;\` [parse]
    /home/dev/shop/src/broken.js:1:14 error: Expected an identifier, an array pattern, or an object pattern but instead found '= 1'. [parse]"
  `);
});

it('formats with Prettier, or only says what is not formatted', () => {
  const prettier = programOf('prettier');
  expect(argvOf(prettier, 'format', { only: ['src'] })).toEqual(['--list-different', '--write', 'src']);
  expect(argvOf(prettier, 'format', { check: true })).toEqual(['--list-different', '.']);
});

it('lets tsc look at the projects that a tsconfig only names', async () => {
  const tsc = programOf('tsc');
  const folder = folderWith({ 'tsconfig.json': '{ "files": [], "references": [{ "path": "./a" }] }' });
  expect(await inspected(tsc, 'types', { folder })).toEqual({ argv: ['--build', folder] });
  expect(await inspected(tsc, 'types', { folder: folderWith({ 'tsconfig.json': '{}' }) })).toEqual({});
  await expect(inspected(tsc, 'types', { folder: folderWith({}) })).rejects.toThrow(
    'there is no tsconfig.json',
  );
});

it('lists the versions of Node.js', () => {
  const listed = (id: string, stdout: string) => reportOf(programOf(id), 'list', { stdout }).text;
  expect(listed('nvm', '        v18.1.0 *\n->     v20.20.2 *\n         system * (-> v20.20.2)\n')).toBe(
    '3 versions\nv18.1.0\nv20.20.2\nsystem -> v20.20.2',
  );
  expect(listed('nvm_windows', '\n    22.1.0\n  * 20.11.1 (Currently using 64-bit executable)\n')).toBe(
    '2 versions\n22.1.0\n* 20.11.1',
  );
});

it('reads tasks of a turbo.json', () => {
  const turbo = '{\n  // Tasks\n  "tasks": { "build": { "dependsOn": ["^build"] }, "lint": {} }\n}';
  expect(reportOf(programOf('turbo'), 'tasks', { stdout: turbo }).text).toBe(
    '2 tasks\nbuild (after ^build)\nlint',
  );
});
