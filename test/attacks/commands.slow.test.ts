import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectWithPerson, type Asked, type Reply } from '../support/person.ts';
import { connect, eras } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { createScene, inShort, refused, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(() => {
  scene = createScene();
  const { root, outside } = scene;
  symlinkSync('/bin/sh', join(root, 'sh'));
  symlinkSync(outside, join(root, 'away'));
  mkdirSync(join(root, 'folder'));
  spawnSync('mkfifo', [join(root, 'pipe')]);
  // A program of the project with the name of the machine's, in a folder that somebody has put on the search path.
  for (const name of ['git', 'docker', 'only-here']) program(join('bin', name), 'touch ran');
});
afterAll(() => scene.end());

function program(path: string, text: string): string {
  const file = scene.write(path, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** Whoever is asked; a test says what they answer. */
const world: { asked: Asked[]; answer: (asked: Asked) => Reply } = { asked: [], answer: () => 'no' };
beforeEach(() => Object.assign(world, { asked: [], answer: () => 'no' }));
const answering = (asked: Asked): Reply => {
  world.asked.push(asked);
  return world.answer(asked);
};

type Attack = readonly [row: number, given: Record<string, unknown>, says: RegExp];

/** Refused before anybody is asked. */
const programs: readonly Attack[] = [
  [47, { program: './git' }, /^PATH_NOT_FOUND: .*git/],
  [
    47,
    { program: 'only-here' },
    /^PROGRAM_NOT_FOUND: program: .*lies in the project|^PROGRAM_NOT_FOUND: program: "only-here"/,
  ],
  [45, { program: 'git', cwd: 'bin/git' }, /^PATH_NOT_REGULAR: /],
  [90, { program: 'git\0--version' }, /^ARG_INVALID: program: contains a NUL/],
  [90, { program: 'git', args: ['log\0--output=ran'] }, /^ARG_INVALID: args\[0\]: contains a NUL/],
  [90, { program: 'git;touch ran' }, /^PROGRAM_NOT_FOUND: program: /],
  [90, { program: 'git\ntouch ran' }, /^PROGRAM_NOT_FOUND: program: /],
  [90, { program: '$(touch ran)' }, /^PROGRAM_NOT_FOUND: program: /],
  [90, { program: 'touch ran' }, /^PROGRAM_NOT_FOUND: program: /],
  [90, { program: ' git' }, /^PROGRAM_NOT_FOUND: program: /],
  [90, { program: 'g*t' }, /^PROGRAM_NOT_FOUND: program: /],
  [1, { program: '-x' }, /^PROGRAM_NOT_FOUND: program: /],
  [1, { program: '--version' }, /^PROGRAM_NOT_FOUND: program: /],
  [90, { program: '' }, /^ARG_INVALID: program: is empty/],
  [90, { program: '.' }, /^PROGRAM_NOT_FOUND: program: /],
  [90, { program: '..' }, /^PROGRAM_NOT_FOUND: program: /],
  [51, { program: '/bin/sh' }, /^PATH_OUTSIDE_ROOTS: /],
  [51, { program: 'bin/../../../../bin/sh' }, /^PATH_OUTSIDE_ROOTS: /],
  [51, { program: '~/.bashrc' }, /^PATH_(?:OUTSIDE_ROOTS|NOT_FOUND|PROTECTED): /],
  [52, { program: './sh', args: ['-c', 'touch ran'] }, /^PATH_OUTSIDE_ROOTS: /],
  [52, { program: 'away/x' }, /^PATH_OUTSIDE_ROOTS: /],
  [57, { program: './pipe' }, /^PATH_NOT_REGULAR: /],
  [57, { program: './folder' }, /^PATH_NOT_REGULAR: /],
  [58, { program: '/proc/self/exe' }, /^PATH_PROTECTED: /],
  [61, { program: 'C:\\Windows\\System32\\cmd.exe' }, /^(?:PATH|PROGRAM)_NOT_FOUND: /],
  [61, { program: '\\\\server\\share\\evil.exe' }, /^(?:PATH|PROGRAM)_NOT_FOUND: /],
  [52, { program: 'git', cwd: 'away' }, /^PATH_OUTSIDE_ROOTS: /],
  [51, { program: 'git', cwd: '/etc' }, /^PATH_OUTSIDE_ROOTS: /],
  [51, { program: 'git', cwd: '..' }, /^PATH_OUTSIDE_ROOTS: /],
  [57, { program: 'git', cwd: 'pipe' }, /^PATH_NOT_REGULAR: /],
  [58, { program: 'git', cwd: '/proc/self/cwd' }, /^PATH_(?:PROTECTED|OUTSIDE_ROOTS): /],
  [112, { program: 'sh', args: Array.from({ length: 1001 }, () => 'x') }, /^ARG_INVALID: args: /],
  [112, { program: 'x'.repeat(5000) }, /^ARG_INVALID: program: /],
  [94, { program: 'sh', environment: { PATH: '.' } }, /^ARG_INVALID: environment: /],
  [105, { program: 'sh', approved: true }, /^ARG_INVALID: approved: /],
];

/** Decided as if the tool had been called itself. */
const wrapped: readonly Attack[] = [
  [
    105,
    { tool: 'start_job', arguments: { tool: 'run_command' } },
    /^ARG_INVALID: tool: start_job cannot be a job/,
  ],
  [
    105,
    { tool: 'write_job', arguments: { job: 'x', text: 'y' } },
    /^ARG_INVALID: tool: write_job cannot be a job/,
  ],
  [105, { tool: 'git_status', arguments: '{"cwd":"."}' }, /^ARG_INVALID: arguments: expected /],
  [105, { tool: 'git_status', arguments: ['--x'] }, /^ARG_INVALID: arguments: expected /],
  [
    105,
    { tool: 'run_script', arguments: { language: 'bash', script: 'touch ran' } },
    /^UNKNOWN_TOOL: .*scripts are off/,
  ],
  [105, { tool: '__proto__' }, /^UNKNOWN_TOOL: /],
  [105, { tool: 'constructor' }, /^UNKNOWN_TOOL: /],
  [105, { tool: 'git_status ' }, /^UNKNOWN_TOOL: /],
  [105, { tool: 'GIT_STATUS' }, /^UNKNOWN_TOOL: /],
  [105, { tool: 'run_command', arguments: { program: 'sh', confirm: true } }, /^ARG_INVALID: confirm: /],
  [105, { tool: 'run_command', arguments: { program: 'sh' }, approved: true }, /^ARG_INVALID: approved: /],
  [51, { tool: 'run_command', arguments: { program: '/bin/sh' } }, /^PATH_OUTSIDE_ROOTS: /],
  [51, { tool: 'npm_test', arguments: { cwd: '..' } }, /^PATH_OUTSIDE_ROOTS: /],
  [1, { tool: 'git_log', arguments: { ref: '--output=ran' } }, /^ARG_FLAG: ref: /],
];

/** What is nobody's, or somebody else's. */
const handles = (
  [
    ...[
      'x',
      '../../../etc/passwd',
      '/etc/passwd',
      'job-1',
      '1',
      '__proto__',
      'constructor',
      'a\0b',
      '%2e%2e',
    ].flatMap(
      (job) =>
        [
          [104, 'read_job', { job }, /^(?:NOT_FOUND|ARG_INVALID): /],
          [104, 'wait_job', { job, seconds: 0 }, /^(?:NOT_FOUND|ARG_INVALID): /],
          [104, 'stop_job', { job }, /^(?:NOT_FOUND|ARG_INVALID): /],
          [104, 'write_job', { job, text: 'x' }, /^(?:NOT_FOUND|ARG_INVALID): /],
          [51, 'read_output', { output: job }, /^(?:NOT_FOUND|ARG_INVALID): /],
        ] as const,
    ),
    [112, 'read_output', { output: 'x'.repeat(1e6) }, /^ARG_INVALID: output: /],
    [112, 'write_job', { job: 'x', text: 'x'.repeat(65_537) }, /^ARG_INVALID: text: /],
    [87, 'wait_job', { job: 'x', port: 0 }, /^ARG_INVALID: port: /],
    [87, 'wait_job', { job: 'x', port: -1 }, /^ARG_INVALID: port: /],
    [87, 'wait_job', { job: 'x', port: 65_536 }, /^ARG_INVALID: port: /],
    [87, 'wait_job', { job: 'x', port: '169.254.169.254:80' }, /^ARG_INVALID: port: /],
    [87, 'wait_job', { job: 'x', host: '169.254.169.254', port: 80 }, /^ARG_INVALID: host: /],
    [69, 'wait_job', { job: 'x', pattern: 'x'.repeat(1001) }, /^ARG_INVALID: pattern: /],
  ] as readonly (readonly [row: number, tool: string, given: Record<string, unknown>, says: RegExp])[]
).map(([row, tool, given, says]) => [row, tool, inShort(given), given, says] as const);

const named = (attacks: readonly Attack[]) =>
  attacks.map(([row, given, says]) => [row, inShort(given), given, says] as const);

describe.each(eras)('commands, in %s', (era) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectWithPerson(
      era,
      answering,
      scene.options([], { PATH: `${join(scene.root, 'bin')}:${scene.bin}:/usr/bin:/bin` }),
    );
  });
  afterAll(() => client.close());

  it.each(named(programs))(
    'ATTACK %i: run_command %s is refused, and nobody is asked',
    async (_row, _what, given, says) => {
      await refused({ client, scene }, { name: 'run_command', given, says });
      expect(world.asked).toEqual([]);
    },
  );

  it.each(named(wrapped))(
    'ATTACK %i: start_job %s is refused, and nobody is asked',
    async (_row, _what, given, says) => {
      await refused({ client, scene }, { name: 'start_job', given, says });
      expect(world.asked).toEqual([]);
    },
  );

  it.each(handles)('ATTACK %i: %s %s is refused', async (_row, name, _what, given, says) => {
    await refused({ client, scene }, { name, given, says });
    expect(world.asked).toEqual([]);
  });

  it.each([
    ['run_command', { program: 'sh', args: ['-c', 'touch ran'] }],
    ['npm_run', { task: 'test' }],
    ['make_task', { task: 'all' }],
    ['cmake_configure', {}],
    ['git_reset_hard', { ref: 'HEAD' }],
    ['docker_remove', { containers: ['web'] }],
  ] as const)('ATTACK 105: %s asks as a job as it does itself, and a no is a no', async (tool, given) => {
    await refused(
      { client, scene },
      { name: tool, given: { ...given }, says: /^NOT_CONFIRMED: /, asks: true },
    );
    await refused(
      { client, scene },
      { name: 'start_job', given: { tool, arguments: given }, says: /^NOT_CONFIRMED: /, asks: true },
    );
    expect(world.asked).toHaveLength(2);
    expect(world.asked[1]?.message).toBe(world.asked[0]?.message);
  });

  it('ATTACK 45, 47: a bare name is the program of the machine, whatever lies on its search path', async () => {
    world.answer = () => 'yesAtOnce';
    const version = await client.callTool({
      name: 'run_command',
      arguments: { program: 'git', args: ['--version'] },
    });
    expect(textOf(version)).toMatch(/^git version/);
    const shown = await client.callTool({
      name: 'run_command',
      arguments: { program: 'printenv', args: ['PATH'] },
    });
    expect(textOf(shown).split(':')).not.toContain(join(scene.root, 'bin'));
  });

  it('ATTACK 42: a program that changes while somebody is asked is not run', async () => {
    program('tools/go.sh', 'echo harmless');
    world.answer = () => {
      program('tools/go.sh', 'touch ran');
      return 'yesAtOnce';
    };
    const result = await client.callTool({ name: 'run_command', arguments: { program: 'tools/go.sh' } });
    expect(textOf(result)).toMatch(/^NOT_CONFIRMED/);
    expect(Object.keys(scene.snapshot())).not.toContain(join(scene.root, 'ran'));
  });

  it('ATTACK 52: a folder that becomes a link while somebody is asked is not worked in', async () => {
    mkdirSync(join(scene.root, 'swap'), { recursive: true });
    world.answer = () => {
      spawnSync('rm', ['-rf', join(scene.root, 'swap')]);
      symlinkSync(scene.outside, join(scene.root, 'swap'));
      return 'yesAtOnce';
    };
    const given = { program: 'touch', args: ['ran'], cwd: 'swap' };
    const result = await client.callTool({ name: 'run_command', arguments: given });
    expect(textOf(result)).toMatch(/^PATH_OUTSIDE_ROOTS/);
    expect(Object.keys(scene.snapshot())).not.toContain(join(scene.outside, 'ran'));
    spawnSync('rm', [join(scene.root, 'swap')]);
  });

  it('ATTACK 69, 87, 103: a job is waited for by pattern and port without being a way out', async () => {
    world.answer = () => 'yesAtOnce';
    const source = `process.stdout.write('${'a'.repeat(40)}!\\n'); process.stdin.on('end', () => process.exit()).resume();`;
    const given = { tool: 'run_command', arguments: { program: 'node', args: ['-e', source] }, input: true };
    const started = await client.callTool({ name: 'start_job', arguments: given });
    const job = String(started._meta?.['toolcrib/job']);
    await client.callTool({ name: 'wait_job', arguments: { job, pattern: '^a+!$' } });
    const slow = await client.callTool({
      name: 'wait_job',
      arguments: { job, pattern: '(a+)+$', seconds: 20 },
    });
    expect(textOf(slow)).toMatch(/^ARG_INVALID: pattern/);
    expect(
      textOf(await client.callTool({ name: 'wait_job', arguments: { job, pattern: '(', seconds: 1 } })),
    ).toMatch(/^ARG_INVALID: pattern/);
    // A second client has no part in it.
    const other = await connect(era, scene.options());
    for (const [name, more] of [
      ['read_job', {}],
      ['wait_job', {}],
      ['stop_job', {}],
      ['write_job', { text: 'x' }],
    ] as const)
      expect(textOf(await other.callTool({ name, arguments: { job, ...more } })), name).toMatch(/^NOT_FOUND/);
    expect(textOf(await other.callTool({ name: 'list_jobs', arguments: {} }))).toBe('There are no jobs.');
    await other.close();
    // What a command is told is asked about like a command.
    world.answer = () => 'no';
    const asked = world.asked.length;
    const written = await client.callTool({ name: 'write_job', arguments: { job, text: 'touch ran\n' } });
    expect(textOf(written)).toMatch(/^NOT_CONFIRMED/);
    expect(world.asked[asked]?.message).toContain('touch ran');
    expect((await client.callTool({ name: 'stop_job', arguments: { job } })).isError).toBeFalsy();
  });
});

