import type { ProgramTrial } from './types.ts';

// What the registry does not answer here is an answer, too.
const noAudit = /advisor|405|PROGRAM_FAILED/;
const manifest = (more: object = {}) =>
  JSON.stringify({
    name: 'shop',
    version: '1.0.0',
    license: 'MIT',
    scripts: { args: 'node args.js', test: 'node args.js tested' },
    dependencies: { 'is-odd': '^2.0.0' },
    ...more,
  });
const args = 'console.log(JSON.stringify(process.argv.slice(2)))';
const words = { args: ['--x', '--', 'y z'] };
const told = /\["--x","--","y z"\]/;
const packages = (run = 'run'): ProgramTrial['calls'] => [
  ['scripts', {}, /^2 tasks\nargs = node args\.js/],
  ['install', {}, /./],
  ['install', { frozen: true }, /^(?!PROGRAM_FAILED)/],
  ['list', {}, /^[12] packages?\nis-odd 2\.0\.0/],
  ['add', { packages: ['semver@7.0.0'] }, /semver(?:@npm:| |@)7\.0\.0/],
  ['add', { packages: ['left-pad@1.2.0'], dev: true }, /left-pad(?:@npm:| |@)1\.2\.0/],
  ['why', { package: 'is-number' }, /is-odd/],
  ['why', { package: 'nope' }, /nope|not found|find a match/],
  ['update', { packages: ['is-odd'] }, /^(?!PROGRAM_FAILED)/],
  ['remove', { packages: ['semver'] }, /^(?!PROGRAM_FAILED|NOT_FOUND)/],
  ['list', {}, /is-odd 2\.0\.0\nleft-pad 1\.2\.0/],
  [run, { task: 'args', ...words }, told],
  [run, { task: 'nope' }, /script|not found/i],
];
const removed: ProgramTrial['calls'][number] = [
  'remove',
  { packages: ['semver'] },
  /^NOT_FOUND: packages: semver: not among/,
];
const looked: ProgramTrial['calls'] = [
  ['outdated', {}, /is-odd 2\.0\.0 -> 3/],
  ['audit', {}, noAudit],
  ['view', { package: 'is-odd@3.0.1' }, /^is-odd@3\.0\.1: .*\nlicense: MIT/],
  ['view', { package: 'no-such-package-at-all-1' }, /^PROGRAM_FAILED: [^]{1,600}$/],
];
const files = { 'package.json': manifest(), 'args.js': args };
const testing = (test: string) => ({ 'package.json': manifest({ scripts: { args: 'node args.js', test } }) });
const failing = "{ throw new Error('off by one'); }";
const shop = `describe('cart', () => { it('adds (1+1)', () => ${failing}); it('works', () => {}); });`;
const testCalls = (file: string): ProgramTrial['calls'] => [
  ['test', {}, /^1 failed, 1 passed, 0 skipped\n.*cart adds \(1\+1\) - (?:Error: )?off by one/],
  ['test', { only: ['cart works'], files: [file] }, /^0 failed, 1 passed/],
  ['test', { only: [file] }, /^ARG_INVALID: only.*files takes files/],
  ['test', { only: ['no such test'] }, /no tests? /],
  ['test', { files: ['nope.js'] }, /^PATH_NOT_FOUND: /],
];
const lintCalls = (message: RegExp): ProgramTrial['calls'] => [
  ['lint', { only: ['bad.js'] }, message],
  ['lint', { fix: true, only: ['bad.js'] }, /diagnostic/],
];
const bad = 'var unused = 1;\nexport function f(a) { debugger; if (a == 1) return 1 }\n';
const monorepo = {
  'package.json': JSON.stringify({
    name: 'mono',
    version: '1.0.0',
    private: true,
    packageManager: 'npm@11.0.0',
    workspaces: ['packages/*'],
  }),
  'package-lock.json': JSON.stringify({
    name: 'mono',
    lockfileVersion: 3,
    packages: {
      '': { name: 'mono', workspaces: ['packages/*'] },
      'node_modules/web': { resolved: 'packages/web', link: true },
      'packages/web': { version: '1.0.0' },
    },
  }),
  'packages/web/package.json': '{"name":"web","version":"1.0.0","scripts":{"build":"echo built"}}',
};

