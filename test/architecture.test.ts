import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

/** Who may import whom. A name that ends with ":" or "/" stands for all that begin with it. */
const mayImport: Record<string, readonly string[]> = {
  core: ['core', 'zod'],
  // Folders and private files of our own, shared by the chat and the rest; it knows no policy.
  'own-files': ['own-files', 'node:'],
  machine: [
    'machine',
    'own-files',
    'core',
    'zod',
    'node:',
    'execa',
    'which',
    'jsonc-parser',
    'pg',
    'pgpass',
    'mysql2',
    'yaml',
  ],
  // fast-xml-parser reads test reports.
  discoverers: ['discoverers', 'core', 'zod', 'fast-xml-parser'],
  filesystem: ['filesystem', 'core', 'machine', 'zod', 'node:', 'diff', 'iconv-lite', 'yaml'],
  server: [
    'server',
    'core',
    'machine',
    'own-files',
    'discoverers',
    'filesystem',
    'zod',
    'yaml',
    'node:',
    '@mdream/js',
    '@modelcontextprotocol/server/',
    'package.json',
  ],
  repl: [
    'repl',
    'own-files',
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
    'own-files',
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
  const startersBy = (starter: string) =>
    files.filter((file) => {
      const source = readFileSync(join('src', file), 'utf8').replaceAll(/^import type .*$/gm, '');
      const loads = [`from '${starter}'`, `import('${starter}')`, `getBuiltinModule('${starter}')`];
      return loads.some((load) => source.includes(load));
    });
  // It loads execa with the first program, and hands it to child.ts, which calls it.
  expect(startersBy('execa')).toEqual(['machine/processes/watched-programs.ts']);
  // repl/files/program.ts is the one place of the REPL, which imports nothing of ours: hooks, key commands, the
  // editor. process-tree.ts asks ps and taskkill, with fixed arguments, to end what child.ts has started, and
  // watchdog.ts starts the process that watches over that: their text runs in that process, which has Node alone.
  expect(startersBy('node:child_process').sort()).toEqual([
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

it('never asks for a shell', () => {
  const asking = files.filter((file) =>
    /shell:\s*true|\bexecSync\(|\bexec\(['"`]/.test(readFileSync(join('src', file), 'utf8')),
  );
  expect(asking).toEqual([]);
});
