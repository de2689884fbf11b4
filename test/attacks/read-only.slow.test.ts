import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCatalogue } from '../../src/server/registry/build-catalogue.ts';
import { allActions, allPrograms } from '../discoverers/programs.ts';
import { contentOf } from '../guarantees/world.ts';
import { hasMariadb, startMariadb } from '../discoverers/mariadb-server.ts';
import { serverFolder, startServer } from '../discoverers/postgres-server.ts';
import { serveArguments, program } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { underWatch, watchTrace, type Seen } from './monitor.ts';
import { createScene, type Scene } from './scene.ts';

/** Arguments that make sense in the project below; what is not here is called with its own example. */
const meaningful: Record<string, Record<string, unknown>> = {
  ...Object.fromEntries(
    'compose_logs compose_ps docker_images docker_ps git_diff git_reflog git_show list_programs npm_list'
      .split(' ')
      .map((name) => [name, {}]),
  ),
  docker_logs: { container: 'web' },
  docker_inspect: { container: 'web' },
  fetch_url: { url: 'http://localhost:PORT/', find: 'needle' },
  find_actions: { query: 'who changed this line' },
  run_read_action: { action: 'git_blame', arguments: { path: 'src/a.txt' } },
  git_blame: { path: 'src/a.txt' },
  git_grep: { pattern: 'one' },
  git_log: { body: true },
  grep: { pattern: 'one', context: 2 },
  list_files: { depth: 3, hidden: true },
  mysql_databases: { profile: 'maria' },
  mysql_describe: { profile: 'maria', table: 'orders' },
  mysql_query: { profile: 'maria', sql: 'SELECT * FROM orders' },
  mysql_tables: { profile: 'maria' },
  node_check: { file: 'good.js' },
  psql_databases: { profile: 'postgres' },
  psql_describe: { profile: 'postgres', table: 'orders' },
  psql_query: { profile: 'postgres', sql: 'SELECT * FROM orders' },
  psql_tables: { profile: 'postgres' },
  read_file: { paths: ['src/a.txt', 'good.js'] },
  read_output: { id: 'JOB', pattern: 'ready', wait_for: 'ready' },
  query: { database: 'data.db', sql: 'select * from t' },
  sqlite3_query: { database: 'data.db', sql: 'select * from t' },
  sqlite3_tables: { database: 'data.db' },
};

/** The parts of itself that a program may start. */
const parts: Record<string, readonly string[]> = {
  // Some of its commands are scripts of its own.
  git: [
    ...['git', 'git-remote-https', 'git-remote-http', 'git-bisect', 'basename', 'sed', 'gettext'],
    ...['envsubst', 'uname'],
  ],
  npm: ['node', 'npm', 'npm-cli.js', 'env'],
  files: ['rg'],
  system: ['df', 'free', 'journalctl', 'ps', 'ss', 'systemctl', 'uname', 'uptime', 'id'],
  go: ['doc', 'list', 'vet'],
  kubectl: ['diff'],
};
/** These ask a server themselves, and start nothing at all. */
const askThemselves: ReadonlySet<string> = new Set(['psql', 'mysql']);

const readOnly = (await buildCatalogue()).tools.filter(({ annotations }) => annotations.readOnlyHint);
const programsOf = new Map<string, readonly string[]>(
  allPrograms.map(({ of: { id, called = [id] } }) => [id, called.map((name) => name.split(' ')[0] ?? '')]),
);
const examples = new Map<string, Record<string, unknown>>(
  allActions.map(({ tool, action }) => [tool, { ...(action.given as object) }]),
);

