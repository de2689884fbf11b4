import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

/** Who may import whom. A name that ends with ":" or "/" stands for all that begin with it. */
const mayImport: Record<string, readonly string[]> = {
  core: ['core', 'zod'],
  // Folders and private files of our own, shared by the chat and the rest; it knows no policy.
  store: ['store', 'node:'],
  // fast-xml-parser reads test reports.
  discoverers: ['discoverers', 'core', 'zod', 'fast-xml-parser'],
  machine: [
    'machine',
    'store',
    'core',
    'zod',
    'node:',
    'which',
    'jsonc-parser',
    'pg',
    'pgpass',
    'mysql2',
    'yaml',
  ],
  tools: [
    'server',
    'tools',
    'core',
    'machine',
    'store',
    'discoverers',
    'zod',
    'node:',
    'diff',
    'iconv-lite',
    'yaml',
    '@mdream/js',
  ],
  server: [
    'server',
    'tools',
    'core',
    'machine',
    'store',
    'discoverers',
    'zod',
    'yaml',
    'node:',
    '@modelcontextprotocol/server/',
    'package.json',
  ],
  repl: [
    'repl',
    'store',
    'core',
    'node:',
    'zod/mini',
    '@modelcontextprotocol/client/',
    'openai',
    'openai/',
    '@anthropic-ai/sdk',
    '@anthropic-ai/sdk/',
    'yaml',
  ],
  cli: [
    'cli',
    'server',
    'repl',
    'machine',
    'store',
    'core',
    'node:',
    '@modelcontextprotocol/client/',
    'diff',
    'jsonc-parser',
    'smol-toml',
    'yaml',
  ],
  library: ['library', 'cli', 'repl', 'server', 'node:', '@modelcontextprotocol/client'],
};

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'));

function importsOf(file: string): string[] {
  const source = readFileSync(join('src', file), 'utf8');
  const found = [
    ...source.matchAll(/^(?:import|export)\s[^;]*?from '([^']+)'/gm),
    ...source.matchAll(/^import '([^']+)'/gm),
    ...source.matchAll(/\bimport\('([^']+)'\)/g),
  ];
  return found.map(([, name]) => name ?? '');
}

function targetOf(file: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const path = relative('src', join('src', dirname(file), specifier));
  return path.startsWith('..') ? path.replace(/^(\.\.[\\/])+/, '') : (path.split(/[\\/]/)[0] ?? '');
}

it.each(files)('%s imports only what its folder may', (file) => {
  const allowed = mayImport[file.split('/')[0] ?? ''] ?? [];
  const wrong = importsOf(file).filter((specifier) => {
    const target = targetOf(file, specifier);
    return !allowed.some(
      (name) => target === name.replace(/\/$/, '') || (/[:/]$/.test(name) && target.startsWith(name)),
    );
  });
  expect(wrong).toEqual([]);
});

it.each(files)('%s holds one subject, in at most 300 lines', (file) => {
  expect(readFileSync(join('src', file), 'utf8').split('\n').length).toBeLessThanOrEqual(301);
});

it.each(files)('%s has no line over 120 characters', (file) => {
  const lines = readFileSync(join('src', file), 'utf8').split('\n');
  const long = lines.flatMap((line, at) => (line.length > 120 ? [at + 1] : []));
  expect(long).toEqual([]);
});

it('starts programs in one place', () => {
  const starters = files.filter(
    (file) =>
      importsOf(file).some((name) => name === 'node:child_process') ||
      readFileSync(join('src', file), 'utf8').includes("getBuiltinModule('node:child_process')"),
  );
  // repl/files/program.ts is the one place of the REPL, which imports nothing of ours: hooks, key commands, the editor.
  // process-tree.ts asks ps and taskkill, with fixed arguments, to end what child.ts has started; watchdog.ts starts what
  // watches over that.
  expect(starters.sort()).toEqual([
    'machine/processes/child.ts',
    'machine/processes/process-tree.ts',
    'machine/processes/watchdog.ts',
    'repl/files/program.ts',
  ]);
});

it('speaks to databases in one folder', () => {
  const drivers = new Set(['pg', 'pgpass', 'mysql2']);
  const users = files.filter((file) => importsOf(file).some((name) => drivers.has(name)));
  expect(users.filter((file) => !file.startsWith('machine/databases/'))).toEqual([]);
});

it.each(files.filter((file) => file.startsWith('discoverers/')))(
  '%s imports of core the grammar alone, in one line',
  (file) => {
    const ofCore = importsOf(file).filter((name) => targetOf(file, name) === 'core');
    expect(ofCore.filter((name) => !name.endsWith('/core/grammar.ts'))).toEqual([]);
    expect(ofCore.length).toBeLessThanOrEqual(1);
  },
);

it.each(files.filter((file) => file.startsWith('machine/databases/')))('%s knows no tools', (file) => {
  expect(importsOf(file).filter((name) => name.includes('/actions/'))).toEqual([]);
});

it('never asks for a shell', () => {
  const asking = files.filter((file) =>
    /shell:\s*true|\bexecSync\(|\bexec\(['"`]/.test(readFileSync(join('src', file), 'utf8')),
  );
  expect(asking).toEqual([]);
});
