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

/** The person who is asked; a test sets what they answer. */
const world: { asked: Asked[]; answer: (asked: Asked) => Reply } = { asked: [], answer: () => 'no' };
beforeEach(() => Object.assign(world, { asked: [], answer: () => 'no' }));
const answering = (asked: Asked): Reply => {
  world.asked.push(asked);
  return world.answer(asked);
};

type Attack = readonly [row: number, given: Record<string, unknown>, says: RegExp];

/** Refused before anybody is asked. */
const programs: readonly Attack[] = [
  [47, { command: './git' }, /^PATH_NOT_FOUND: .*git/],
  [
    47,
    { command: 'only-here' },
    /^PROGRAM_NOT_FOUND: command: .*lies in the project|^PROGRAM_NOT_FOUND: command: "only-here"/,
  ],
  [45, { command: 'git', cwd: 'bin/git' }, /^PATH_NOT_REGULAR: /],
  [90, { command: 'git\0--version' }, /^ARG_INVALID: command: holds NUL/],
  [90, { command: 'git', args: ['log\0--output=ran'] }, /^ARG_INVALID: args\[0\]: contains a NUL/],
  [90, { command: 'git;touch ran', args: [] }, /^PROGRAM_NOT_FOUND: command: /],
  [90, { command: 'git;touch ran' }, /^ARG_INVALID: command: ";" at character 4 /],
  [90, { command: 'git\ntouch ran' }, /^ARG_INVALID: command: "\\n" at character 4 /],
  [90, { command: 'git --version\u2028touch ran' }, /^ARG_INVALID: command: "U\+2028" /],
  [90, { command: 'git --version || touch ran' }, /^ARG_INVALID: command: "\|\|" /],
  [90, { command: 'git --version & touch ran' }, /^ARG_INVALID: command: "&" /],
  [90, { command: 'git --version > ran' }, /^ARG_INVALID: command: ">" /],
  [90, { command: 'git --version <(touch ran)' }, /^ARG_INVALID: command: "<\(" /],
  [90, { command: 'git "$(touch ran)"' }, /^ARG_INVALID: command: "\$\(" at character 6 /],
  [90, { command: 'git "\\`touch ran\\`" `touch ran`' }, /^ARG_INVALID: command: "`" at character 21 /],
  [90, { command: 'touch $IFS' }, /^ARG_INVALID: command: "\$IFS" /],
  [90, { command: "git $'\\x41'" }, /^ARG_INVALID: command: "\$" /],
  [90, { command: 'git {a,b}' }, /^ARG_INVALID: command: "\{" /],
  [90, { command: 'touch ran; #' }, /^ARG_INVALID: command: ";" /],
  [90, { command: 'true && cd .. && touch ran' }, /^ARG_INVALID: command: "cd" /],
  [90, { command: 'true && nothing-of-the-kind && touch ran' }, /^PROGRAM_NOT_FOUND: command: /],
  [51, { command: 'true | /bin/sh' }, /^PATH_OUTSIDE_ROOTS: /],
  [51, { command: 'cd .. && git' }, /^PATH_OUTSIDE_ROOTS: /],
  [52, { command: 'cd away && git' }, /^PATH_OUTSIDE_ROOTS: /],
  [112, { command: 'true | '.repeat(50) + 'true' }, /^ARG_INVALID: command: "\|" .*16 programs/],
  [112, { command: `git ${'x'.repeat(200_000)}` }, /^ARG_INVALID: command: /],
  [90, { command: 'touch ran', args: [] }, /^PROGRAM_NOT_FOUND: command: /],
  [1, { command: '--version' }, /^PROGRAM_NOT_FOUND: command: /],
  [90, { command: '' }, /^ARG_INVALID: command: is empty/],
  [90, { command: '.', args: [] }, /^PROGRAM_NOT_FOUND: command: /],
  [51, { command: '/bin/sh' }, /^PATH_OUTSIDE_ROOTS: /],
  [51, { command: '~/.bashrc', args: [] }, /^PATH_(?:OUTSIDE_ROOTS|NOT_FOUND|PROTECTED): /],
  [52, { command: './sh', args: ['-c', 'touch ran'] }, /^PATH_OUTSIDE_ROOTS: /],
  [57, { command: './pipe' }, /^PATH_NOT_REGULAR: /],
  [58, { command: '/proc/self/exe' }, /^PATH_PROTECTED: /],
  [61, { command: 'C:\\Windows\\System32\\cmd.exe', args: [] }, /^(?:PATH|PROGRAM)_NOT_FOUND: /],
  [52, { command: 'git', cwd: 'away' }, /^PATH_OUTSIDE_ROOTS: /],
  [51, { command: 'git', cwd: '..' }, /^PATH_OUTSIDE_ROOTS: /],
  [57, { command: 'git', cwd: 'pipe' }, /^PATH_NOT_REGULAR: /],
  [58, { command: 'git', cwd: '/proc/self/cwd' }, /^PATH_(?:PROTECTED|OUTSIDE_ROOTS): /],
  [112, { command: 'sh', args: Array.from({ length: 1001 }, () => 'x') }, /^ARG_INVALID: args: /],
  [112, { command: 'x'.repeat(5000) }, /^(?:ARG_INVALID|PROGRAM_NOT_FOUND): command: /],
  [94, { command: 'sh', environment: { PATH: '.' } }, /^ARG_INVALID: environment: /],
  [105, { command: 'sh', approved: true }, /^ARG_INVALID: approved: /],
];