/** Everything a project could have run when somebody only looks; with settings of git it is not looked into before trust. */
function makeHostile({ root, write, bin }: Scene): void {
  const sh = (...command: string[]) => spawnSync(command[0]!, command.slice(1), { cwd: root });
  const mark = join(root, 'ran');
  write('evil.sh', `#!/bin/sh\ntouch '${mark}'\ncat\n`);
  chmodSync(join(root, 'evil.sh'), 0o755);
  const scripts = Object.fromEntries(
    ['test', 'prepare', 'preinstall', 'postinstall', 'prelist', 'env'].map((name) => [
      name,
      `touch '${mark}'`,
    ]),
  );
  write('package.json', JSON.stringify({ name: 'p', version: '1.0.0', scripts, workspaces: ['packages/*'] }));
  write(
    '.npmrc',
    'script-shell=./evil.sh\ngit=./evil.sh\nnode-options=--require ./evil.cjs\nshell=./evil.sh\n',
  );
  write('evil.cjs', `require('fs').writeFileSync('${mark}', '')`);
  write('Makefile', `X := $(shell touch '${mark}')\n!include evil.mk\nall:\n\ttouch '${mark}'\n`);
  write('CMakeLists.txt', `execute_process(COMMAND touch '${mark}')\n`);
  write('CMakePresets.json', '{"version": 3, "configurePresets": [{"name": "$penv{X}"}]}');
  write('conftest.py', `open('${mark}', 'w')\n`);
  write('sitecustomize.py', `open('${mark}', 'w')\n`);
  write('compose.yaml', 'include: [./evil.yaml]\nservices: {web: {image: x, privileged: true}}\n');
  write('evil.yaml', 'services: {}\n');
  write('.psqlrc', `\\! touch '${mark}'\n`);
  write('.sqliterc', `.shell touch '${mark}'\n`);
  write('.my.cnf', `[client]\nplugin-dir=.\n`);
  write('.ripgreprc', `--pre=./evil.sh\n`);
  write('.envrc', `touch '${mark}'\n`);
  write('.toolcrib.json', '{"readOnly": false}');
  write('good.js', 'console.log(1)\n');
  write('stay.mjs', "console.log('ready'); setInterval(() => {}, 1000);\n");
  write('src/a.txt', 'one\ntwo\n');
  sh('sqlite3', join(root, 'data.db'), "create table t(a); insert into t values('one');");
  sh('git', 'add', '.');
  sh('git', '-c', 'user.name=A', '-c', 'user.email=a@example.org', 'commit', '--quiet', '--message=Second');
  write('src/a.txt', 'changed\n');
  sh('git', '-c', 'user.name=A', '-c', 'user.email=a@example.org', 'stash', '--quiet');
  // Only now: git is to make the repository without what lies in it.
  write('.gitattributes', '*.txt diff=evil filter=evil merge=evil\n');
  for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout', 'fsmonitor-watchman']) {
    write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch '${mark}'\n`);
    chmodSync(join(root, '.git', 'hooks', hook), 0o755);
  }
  write('src/a.txt', 'changed again\n');
  write('src/b.txt', 'untracked\n');
  playDocker(bin);
}

/** A docker that has one container. */
function playDocker(bin: string): void {
  writeFileSync(
    join(bin, 'docker'),
    `#!/bin/sh
case "$*" in
*compose*version*) echo 2.36.0 ;;
*version*) echo 'Docker version 28.2.2, build e6534b4' ;;
*inspect*) echo '[{"Id":"1","Name":"/web"}]' ;;
esac
`,
    { mode: 0o755 },
  );
}

const canTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

interface Called {
  readonly text: string;
  readonly isError: boolean;
  readonly seen: Seen;
}

/** Whose action a tool of our own comes to here. */
const standsFor: Readonly<Record<string, string>> = {
  project: 'git',
  query: 'sqlite3',
  run_read_action: 'git',
};

describe.skipIf(!canTrace)('tools that say they only read (needs strace)', () => {
  const called = new Map<string, Called>();
  const ends: (() => unknown)[] = [];
  let scene: Scene;
  let before: Record<string, string>;
  let after: Record<string, string>;

  beforeAll(async () => {
    scene = createScene({ records: false });
    ends.push(() => scene.end());
    makeHostile(scene);
    const databases: Record<string, object> = {};
    const setup = 'CREATE TABLE orders(id int); INSERT INTO orders VALUES (1);';
    if (hasMariadb()) {
      const server = await startMariadb(
        `CREATE DATABASE shop; USE shop; ${setup} CREATE USER reader; GRANT SELECT ON shop.* TO reader`,
      );
      ends.push(() => server.stop());
      const socket = encodeURIComponent(server.socket);
      databases['maria'] = { engine: 'mysql', url: `mysql://reader@x/shop?socket=${socket}` };
    }
    if (serverFolder() !== undefined) {
      const server = startServer(`${setup} CREATE ROLE reader LOGIN; GRANT SELECT ON orders TO reader`);
      ends.push(() => server.stop());
      const folder = encodeURIComponent(server.folder);
      databases['postgres'] = { engine: 'postgresql', url: `postgresql://reader@${folder}/postgres` };
    }
    const config = join(scene.home, '.config', 'toolcrib');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'config.json'), JSON.stringify({ databases }));
    await callAll();
  }, 180_000);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  /** Calls each tool once, and looks at what was done meanwhile. */
  async function callAll(): Promise<void> {
    const { roots = [], env } = scene.options([], { npm_config_cache: join(scene.home, '.npm') });
    // What looks only where somebody trusts the folder looks as well.
    spawnSync(process.execPath, [program, 'trust', '--yes', scene.root], { env });
    const trace = join(scene.bin, 'trace');
    const server = [
      process.execPath,
      ...serveArguments({ roots, args: ['--expose', 'all', '--no-checkpoints'] }),
    ];
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({ ...underWatch(trace, server), env: env!, stderr: 'pipe' }),
    );
    try {
      const offered = new Set((await client.listTools()).tools.map(({ name }) => name));
      // The versions of all programs are asked for now, and no more.
      await client.callTool({ name: 'list_programs', arguments: {} });
      const started = await client.callTool({
        name: 'run_action',
        arguments: { action: 'node_run', arguments: { file: 'stay.mjs' }, background: true },
      });
      const job = String(started._meta?.['toolcrib/job']);
      await client.callTool({ name: 'read_output', arguments: { id: job, wait_for: 'ready' } });
      const page = '<title>A page</title><p>A needle.</p>';
      const web = createServer((_request, response) =>
        response.setHeader('content-type', 'text/html').end(page),
      );
      await new Promise<void>((ready) => web.listen(0, 'localhost', ready));
      ends.push(() => web.close());
      const { port } = web.address() as AddressInfo;
      before = contentOf(scene.root);
      const look = watchTrace(trace);
      look();
      for (const { name } of readOnly) {
        if (!offered.has(name)) continue;
        const given = JSON.stringify(meaningful[name] ?? examples.get(name) ?? {});
        const text = given.replace('JOB', job).replace('PORT', String(port));
        const filled = JSON.parse(text) as Record<string, unknown>;
        const result = await client.callTool({ name, arguments: filled });
        called.set(name, { text: textOf(result), isError: result.isError === true, seen: look() });
      }
      after = contentOf(scene.root);
    } finally {
      await client.close();
    }
  }

  it.for(readOnly)(
    'ATTACK 107: $name writes nothing, and starts nothing but its own program',
    (tool, { skip }) => {
      const { name, program, action } = tool;
      const call = called.get(name);
      if (!call) {
        // Offered everywhere.
        expect(action, `${name} is a tool of our own, and was not called`).toBeDefined();
        skip(`${program} is not installed here`);
        return;
      }
      expect(call.text).not.toMatch(/^ARG_/);
      if (program === 'podman')
        skip('podman keeps its own storage, which it opens for writing whatever it does');
      const lacksServer =
        (program === 'mysql' && !hasMariadb()) || (program === 'psql' && serverFolder() === undefined);
      if (lacksServer) skip(`there is no server for ${program} here`);
      // What has nothing to work on here fails; that it does nothing else is to be seen all the same.
      if (meaningful[name]) expect(call.isError, call.text).toBe(false);
      const by = standsFor[name] ?? program;
      const own = askThemselves.has(program)
        ? []
        : ['uname', ...(programsOf.get(by) ?? []), ...(parts[by] ?? [])];
      expect(call.seen.started.filter((started) => !own.includes(started))).toEqual([]);
      // Our own state and cache, that of npm, and temporary folders of programs.
      const top = dirname(scene.root);
      const ours = [join(top, 'state'), ...['.npm', '.cache', 'go'].map((name) => join(scene.home, name))];
      // Where Java keeps what its other programs look at, each process in a file of its own.
      const isOfJava = (path: string) => /^\d+$|\/hsperfdata_\w+\/\d*$/.test(path);
      const temporary = realpathSync(tmpdir());
      const isAllowed = (path: string) =>
        ours.some((folder) => path.startsWith(folder)) ||
        isOfJava(path) ||
        (path.startsWith(temporary) && !path.startsWith(top)) ||
        // The kernel learns that a program of ours goes first where memory ends.
        /^\/proc\/\d+\/oom_score_adj$/.test(path) ||
        ['/dev/null', '/dev/tty', '/proc/self', '/sys/fs/cgroup'].some((start) => path.startsWith(start));
      expect(call.seen.wrote.filter(({ path }) => !isAllowed(path))).toEqual([]);
    },
  );

  it('ATTACK 24, 25, 26, 27, 32, 33, 37, 38, 40, 107: nothing of the project has run', () => {
    expect(after).toEqual(before);
    expect(Object.keys(after)).not.toContain(join(scene.root, 'ran'));
  });

  it('runs code of the project with make -n, which shows that the trap works', () => {
    // make by itself runs what its file says, also when it is only to tell what it would do.
    spawnSync('make', ['-n'], { cwd: scene.root });
    expect(Object.keys(contentOf(scene.root))).toContain(join(scene.root, 'ran'));
  });
});
