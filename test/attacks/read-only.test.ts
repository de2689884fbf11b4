import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import type { AnyDiscoverer } from '../../src/core/discoverer.ts';
import { discoverers } from '../../src/discoverers/index.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { inherited, serveArguments } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

/** Arguments that make sense in the project below, where an action's own example does not. */
const meaningful: Record<string, Record<string, unknown>> = {
  git_blame: { path: 'src/a.txt' },
  git_file: { file: 'src/a.txt' },
  git_grep: { pattern: 'one' },
  git_log: { body: true },
  git_show: {},
  glob: { pattern: '**/*.txt' },
  grep: { pattern: 'one', context: 2 },
  list_directory: { depth: 3, hidden: true },
  list_programs: {},
  node_check: { file: 'good.js' },
  npm_list: {},
  list_changes: {},
  list_checkpoints: {},
  read_file: { path: 'src/a.txt' },
  read_files: { paths: ['src/a.txt', 'good.js'] },
  sqlite3_query: { database: 'data.db', sql: 'select * from t' },
  sqlite3_schema: { database: 'data.db' },
  sqlite3_tables: { database: 'data.db' },
};

/** What a program may start of its own: parts of itself. */
const parts: Record<string, RegExp> = {
  git: /^(?:git|git-remote-https?)$/,
  npm: /^(?:node|npm|npm-cli\.js)$/,
};

function project(): string {
  const { folder, git, write } = temporaryRepository();
  write(
    'package.json',
    JSON.stringify({ name: 'p', version: '1.0.0', scripts: { test: 'touch ran', prepare: 'touch ran' } }),
  );
  write('.npmrc', 'script-shell=./evil.sh\ngit=./evil.sh\n');
  write('Makefile', 'X := $(shell touch ran)\nall:\n\ttouch ran\n');
  write('CMakePresets.json', '{"version": 3, "configurePresets": []}');
  write('good.js', 'console.log(1)\n');
  write('evil.sh', '#!/bin/sh\ntouch ran\n');
  const made = spawnSync('sqlite3', [
    join(folder, 'data.db'),
    "create table t(a); insert into t values('one');",
  ]);
  if (made.error) write('data.db', '');
  git('add', '.');
  git('commit', '--quiet', '--message=Second');
  write('src/a.txt', 'changed\n');
  git('stash', '--quiet');
  write('src/b.txt', 'untracked\n');
  return folder;
}

/** Every file below a folder with a digest of its content. */
function contentOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (path: string) => {
    const facts = lstatSync(path);
    if (facts.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
    else if (facts.isSymbolicLink()) found[path] = readlinkSync(path);
    else found[path] = createHash('sha1').update(readFileSync(path)).digest('hex');
  };
  visit(folder);
  return found;
}

const canTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

it.skipIf(!canTrace)(
  'ATTACK 107: what is called read-only writes nothing, and starts nothing but its own program (needs strace)',
  async () => {
    const folder = project();
    const home = temporaryFolder();
    const trace = join(temporaryFolder(), 'trace');
    // No login shell: what it starts is the user's own.
    const env = {
      ...inherited(),
      SHELL: '/nowhere',
      HOME: home,
      XDG_CACHE_HOME: join(home, 'cache'),
      npm_config_cache: join(home, 'npm'),
    };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: 'strace',
        args: [
          '-f',
          '-qq',
          '-s',
          '300',
          '-e',
          'trace=execve,openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,truncate,link,linkat,symlink,symlinkat',
          '-o',
          trace,
          process.execPath,
          ...serveArguments({ roots: [folder] }),
        ],
        env,
        stderr: 'pipe',
      }),
    );
    const examples = await examplesByTool();
    const before = contentOf(folder);
    const called: string[] = [];
    try {
      for (const tool of (await client.listTools()).tools) {
        // Those that ask another machine find none here, and fail; what they would write is looked at all the same.
        if (!tool.annotations?.readOnlyHint) continue;
        const given = meaningful[tool.name] ?? examples.get(tool.name) ?? {};
        const result = await client.callTool({ name: tool.name, arguments: given });
        expect(textOf(result), tool.name).not.toMatch(/^ARG_/);
        if (!tool.annotations.openWorldHint && meaningful[tool.name])
          expect(result.isError, `${tool.name}: ${textOf(result)}`).toBeFalsy();
        called.push(tool.name);
      }
    } finally {
      await client.close();
    }
    expect(called.length).toBeGreaterThan(20);
    expect(contentOf(folder)).toEqual(before);

    const lines = readFileSync(trace, 'utf8').split('\n');
    const programs = new Set(
      // A start that strace shows in two parts counts as one; one that failed does not.
      lines
        .flatMap((line) => (/ = -1 /.test(line) ? [] : (/execve\("([^"]+)"/.exec(line)?.[1] ?? [])))
        .map((path) => basename(path)),
    );
    const known = await knownPrograms();
    const strange = [...programs].filter(
      (name) => !known.has(name) && !Object.values(parts).some((part) => part.test(name)),
    );
    expect(strange).toEqual([]);

    const writing = lines.filter((line) =>
      /O_WRONLY|O_RDWR|O_CREAT|^\d+\s+(?:rename|unlink|mkdir|creat|truncate|link|symlink)/.test(line),
    );
    const allowed = [
      home,
      '/dev/null',
      '/dev/tty',
      join(realpathSync(tmpdir()), 'toolcrib-'),
      '/proc/self',
      '/sys/fs/cgroup',
    ];
    const elsewhere = writing.filter((line) => {
      const path = /"([^"]+)"/.exec(line)?.[1] ?? '';
      if (path.startsWith(folder)) return true;
      return !/ = -1 /.test(line) && !allowed.some((prefix) => path.startsWith(prefix));
    });
    expect(elsewhere.filter((line) => !/ = -1 /.test(line))).toEqual([]);
  },
  // Everything under strace, on a machine that may have other things to do.
  120_000,
);

async function examplesByTool(): Promise<Map<string, Record<string, unknown>>> {
  const all = await Promise.all(
    Object.values(discoverers).map((load): Promise<AnyDiscoverer> => load() as Promise<AnyDiscoverer>),
  );
  return new Map(
    all.flatMap(({ id, actions }) =>
      Object.entries(actions).map(([name, { example }]): [string, Record<string, unknown>] => [
        `${id}_${name}`,
        (example.given ?? {}) as Record<string, unknown>,
      ]),
    ),
  );
}

/** Our own program, what finds programs' versions, and the programs themselves. */
async function knownPrograms(): Promise<Set<string>> {
  const all = await Promise.all(
    Object.values(discoverers).map((load): Promise<AnyDiscoverer> => load() as Promise<AnyDiscoverer>),
  );
  return new Set(['node', 'rg', 'env', ...all.flatMap(({ programs }) => programs)]);
}
