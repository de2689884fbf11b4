import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { person, says } from '../guarantees/person.ts';
import { makeWorld } from '../guarantees/world.ts';
import type { Session } from '../guarantees/session.ts';

/** Leaves a mark in the folder it is started in. */
const trap = '#!/bin/sh\ntouch ran\n';
const world = makeWorld();
const ada = person();
let session: Session;
beforeAll(async () => {
  const planted = join(world.project, 'bin');
  for (const name of ['bin/git', 'git', 'bin/evil-tool', 'evil-tool', 'pwsh']) world.write(name, trap, 0o755);
  session = await world.open({
    person: ada,
    args: ['--scripts'],
    env: { PATH: `${planted}:${world.env['PATH']}`, MY_SECRET_TOKEN: 'hunter2' },
  });
});
beforeEach(() => ada.will(says.yesAtOnce));
afterAll(() => world.end());

const run = async (program: string, args: readonly string[] = [], more: object = {}): Promise<string> =>
  (await session.does({ name: 'run_command', arguments: { program, args, ...more } })).text;
const script = async (language: string, text: string): Promise<string> =>
  (await session.does({ name: 'run_script', arguments: { language, script: text } })).text;

describe('run_command', () => {
  it('hands every argument over as it is, without a shell', async () => {
    const args = ['%s\\n', '$HOME', '`id`', 'a  b', '*', '; touch ran', '', "it's", '-x'];
    expect(await run('printf', args)).toBe(args.slice(1).join('\n'));
    expect(world.has('ran')).toBe(false);
  });

  it('shows the arguments and the input below the three lines', async () => {
    const said = await run('sh', ['-c', 'cat; echo one\necho two'], { cwd: 'src', input: 'yes\n' });
    expect(said).toBe('yes\none\ntwo');
    const [first, why, where, ...preview] = ada.asked[0]?.message.split('\n') ?? [];
    expect(first).toMatch(/^sh -c 'cat; echo one\\(?:n|u\{a\})echo two' < 'yes\\u\{a\}'$/);
    expect([why, where]).toEqual([
      expect.stringMatching(/runs a program/),
      expect.stringContaining(`in ${join(world.project, 'src')}`),
    ]);
    expect(preview).toEqual(['', expect.stringMatching(/^\| \S+\/sh$/), '| "-c"', ...shown]);
  });
  const shown = ['| "cat; echo one\\necho two"', '| input:', '| yes'];

  it('ATTACK 45, 47: a bare name is never found in the project, also when its folder is on the PATH', async () => {
    expect(await run('git', ['--version'])).toMatch(/^git version/);
    for (const name of ['evil-tool', '.', '..', 'C:evil', 'no such program'])
      expect(await run(name), name).toMatch(/^PROGRAM_NOT_FOUND/);
    expect(world.has('ran')).toBe(false);
  });

  it('runs a program of the project by its path, and shows which', async () => {
    const file = world.write('go.sh', '#!/bin/sh\necho "ran $1"\n', 0o755);
    expect(await run('./go.sh', ['it'])).toBe('ran it');
    expect(ada.asked[0]?.message.split('\n')[0]).toBe(`${file} it`);
  });

  it('ATTACK 52: a program outside the roots, or behind a link that leads there, is not asked about', async () => {
    symlinkSync('/bin/sh', join(world.project, 'sh'));
    world.write('text', 'echo');
    mkdirSync(join(world.project, 'folder'));
    for (const [name = '', code = ''] of [
      ['/bin/sh', 'PATH_OUTSIDE_ROOTS'],
      ['./sh', 'PATH_OUTSIDE_ROOTS'],
      ['../../bin/sh', 'PATH_OUTSIDE_ROOTS'],
      ['./missing', 'PATH_NOT_FOUND'],
      ['./folder', 'PATH_NOT_REGULAR'],
      ['./text', 'ARG_INVALID'],
      ['/proc/self/exe', 'PATH_PROTECTED'],
    ])
      expect(await run(name, ['-c', 'touch ran']), name).toMatch(new RegExp(`^${code}`));
    expect(await run('ls', [], { cwd: '/etc' })).toMatch(/^PATH_OUTSIDE/);
    expect(await run('true', ['a\0b'])).toMatch(/^ARG_INVALID: args\[0\]/);
    expect(ada.asked).toEqual([]);
  });

  it('ATTACK 94, 105: has no parameter for variables, a shell, or a yes', async () => {
    for (const extra of [{ env: { LD_PRELOAD: 'x' } }, { shell: true }, { confirm: true }, { args: 'a b' }])
      expect(await run('true', [], extra)).toMatch(/^ARG_INVALID/);
    expect(ada.asked).toEqual([]);
  });

  it('ATTACK 95: a program gets none of our own variables', async () => {
    const said = await run('env');
    expect(said).toContain('HOME=');
    expect(said).not.toContain('hunter2');
  });

  it('tells a failure as one', async () => {
    const said = await run('sh', ['-c', 'echo why >&2; exit 3']);
    expect(said).toMatch(/^PROGRAM_FAILED: exit code 3/);
    expect(said).toContain('why');
  });

  it('is offered as what can do anything', async () => {
    const { tools } = await session.client.listTools();
    expect(tools.find(({ name }) => name === 'run_command')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: true,
    });
    const without = await (await world.open()).client.listTools();
    expect(without.tools.map(({ name }) => name)).not.toContain('run_script');
  });
});

describe('run_script', () => {
  const leftOver = () =>
    readdirSync(world.env['TMPDIR'] ?? '').filter((name) => name.startsWith('toolcrib-script-'));

  it.each([
    ['bash', 'pwd; echo "$#"; stat -c %a "$0" "$(dirname "$0")"', /\n0\n600\n700$/],
    ['node', 'console.log(require("node:process").cwd())', /^\//],
    ['node', 'import { cwd } from "node:process";\nconsole.log(cwd())', /^\//],
  ])('runs %s from a file of its own, shows it, and leaves none', async (language, text, expected) => {
    const before = leftOver();
    const said = await script(language, text);
    expect(said).toMatch(expected);
    expect(said).toContain(world.project);
    expect(ada.asked[0]?.message).toContain(
      text
        .split('\n')
        .map((line) => `\n| ${line}`)
        .join(''),
    );
    expect(ada.asked[0]?.form.properties).toEqual({});
    expect(leftOver()).toEqual(before);
  });

  it('writes none that nobody has agreed to, and removes that of one that fails', async () => {
    const before = leftOver();
    expect(await script('bash', 'exit 4')).toMatch(/^PROGRAM_FAILED: exit code 4/);
    ada.will(says.no);
    expect(await script('bash', 'touch ran')).toMatch(/^NOT_CONFIRMED/);
    expect(leftOver()).toEqual(before);
    expect(world.has('ran')).toBe(false);
  });

  it('takes no interpreter from the project', async () => {
    expect(await script('powershell', '1')).toMatch(/^PROGRAM_NOT_FOUND/);
  });

  it('ATTACK 93: counts what is too long to be shown, and lets nothing last about it', async () => {
    ada.will(says.no);
    const long = `${'#\n'.repeat(4000)}touch ran\n${'#\n'.repeat(4000)}`;
    await run('sh', ['-c', long]);
    await run('tool', [], { input: long });
    await script('bash', long);
    for (const { message, form } of ada.asked) {
      expect(message).toMatch(/⟨\d\d,\d{3} characters (?:are )?left out/);
      expect(form.properties).toEqual({});
    }
    expect(world.has('ran')).toBe(false);
  });
});