export default [
  {
    program: 'npm',
    from: {},
    files,
    calls: [
      ...packages(),
      ...looked,
      removed,
      ['exec', { program: 'not-installed-here' }, /Only what is installed is run/],
      ['test', words, /\["tested","--x"/],
    ],
  },
  {
    program: 'pnpm',
    from: { npm: 'pnpm@12' },
    files,
    calls: [
      ...packages(),
      ...looked,
      removed,
      ['exec', { program: 'node', args: ['-p', '6*7'] }, /42/],
      ['test', words, /"tested"/],
    ],
  },
  {
    program: 'yarn',
    from: { npm: '@yarnpkg/cli-dist@4' },
    files: { ...files, 'yarn.lock': '', '.yarnrc.yml': 'nodeLinker: node-modules\n' },
    calls: [
      ...packages(),
      ...looked.filter(([action]) => !['outdated', 'audit'].includes(action)),
      removed,
      ['exec', { program: 'node', args: ['-p', '6*7'] }, /42/],
      ['test', words, /"tested"/],
    ],
  },
  {
    program: 'yarn1',
    from: { npm: 'yarn@1' },
    files: { ...files, 'package.json': manifest({ packageManager: 'yarn@1.22.22' }) },
    calls: [...packages(), ['test', words, /"tested"/]],
  },
  {
    program: 'bun',
    check: ['test', /off by one/],
    from: { npm: 'bun@1 --allow-scripts=bun' },
    files: {
      ...files,
      ...testing('bun test'),
      'cart.test.ts': `import { describe, it } from 'bun:test';\n${shop}`,
    },
    calls: [
      ...packages(),
      ...looked,
      removed,
      ['exec', { program: 'node', args: ['-p', '6*7'] }, /42|no-install/],
      ...testCalls('cart.test.ts'),
    ],
  },
  {
    program: 'deno',
    check: ['test', /off by one/],
    from: { npm: 'deno@2 --allow-scripts=deno' },
    files: {
      ...files,
      ...testing('deno test'),
      'cart_test.ts': `Deno.test('adds', () => ${failing});\nDeno.test('works', () => {});\n`,
      'bad.ts': 'export const x: number = "a"; debugger;\n',
    },
    calls: [
      ...packages('task'),
      ['outdated', {}, /is-odd 2\.0\.0 -> 3/],
      ['run', { file: 'args.js', args: ['a b'], permitted: true }, /a b|not defined/],
      ['test', {}, /^1 failed, 1 passed, 0 skipped\nadds - .*off by one/],
      ['test', { only: ['works'], files: ['cart_test.ts'] }, /^0 failed, 1 passed/],
      ['check', { only: ['bad.ts'] }, /bad\.ts:1:14 error: Type 'string'/],
      ['fmt', { check: true, only: ['bad.ts'] }, /PROGRAM_FAILED[^]*not formatted/],
    ],
  },
  {
    program: 'node',
    check: ['test', /1 failed[^]*adds/],
    from: {},
    files: {
      ...testing('node --test'),
      'args.js': args,
      'test/cart.test.cjs': `const { describe, it } = require('node:test');\n${shop}`,
    },
    calls: [
      ['run', { file: 'args.js', ...words }, told],
      ['eval', { code: '6 * 7', print: true }, /42/],
      ['test', {}, /^1 failed, 1 passed[^]*adds \(1\+1\) - off by one/],
      ['check', { file: 'args.js' }, /said nothing/],
    ],
  },
  {
    program: 'vitest',
    check: ['test', /1 failed[^]*adds/],
    from: { npm: 'vitest@4' },
    files: { 'vitest.config.mjs': 'export default { test: { globals: true } }', 'cart.test.js': shop },
    calls: testCalls('cart.test.js'),
  },
  {
    program: 'jest',
    check: ['test', /1 failed[^]*adds/],
    from: { npm: 'jest@30' },
    files: { 'jest.config.cjs': 'module.exports = {}', 'cart.test.js': shop },
    calls: testCalls('cart.test.js'),
  },
  {
    program: 'mocha',
    check: ['test', /1 failed[^]*adds/],
    from: { npm: 'mocha@11' },
    files: { '.mocharc.json': '{}', 'test/cart.cjs': shop },
    calls: testCalls('test/cart.cjs'),
  },
  {
    program: 'playwright',
    check: ['test', /1 failed[^]*adds/],
    from: { npm: '@playwright/test@1' },
    files: {
      'playwright.config.mjs': 'export default {}',
      'cart.spec.mjs': `import { test } from '@playwright/test';\n${shop.replace('describe', 'test.describe').replaceAll('it(', 'test(')}`,
    },
    calls: [...testCalls('cart.spec.mjs'), ['install', { browser: 'webkit' }, /./]],
  },
  {
    program: 'eslint',
    check: ['lint', /no-debugger/],
    from: { npm: 'eslint@9' },
    files: { 'eslint.config.mjs': "export default [{ rules: { 'no-debugger': 'error' } }];", 'bad.js': bad },
    calls: lintCalls(/bad\.js:2:24 error: .*debugger.*\[no-debugger\]/),
  },
  {
    program: 'oxlint',
    check: ['lint', /debugger/],
    from: { npm: 'oxlint@1' },
    files: { '.oxlintrc.json': '{}', 'bad.js': bad },
    calls: lintCalls(/bad\.js:2:24 warning: .*debugger/),
  },
  {
    program: 'biome',
    check: ['lint', /debugger/],
    from: { npm: '@biomejs/biome@2' },
    files: { 'biome.json': '{}', 'bad.js': bad },
    calls: [
      ['lint', { only: ['bad.js'] }, /bad\.js:2:24 error: .*debugger/],
      ['fix', {}, /diagnostic/],
      ['format', { only: ['bad.js'] }, /Formatted 1 file|No fixes/],
    ],
  },
  {
    program: 'prettier',
    check: ['format', /bad\.js/],
    from: { npm: 'prettier@3' },
    files: { '.prettierrc': '{}', 'bad.js': bad },
    calls: [
      ['format', { check: true, only: ['bad.js'] }, /^bad\.js/],
      ['format', { only: ['bad.js'] }, /^bad\.js/],
    ],
  },
  {
    program: 'tsc',
    check: ['types', /TS2322/],
    from: { npm: 'typescript@5' },
    files: {
      'tsconfig.json': '{"files":[],"references":[{"path":"./a"}]}',
      'a/tsconfig.json': '{"compilerOptions":{"composite":true,"types":[]}}',
      'a/i.ts': 'export const z: number = "a";',
    },
    calls: [
      ['types', {}, /^1 diagnostic\na\/i\.ts:1:14 error: Type 'string'.*\[TS2322\]/],
      ['build', { project: 'a/tsconfig.json' }, /^1 diagnostic/],
    ],
  },
  {
    program: 'vite',
    from: { npm: 'vite@7' },
    files: {
      'vite.config.mjs': 'export default {}',
      'index.html': '<script type="module" src="/main.js"></script>',
      'main.js': 'console.log(1)',
    },
    calls: [
      ['build', {}, /^no diagnostics/],
      ['dev', { port: 45173 }, /./],
    ],
  },
  {
    program: 'turbo',
    from: { npm: 'turbo@2' },
    files: { ...monorepo, 'turbo.json': '{"tasks":{"build":{"dependsOn":["^build"]}}}' },
    calls: [
      ['tasks', {}, /^1 task\nbuild \(after \^build\)/],
      ['run', { task: 'build' }, /1 successful, 1 total/],
    ],
  },
] satisfies readonly ProgramTrial[];