/** Decided as if the tool had been called itself. */
const wrapped: readonly Attack[] = [
  [105, { action: 'run', arguments: { command: 'touch ran', approved: true } }, /^ARG_INVALID: approved: /],
  [105, { action: 'run', arguments: { command: 'touch ran' }, approved: true }, /^ARG_INVALID: approved: /],
  [105, { action: 'control_job', arguments: { id: 'x', action: 'stop' } }, /^NOT_FOUND: id/],
  [
    105,
    { action: 'run_action', arguments: { action: 'run' } },
    /^ARG_INVALID: action: run_action is no action/,
  ],
  [105, { action: 'git_status', arguments: ['--x'] }, /^ARG_INVALID: arguments: expected /],
  [105, { action: '__proto__' }, /^UNKNOWN_TOOL: /],
  [105, { action: 'GIT_STATUS' }, /^UNKNOWN_TOOL: /],
  [105, { action: 'npm_test', arguments: { confirm: true } }, /^ARG_INVALID: confirm: /],
  [105, { action: 'npm_test', approved: true }, /^ARG_INVALID: approved: /],
  [51, { action: 'npm_test', arguments: { cwd: '..' } }, /^PATH_OUTSIDE_ROOTS: /],
  [1, { action: 'git_log', arguments: { ref: '--output=ran' } }, /^ARG_FLAG: ref: /],
].map(([row, given, says]) => [row, { ...(given as object), background: true }, says] as Attack);

