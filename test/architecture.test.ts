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
    'execa',
    'which',
    'simple-git',
    'jsonc-parser',
    'pg',
    'pgpass',
    'mysql2',
    'yaml',
    'package.json',
  ],
  tools: [
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
  library: ['library', 'cli', 'repl', 'server', 'machine', 'node:', '@modelcontextprotocol/client'],
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

/** The files of src/ that a file imports: values, types, and what it loads later. */
const importedFiles = (file: string): string[] =>
  importsOf(file)
    .filter((specifier) => specifier.startsWith('.') && specifier.endsWith('.ts'))
    .map((specifier) => relative('src', join('src', dirname(file), specifier)).replaceAll('\\', '/'));

/** Groups that import each other in a circle: Tarjan's strongly connected components. */
function circlesIn(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  function visit(node: string): void {
    const at = order.size;
    order.set(node, at);
    low.set(node, at);
    stack.push(node);
    for (const next of imports.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!));
    }
    if (low.get(node) !== at) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) circles.push(group.sort());
  }
  for (const node of imports.keys()) if (!order.has(node)) visit(node);
  return circles;
}

/** The imports between the parts of src/ that files belong to. */
function importsBetween(partOf: (file: string) => string): Map<string, string[]> {
  const imports = new Map<string, string[]>();
  for (const file of files) {
    const part = partOf(file);
    const others = importedFiles(file)
      .map(partOf)
      .filter((other) => other !== part);
    imports.set(part, [...(imports.get(part) ?? []), ...others]);
  }
  return imports;
}

it('has no circle of files, types and what is loaded later included', () => {
  expect(circlesIn(importsBetween((file) => file))).toEqual([]);
});

it('has no circle of folders inside a room', () => {
  // src/server/wire/http/mcp.ts is a part of src/server/wire.
  const folderOf = (file: string) => file.split('/').slice(0, 2).join('/');
  // The chat is one room: its folders are its parts, and import each other.
  const circles = circlesIn(importsBetween(folderOf)).filter(([first = '']) => !first.startsWith('repl'));
  expect(circles).toEqual([]);
});

it('would see a circle', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['a']],
  ]);
  expect(circlesIn(imports)).toEqual([['a', 'b', 'c']]);
});

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

// An expression, or a script of another program, that is one line.
const unbreakable = /String\.raw|^ +\/\^|powershell\(/;

it.each(files)('%s has no line over 110 characters', (file) => {
  const lines = readFileSync(join('src', file), 'utf8').split('\n');
  const long = lines.flatMap((line, at) => (line.length > 110 && !unbreakable.test(line) ? [at + 1] : []));
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
  // simple-git starts git by itself. Its one user has that done within a run, which watches and ends it.
  expect(startersBy('simple-git')).toEqual(['machine/history/ask-git.ts']);
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

/** Words that begin a riddle where the name of a thing, or a verb, should stand. */
const riddle = /\/\*\*\s*(?:\*\s*)?((?:What|Whether|Where|How|As|Who|Why|When)\b.*)/g;

it.each(files)('%s begins its doc comments with the thing or a verb', (file) => {
  const source = readFileSync(join('src', file), 'utf8');
  expect([...source.matchAll(riddle)].map(([, line]) => line)).toEqual([]);
});

it('would see a doc comment that begins with a riddle', () => {
  expect('/** What a call brought. */'.match(riddle)).not.toBe(null);
  expect('/**\n * Whether it is so.\n */'.match(riddle)).not.toBe(null);
});
