import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callAction, saidBy } from '../support/call-action.ts';
import { programOf } from './programs.ts';
import { hasProgram } from './real-program.ts';

const source = `#include <stdlib.h>
int main(int c, char **v) {
  char *p = malloc(10);
  int lost = p[10];
  if (c > 1) *(volatile char *)0 = 1;
  return lost == 99;
}
`;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolcrib-native-'));
  writeFileSync(join(folder, 'main.c'), source);
  if (hasProgram('cc', '--version')) execFileSync('cc', ['-g', '-o', 'app', 'main.c'], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const call = async (id: string, action: string, given: object, env = {}) =>
  saidBy(await callAction(programOf(id), action, { ...given }, { folder, trusted: true, env }));
const has = (...programs: string[]) => ['cc', ...programs].every((one) => hasProgram(one, '--version'));

describe.each(['gdb', 'lldb'])('%s', (id) => {
  it.skipIf(!has(id))('shows where a program crashes, stops, and how it ends', async () => {
    const crashed = await call(id, 'run', { binary: 'app', args: ['x'] });
    expect(crashed).toMatch(/SIGSEGV/);
    expect(crashed).toMatch(/main.* at .*main\.c:5/);
    expect(await call(id, 'run', { binary: 'app', stop: 'main.c:4' })).toMatch(/ p = 0x/);
    expect(await call(id, 'run', { binary: 'app' })).toMatch(/exited/);
  });

  it.skipIf(!has(id))('shows the stacks of a process', async () => {
    expect(await call(id, 'stacks', { pid: process.pid })).toMatch(/uv_run|epoll/);
  });
});

it.skipIf(!has('gdb'))('gdb and lldb read a core dump', async () => {
  const make = ['-batch', '-nx', '-ex', 'run', '-ex', 'generate-core-file core', '--args', './app', 'x'];
  execFileSync('gdb', make, { cwd: folder, stdio: 'ignore' });
  for (const id of ['gdb', 'lldb'].filter((one) => has(one) && existsSync(join(folder, 'core'))))
    expect(await call(id, 'core', { binary: 'app', core: 'core' })).toMatch(/main.* at .*main\.c:5/);
});

it.skipIf(!has('cabal', 'ghc'))('Cabal builds, runs and tests', async () => {
  const cabal = `cabal-version: 2.4
name: shop
version: 0.1.0.0
executable shop
  main-is: Main.hs
  build-depends: base
  default-language: Haskell2010
test-suite t
  type: exitcode-stdio-1.0
  main-is: T.hs
  build-depends: base
  default-language: Haskell2010
`;
  const own = join(folder, 'cabal');
  mkdirSync(own);
  // Without a server that has packages: base is there.
  writeFileSync(join(own, 'config'), `remote-repo-cache: ${own}/packages\n`);
  const env = { CABAL_DIR: own, CABAL_CONFIG: join(own, 'config') };
  writeFileSync(join(folder, 'shop.cabal'), cabal);
  writeFileSync(join(folder, 'Main.hs'), 'module Main where\nmain :: IO ()\nmain = putStrLn hi\n');
  writeFileSync(join(folder, 'T.hs'), 'import System.Exit\nmain = putStrLn "wrong: 3" >> exitFailure\n');
  expect(await call('cabal', 'build', {}, env)).toMatch(
    /^1 diagnostic\nMain\.hs:3:17 error: .*not in scope: hi/,
  );
  writeFileSync(join(folder, 'Main.hs'), 'module Main where\nmain :: IO ()\nmain = putStrLn "hi"\n');
  expect(await call('cabal', 'build', {}, env)).toContain('no diagnostics');
  expect(await call('cabal', 'run', { program: 'shop', args: ['--fast'] }, env)).toContain('hi');
  expect(await call('cabal', 'test', {}, env)).toMatch(/^1 failed, 0 passed, 0 skipped\nt - .*wrong: 3/s);
  expect(await call('cabal', 'clean', {}, env)).not.toContain('PROGRAM_FAILED');
});

it.skipIf(!has('valgrind'))('Valgrind says what is read wrongly and lost', async () => {
  const said = await call('valgrind', 'check', { binary: 'app' });
  expect(said).toMatch(
    /2 diagnostics\n.*main\.c:4 error: Invalid read of size 1; .*\n.*main\.c:3 warning: 10 bytes/,
  );
  expect(await call('valgrind', 'check', { binary: 'app', tool: 'threads' })).toContain('no diagnostics');
});

it.skipIf(!has('objdump', 'nm'))('objdump and nm say what is in a binary', async () => {
  expect(await call('objdump', 'headers', { file: 'app' })).toMatch(/NEEDED +libc/);
  expect(await call('objdump', 'sections', { file: 'app' })).toContain('.text');
  expect(await call('objdump', 'disassemble', { file: 'app', of: 'main' })).toMatch(/call.*malloc/);
  expect(await call('nm', 'symbols', { file: 'app', which: 'defined' })).toMatch(/\nmain T \d+ bytes$/m);
  expect(await call('nm', 'symbols', { file: 'app', which: 'needed' })).toMatch(/\nmalloc@?.* U$/m);
});

it.skipIf(!has('pkg-config'))('pkg-config says how a library is used', async () => {
  expect(await call('pkg_config', 'list', {})).toMatch(/\d+ librar/);
  expect(await call('pkg_config', 'flags', { packages: ['none-such'] })).toContain('PROGRAM_FAILED');
});