/** Handles that are nobody's, or somebody else's. */
const handles = (
  [
    ...['../../../etc/passwd', 'job-1', '__proto__', 'a\0b'].flatMap(
      (id) =>
        [
          [104, 'read_output', { id }, /^NOT_FOUND: /],
          [104, 'read_output', { id, wait_for: 'end', timeout: 0 }, /^NOT_FOUND: /],
          [104, 'control_job', { id, action: 'stop' }, /^NOT_FOUND: /],
          [104, 'control_job', { id, action: 'send', text: 'x' }, /^NOT_FOUND: /],
        ] as const,
    ),
    [112, 'read_output', { id: 'x'.repeat(1e6) }, /^ARG_INVALID: id: /],
    [112, 'control_job', { id: 'x', action: 'send', text: 'x'.repeat(65_537) }, /^ARG_INVALID: text: /],
    [87, 'read_output', { id: 'x', host: '169.254.169.254', wait_for: 'port 80' }, /^ARG_INVALID: host: /],
    [69, 'read_output', { id: 'x', wait_for: 'x'.repeat(1001) }, /^ARG_INVALID: wait_for: /],
    [69, 'read_output', { wait_for: 'end' }, /^ARG_INVALID: id: /],
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
    'ATTACK %i: run %s is refused, and nobody is asked',
    async (_row, _what, given, says) => {
      await refused({ client, scene }, { name: 'run', given, says });
      expect(world.asked).toEqual([]);
    },
  );

  it.each(named(wrapped))(
    'ATTACK %i: run_action %s is refused, and nobody is asked',
    async (_row, _what, given, says) => {
      await refused({ client, scene }, { name: 'run_action', given, says });
      expect(world.asked).toEqual([]);
    },
  );

  it.each(handles)('ATTACK %i: %s %s is refused', async (_row, name, _what, given, says) => {
    await refused({ client, scene }, { name, given, says });
    expect(world.asked).toEqual([]);
  });

  it.each([
    ['npm_run', { task: 'test' }],
    ['make_task', { task: 'all' }],
    ['cmake_configure', {}],
    ['git_reset_hard', { ref: 'HEAD' }],
    ['docker_remove', { containers: ['web'] }],
    ['run', { command: 'touch ran' }],
  ] as const)('ATTACK 105: %s asks the same question as a job, and a no refuses it', async (tool, given) => {
    await refused(
      { client, scene },
      { name: tool, given: { ...given }, says: /^NOT_CONFIRMED: /, asks: true },
    );
    await refused(
      { client, scene },
      {
        name: 'run_action',
        given: { action: tool, arguments: given, background: true },
        says: /^NOT_CONFIRMED: /,
        asks: true,
      },
    );
    expect(world.asked).toHaveLength(2);
    expect(world.asked[1]?.message).toBe(world.asked[0]?.message);
  });

  it('ATTACK 52: nothing runs in a folder that becomes a link while a person is asked', async () => {
    mkdirSync(join(scene.root, 'swap'), { recursive: true });
    world.answer = () => {
      spawnSync('rm', ['-rf', join(scene.root, 'swap')]);
      symlinkSync(scene.outside, join(scene.root, 'swap'));
      return 'yes';
    };
    const given = { command: 'cd swap && touch ran' };
    const result = await client.callTool({ name: 'run', arguments: given });
    expect(textOf(result)).toMatch(/^PATH_OUTSIDE_ROOTS/);
    expect(Object.keys(scene.snapshot())).not.toContain(join(scene.outside, 'ran'));
    spawnSync('rm', [join(scene.root, 'swap')]);
  });

  it('ATTACK 69, 87, 103: waiting for a pattern or a port of a job reaches nothing else', async () => {
    world.answer = () => 'yes';
    const source = `process.stdout.write('${'a'.repeat(40)}!\\n'); process.stdin.on('end', () => process.exit()).resume();`;
    const given = { command: 'node', args: ['-e', source], background: true };
    const started = await client.callTool({ name: 'run', arguments: given });
    const id = String(started._meta?.['toolcrib/job']);
    const read = async (more: object, who: Client = client) =>
      textOf(await who.callTool({ name: 'read_output', arguments: { id, ...more } }));
    await read({ wait_for: '^a+!$' });
    expect(await read({ wait_for: '(a+)+$', timeout: 20 })).toMatch(/^ARG_INVALID: wait_for/);
    expect(await read({ pattern: '(' })).toMatch(/^ARG_INVALID: pattern/);
    for (const port of ['0', '65536', '99999999999'])
      expect(await read({ wait_for: `port ${port}` })).toMatch(/^ARG_INVALID: wait_for/);
    // What names no port is a text that nobody printed.
    for (const text of ['port -1', 'port 169.254.169.254:80'])
      expect(await read({ wait_for: text, timeout: 0 })).toMatch(/^no line matches until now/);
    // A second client has no part in it.
    const other = await connect(era, scene.options());
    expect(await read({}, other)).toMatch(/^NOT_FOUND/);
    expect(await read({ wait_for: 'end' }, other)).toMatch(/^NOT_FOUND/);
    for (const more of [{ action: 'stop' }, { action: 'send', text: 'x' }])
      expect(
        textOf(await other.callTool({ name: 'control_job', arguments: { id, ...more } })),
        more.action,
      ).toMatch(/^NOT_FOUND/);
    expect(textOf(await other.callTool({ name: 'read_output', arguments: {} }))).toBe(
      'There are no jobs, and no output is kept.',
    );
    await other.close();
    // The input of a command is asked about like a command.
    world.answer = () => 'no';
    const asked = world.asked.length;
    const control = (more: object) => client.callTool({ name: 'control_job', arguments: { id, ...more } });
    expect(textOf(await control({ action: 'send', text: 'touch ran\n' }))).toMatch(/^NOT_CONFIRMED/);
    expect(world.asked[asked]?.message).toContain('touch ran');
    expect((await control({ action: 'stop' })).isError).toBeFalsy();
  });
});

describe('ATTACK 105: what the settings close stays closed inside a job', () => {
  it('stays closed by --read-only', async () => {
    const client = await connectWithPerson('2025-11-25', () => 'yes', scene.options(['--read-only']));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    for (const [name, given] of Object.entries({
      run: { command: 'git', background: true },
      control_job: { id: 'x', action: 'send', text: 'y' },
      run_action: { action: 'npm_test', arguments: {}, background: true },
      write_file: { path: 'new.txt', content: '' },
    })) {
      expect(names).not.toContain(name);
      await refused({ client, scene }, { name, given, says: /^EFFECT_DENIED: .*readOnly|^NOT_FOUND: id/ });
    }
    await client.close();
  });

  it.each([
    ['a rule', { rules: { 'git_*': 'deny', 'run(touch *)': 'deny' } }, /^EFFECT_DENIED: .*rules/],
    ['a toolset', { toolsets: ['files'] }, /not offered: the toolsets are files/],
    ['a toolset of the project', { folders: { ROOT: { toolsets: ['npm'] } } }, /^EFFECT_DENIED: .*toolsets/],
  ])('stays closed by %s', async (_what, content, says) => {
    mkdirSync(join(scene.home, '.config', 'toolcrib'), { recursive: true });
    writeFileSync(
      join(scene.home, '.config', 'toolcrib', 'config.json'),
      JSON.stringify(content).replace('ROOT', scene.root),
    );
    const client = await connectWithPerson('2025-11-25', () => 'yes', scene.options());
    for (const [name, given] of [
      ['run_action', { action: 'git_status', background: true }],
      ['run', { command: 'true && A=1 touch ran | cat', background: true }],
    ] as const) {
      scene.started();
      const said = await client.callTool({ name, arguments: given }).then(textOf, String);
      expect(said).toMatch(says);
      expect(scene.started()).toEqual([]);
    }
    await client.close();
  });
});
