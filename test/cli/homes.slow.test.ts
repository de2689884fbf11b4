import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { isRunningIn } from '../support/is-running.ts';
import { temporaryFolder } from '../support/repository.ts';
import { program } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';

/** A user that the database does not have, as in a container; only root can become one. */
const nobody = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {};
const isRoot = 'uid' in nobody;

/** The program where every user may read it. */
let dist: string;
let home: string;
let temporary: string;
let project: string;

const everything = (folder: string) =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((path) => !/^\.cache(?:\/toolcrib.*)?$/.test(path) && !path.startsWith('bin'))
    .sort();
const open = (folder: string) => {
  chmodSync(folder, 0o777);
  return folder;
};

describe.skipIf(process.platform === 'win32')('toolcrib in a home of any kind', () => {
  beforeAll(() => {
    dist = join(process.env['TMPDIR'] ?? '', 'dist');
    cpSync(join(program, '..'), dist, { recursive: true });
  });
  beforeEach(() => {
    home = open(temporaryFolder());
    temporary = open(temporaryFolder());
    project = open(temporaryFolder());
    writeFileSync(join(project, 'a.txt'), 'hello\n');
    chmodSync(join(project, 'a.txt'), 0o666);
  });
  const environment = (more: Record<string, string> = {}) => ({
    PATH: `${home}/bin:/usr/bin:/bin`,
    TMPDIR: temporary,
    SHELL: '/bin/sh',
    ...more,
  });
  const script = () => join(dist, 'toolcrib.cjs');

  const fake = (name: string, text: string) => {
    mkdirSync(join(home, 'bin'), { recursive: true });
    writeFileSync(join(home, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };
  const litters =
    'mkdir -p "$HOME/.it" "${XDG_CACHE_HOME:-$HOME/.cache}/it" "$HOME/.config/it"; mktemp; touch here';

  it('leaves nothing in a new home or the temporary folder when it asks programs for versions', () => {
    for (const name of ['rubocop', 'podman', 'just', 'docker']) fake(name, `${litters}; echo ${name} 1.2.3`);
    const { status, stdout } = spawnSync(process.execPath, [script(), 'list'], {
      cwd: project,
      env: environment({ HOME: home }),
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^RuboCop +1\.2\.3 /m);
    expect(everything(home)).toEqual([]);
    expect(everything(temporary)).toEqual([]);
    expect(readdirSync(project)).toEqual(['a.txt']);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'leaves nothing when the server is ended by %s while it asks a program',
    async (signal) => {
      // A plugin is asked for by itself, soon after the start.
      fake('docker', `${litters}; echo $$ >"${project}/asked"; sleep 3; ${litters}`);
      const server = spawn(process.execPath, [script(), 'serve', '--root', project], {
        env: environment({ HOME: home }),
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      onTestFinished(() => {
        server.kill('SIGKILL');
      });
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 't', version: '1' },
      };
      const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
      for (const message of [
        initialize,
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 2, method: 'tools/list' },
      ])
        server.stdin.write(`${JSON.stringify(message)}\n`);
      await until(
        () => existsSync(join(project, 'asked')) && readFileSync(join(project, 'asked'), 'utf8') !== '',
      );
      server.kill(signal);
      await until(() => !isRunningIn(join(project, 'asked')));
      expect(everything(home)).toEqual([]);
      expect(everything(temporary)).toEqual([]);
    },
  );

  /** Commands that do not ask all programs of this machine for their versions. */
  const quick = [
    ['version'],
    ['exposure'],
    ['call', 'read_file', 'path=a.txt'],
    ['call', 'undo'],
    ['trust', '--list'],
    ['trust', '--yes'],
    ['audit'],
    ['chat', '--model', 'ollama/none', '-p', 'hi'],
  ];
  const all = [...quick, ['--help'], ['list', '--json'], ['doctor'], ['completion', 'bash']];
  const writing = ['config', 'claude-code', '--write'];
  it.each([
    ['no HOME', undefined, all],
    ['a file for it', '/dev/null', quick],
    ['an empty one', '', quick],
    ['a relative one', 'x', quick],
    ['one that cannot be written', '/', quick],
  ] as const)('answers every command in sentences with %s', (_, given, commands) => {
    // Where the database has a home of this person, that is theirs.
    const own = isRoot ? {} : { XDG_STATE_HOME: home, XDG_CACHE_HOME: home, XDG_CONFIG_HOME: home };
    for (const args of isRoot ? [...commands, writing] : commands) {
      const env = environment({ ...own, ...(given === undefined ? {} : { HOME: given }) });
      const options = { cwd: project, env, encoding: 'utf8', ...nobody } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [script(), ...args], options);
      expect(stderr, args.join(' ')).not.toMatch(/^\s+at .*:\d+/m);
      expect(status, args.join(' ')).toBeLessThan(3);
      if (args[0] === 'call') expect(status, stdout + stderr).toBe(0);
    }
  });

  const closed = () => {
    if (!isRoot) chmodSync(home, 0o500);
    else chmodSync(home, 0o755);
    onTestFinished(() => chmodSync(home, 0o700));
    return environment({ HOME: home });
  };
  /** A server of that user: a shell that becomes it where root runs the tests. */
  async function connected(env: Record<string, string>) {
    const client = new Client({ name: 'test', version: '1' });
    const started = [process.execPath, script(), 'serve', '--root', project];
    const [command = '', ...args] = isRoot
      ? ['setpriv', `--reuid=${nobody.uid}`, `--regid=${nobody.gid}`, '--clear-groups', ...started]
      : started;
    const transport = new StdioClientTransport({ command, args, env, stderr: 'pipe' });
    let said = '';
    transport.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    await client.connect(transport);
    const call = async (name: string, values: object = {}) =>
      textOf(await client.callTool({ name, arguments: { ...values } }));
    return { client, call, said: () => said, pid: transport.pid ?? 0 };
  }
  const ours = () => readdirSync(temporary).filter((name) => name.startsWith('toolcrib-'));

  it('keeps undo in a private folder that goes with the server when the home cannot be written', async () => {
    const { client, call, said } = await connected(closed());
    for (const path of ['b.txt', 'c.txt']) await call('write_file', { path, content: 'new\n' });
    await until(() => said().includes('\n'));
    expect(said()).toMatch(
      /^toolcrib: \S+\/toolcrib cannot be written\. So undo reaches back to the start of a server only/,
    );
    expect(ours()).toHaveLength(1);
    expect(lstatSync(join(temporary, ours()[0]!)).mode & 0o777).toBe(0o700);
    expect(await call('undo', { last: 2 })).toContain('removed c.txt, b.txt');
    expect(readdirSync(project)).toEqual(['a.txt']);
    await client.close();
    await until(() => ours().length === 0);
  });

  it('leaves that folder to the next server to remove when the server is killed', async () => {
    const env = closed();
    const first = await connected(env);
    await first.call('write_file', { path: 'b.txt', content: 'new\n' });
    const [left] = ours();
    process.kill(first.pid, 'SIGKILL');
    await first.client.close();
    expect(ours()).toEqual([left]);
    const next = await connected(env);
    await next.call('write_file', { path: 'c.txt', content: 'new\n' });
    expect(ours()).toHaveLength(1);
    expect(ours()).not.toEqual([left]);
    await next.client.close();
    await until(() => ours().length === 0);
  });

  it('reports with doctor a home that cannot be written', () => {
    const options = { cwd: project, env: closed(), encoding: 'utf8', ...nobody } as const;
    const { status, stdout } = spawnSync(process.execPath, [script(), 'doctor'], options);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /wrong {2}state folder: \S+ cannot be written\. So undo .*XDG_STATE_HOME=DIR names/,
    );
  });
});