describe('ATTACK 105: what the settings close stays closed inside a job', () => {
  const asJob = (tool: string, given: object = {}) => ({
    name: 'start_job',
    arguments: { tool, arguments: given },
  });

  it('read-only', async () => {
    const client = await connectWithPerson('2025-11-25', () => 'yesAtOnce', scene.options(['--read-only']));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    for (const name of ['start_job', 'write_job', 'run_command', 'write_file']) {
      expect(names).not.toContain(name);
      const given = {
        start_job: { tool: 'run_command', arguments: { program: 'git' } },
        write_job: { job: 'x', text: 'y' },
        run_command: { program: 'git' },
        write_file: { path: 'new.txt', content: '' },
      }[name];
      await refused(
        { client, scene },
        { name, given: { ...given }, says: /^EFFECT_DENIED: .*readOnly|^NOT_FOUND: job/ },
      );
    }
    await client.close();
  });

  it.each([
    ['a rule', { rules: { 'git_*': 'deny', 'run(sh *)': 'deny' } }, /^EFFECT_DENIED: .*rules/],
    ['a toolset', { toolsets: ['files'] }, /not offered: the toolsets are files/],
    ['a toolset of the project', { folders: { ROOT: { toolsets: ['npm'] } } }, /^EFFECT_DENIED: .*toolsets/],
  ])('%s', async (_what, content, says) => {
    mkdirSync(join(scene.home, '.config', 'toolcrib'), { recursive: true });
    writeFileSync(
      join(scene.home, '.config', 'toolcrib', 'config.json'),
      JSON.stringify(content).replace('ROOT', scene.root),
    );
    const client = await connectWithPerson('2025-11-25', () => 'yesAtOnce', scene.options());
    for (const [tool, given] of [
      ['git_status', {}],
      ['run_command', { program: 'sh', args: ['-c', 'touch ran'] }],
    ] as const) {
      scene.started();
      const said = await client.callTool(asJob(tool, given)).then(textOf, String);
      expect(said).toMatch(says);
      expect(scene.started()).toEqual([]);
    }
    await client.close();
  });
});
