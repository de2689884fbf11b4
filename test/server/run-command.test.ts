import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ToolcribError } from '../../src/core/errors.ts';
import type { CallContext, PermitRequest, Tool } from '../../src/core/tool.ts';
import { childEnvironment } from '../../src/machine/environment.ts';
import { thisHost } from '../../src/machine/host.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import type { OwnServices } from '../../src/server/own-tools.ts';
import { runCommand } from '../../src/server/tools/run-command.ts';
import { runScript } from '../../src/server/tools/run-script.ts';
import { saidBy } from '../support/call-action.ts';
import { callContext } from '../support/call-context.ts';
import { temporaryFolder } from '../support/repository.ts';
import { connectWithPerson, person } from '../support/person.ts';
import { connect, eras } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

/** What the tools need, with a search path that has nothing but the given folders and the system's. */
function servicesWith(folders: readonly string[] = []): OwnServices {
  const host = thisHost();
  const path = {
    folders: [...folders, '/usr/bin', '/bin'].map((folder) => ({ folder, source: 'PATH' })),
    skipped: [],
  };
  return {
    host,
    run: createProcesses('linux').run,
    discovery: () => Promise.resolve({ path, installed: new Map(), missing: new Map() }),
    environment: (names: readonly string[], settings: Record<string, string>) =>
      childEnvironment(host, path, names, settings),
  } as unknown as OwnServices;
}

interface Given {
  root: string;
  params: Record<string, unknown>;
  says?: 'yes' | 'no';
  context?: Partial<CallContext>;
  folders?: readonly string[];
}

/** Calls a tool with somebody who answers; what they were asked, and what came of it. */
async function ask(make: (services: OwnServices) => Tool, { root, params, says = 'yes', ...rest }: Given) {
  const asked: PermitRequest[] = [];
  const tool = make(servicesWith(rest.folders));
  const context = await callContext([root], {
    permit(request) {
      asked.push(request);
      return says === 'yes'
        ? Promise.resolve()
        : Promise.reject(new ToolcribError('NOT_CONFIRMED', 'They said no.'));
    },
    ...rest.context,
  });
  try {
    const result = await tool.call(tool.params.parse(params), context);
    return { asked, result, said: saidBy(result) };
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    return { asked, result: undefined, said: `${error.code}: ${error.message}` };
  }
}

function script(path: string, text: string): string {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('run_command', () => {
  const command = (given: Given) => ask(runCommand, given);

  it('hands every argument over as it is, without a shell', async () => {
    const root = temporaryFolder();
    const args = ['%s\\n', '$HOME', '`id`', 'a  b', '*', '; touch ran', '', "it's", '-x'];
    const { said, asked } = await command({ root, params: { program: 'printf', args } });
    expect(said).toBe(args.slice(1).join('\n'));
    // Once more right before the start, which is no other question.
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
    expect(readdirSync(root)).toEqual([]);
  });

  it('asks about the exact command, in its folder, with all that it can do', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'sub'));
    const args = ['-c', 'echo one\necho two'];
    const { asked, said } = await command({
      root,
      params: { program: 'sh', args, cwd: 'sub', input: 'yes' },
    });
    expect(said).toBe('one\ntwo');
    expect(asked[0]).toMatchObject({
      asks: 'command',
      effects: ['write', 'execute', 'network', 'destroy'],
      folder: join(root, 'sub'),
      command: "sh -c 'echo one\necho two' < (input)",
      shows: [
        { title: 'Program', text: expect.stringMatching(/\/sh$/) as string, whole: true },
        { title: 'Arguments, one a line', text: '"-c"\n"echo one\\necho two"' },
        { title: 'Argument 2, with its lines', text: 'echo one\necho two' },
        { title: 'Input', text: 'yes', whole: true },
      ],
    });
  });

  it('runs nothing when the answer is no', async () => {
    const root = temporaryFolder();
    const { said } = await command({ root, params: { program: 'touch', args: ['ran'] }, says: 'no' });
    expect(said).toMatch(/^NOT_CONFIRMED/);
    expect(readdirSync(root)).toEqual([]);
  });

  it('keeps "always" for this program, these arguments, this folder, and what the project has in it', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'sub'));
    const file = script(join(root, 'go.sh'), 'echo 1');
    const keyOf = async (params: Record<string, unknown>) =>
      (await command({ root, params })).asked[0]?.always?.key;
    const first = await keyOf({ program: './go.sh' });
    expect(await keyOf({ program: file })).toBe(first);
    const others = [
      await keyOf({ program: './go.sh', args: ['x'] }),
      await keyOf({ program: '../go.sh', cwd: 'sub' }),
      await keyOf({ program: './go.sh', input: 'x' }),
    ];
    script(file, 'echo 2');
    others.push(await keyOf({ program: './go.sh' }));
    expect(new Set([first, ...others]).size).toBe(5);
  });

  it('ATTACK 45, 47: a bare name is never found in the project or the working directory', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'bin'));
    for (const name of ['bin/git', 'git', 'evil-tool']) script(join(root, name), 'touch ran');
    const version = await command({ root, params: { program: 'git', args: ['--version'] } });
    expect(version.said).toMatch(/^git version/);
    for (const program of ['evil-tool', '.', '..', 'C:evil', 'no such program'])
      expect((await command({ root, params: { program } })).said).toMatch(/^PROGRAM_NOT_FOUND/);
    // Also where somebody has put its folder on the search path.
    const folders = [join(root, 'bin')];
    const planted = await command({ root, params: { program: 'git' }, folders });
    expect(planted.said).toMatch(/^PROGRAM_NOT_FOUND.*lies in the project/);
    expect(planted.asked).toEqual([]);
    expect(readdirSync(root)).not.toContain('ran');
  });

  it('runs a program of the project by its path, and shows which', async () => {
    const root = temporaryFolder();
    const file = script(join(root, 'go.sh'), 'echo "ran $1"');
    const { said, asked } = await command({ root, params: { program: './go.sh', args: ['it'] } });
    expect(said).toBe('ran it');
    expect(asked[0]?.command).toBe(`${file} it`);
  });

  it('ATTACK 52: a program outside the roots, or behind a link that leads there, is not started', async () => {
    const root = temporaryFolder();
    symlinkSync('/bin/sh', join(root, 'sh'));
    writeFileSync(join(root, 'text'), 'echo');
    mkdirSync(join(root, 'folder'));
    for (const [program, code] of [
      ['/bin/sh', 'PATH_OUTSIDE_ROOTS'],
      ['./sh', 'PATH_OUTSIDE_ROOTS'],
      ['../../bin/sh', 'PATH_OUTSIDE_ROOTS'],
      ['./missing', 'PATH_NOT_FOUND'],
      ['./folder', 'PATH_NOT_REGULAR'],
      ['./text', 'ARG_INVALID'],
      ['/proc/self/exe', 'PATH_PROTECTED'],
    ]) {
      const { said, asked } = await command({ root, params: { program, args: ['-c', 'touch ran'] } });
      expect(said, program).toMatch(new RegExp(`^${code}`));
      expect(asked).toEqual([]);
    }
    expect((await command({ root, params: { program: 'ls', cwd: '/etc' } })).said).toMatch(/^PATH_OUTSIDE/);
  });

  it('ATTACK 94, 105: has no parameter for variables, a shell, or a yes', () => {
    const { params } = runCommand(servicesWith());
    for (const extra of [{ env: { LD_PRELOAD: 'x' } }, { shell: true }, { confirm: true }])
      expect(params.safeParse({ program: 'ls', ...extra }).success).toBe(false);
    expect(params.safeParse({ program: 'ls', args: 'a b' }).success).toBe(false);
  });

  it('ATTACK 95: a program gets none of our own variables', async () => {
    process.env['MY_SECRET_TOKEN'] = 'hunter2';
    try {
      const { said } = await command({ root: temporaryFolder(), params: { program: 'env' } });
      expect(said).toContain('HOME=');
      expect(said).not.toContain('hunter2');
    } finally {
      delete process.env['MY_SECRET_TOKEN'];
    }
  });

  it('finds the program anew right before the start', async () => {
    const root = temporaryFolder();
    const file = script(join(root, 'go.sh'), 'echo good');
    const keys: (string | undefined)[] = [];
    const permit = ({ always }: PermitRequest) => {
      keys.push(always?.key);
      if (keys.length === 1) script(file, 'echo EVIL');
      return keys.length > 1 && keys[0] !== keys[1]
        ? Promise.reject(new ToolcribError('NOT_CONFIRMED', 'It is another one.'))
        : Promise.resolve();
    };
    const { said } = await command({ root, params: { program: './go.sh' }, context: { permit } });
    expect(said).toMatch(/^NOT_CONFIRMED/);
    expect(keys).toHaveLength(2);
  });

  it('refuses an argument that no program could be given', async () => {
    const { said } = await command({
      root: temporaryFolder(),
      params: { program: 'true', args: ['a\0b'] },
    });
    expect(said).toMatch(/^ARG_INVALID: args\[0\]/);
  });

  it('gives a program its input, and then the end of it', async () => {
    const { said } = await command({ root: temporaryFolder(), params: { program: 'cat', input: 'a\nb' } });
    expect(said).toBe('a\nb');
  });

  it('tells a failure as one', async () => {
    const { result, said } = await command({
      root: temporaryFolder(),
      params: { program: 'sh', args: ['-c', 'echo why >&2; exit 3'] },
    });
    expect(result?.isError).toBe(true);
    expect(said).toMatch(/^PROGRAM_FAILED: exit code 3/);
    expect(said).toContain('why');
  });
});

describe('run_script', () => {
  const run = (given: Given) => ask(runScript, given);
  const leftOver = () => readdirSync(tmpdir()).filter((name) => name.startsWith('toolcrib-script-'));

  it.each([
    ['bash', 'pwd; echo "$#"; stat -c %a "$0" "$(dirname "$0")"', /\n0\n600\n700$/],
    ['node', 'console.log(require("node:process").cwd())', /^\//],
    ['node', 'import { cwd } from "node:process";\nconsole.log(cwd())', /^\//],
  ])('runs %s from a file of its own, and leaves none', async (language, text, expected) => {
    const root = temporaryFolder();
    const before = leftOver();
    const folders = [join(process.execPath, '..')];
    const { said, asked } = await run({ root, params: { language, script: text }, folders });
    expect(said).toMatch(expected);
    expect(said).toContain(root);
    expect(asked[0]).toMatchObject({ asks: 'script', command: `${language} script`, folder: root });
    expect(asked[0]?.shows?.[1]).toEqual({ title: 'Script', text, whole: true });
    expect(asked[0]?.always).toBeUndefined();
    expect(leftOver()).toEqual(before);
  });

  it('removes the script of one that fails, and writes none that nobody has agreed to', async () => {
    const root = temporaryFolder();
    const before = leftOver();
    const refused = await run({ root, params: { language: 'bash', script: 'touch ran' }, says: 'no' });
    expect(refused.said).toMatch(/^NOT_CONFIRMED/);
    const failed = await run({ root, params: { language: 'bash', script: 'exit 4' } });
    expect(failed.said).toMatch(/^PROGRAM_FAILED: exit code 4/);
    expect(leftOver()).toEqual(before);
    expect(readdirSync(root)).toEqual([]);
  });

  it('takes no interpreter from the project', async () => {
    const root = temporaryFolder();
    script(join(root, 'pwsh'), 'touch ran');
    const { said } = await run({ root, params: { language: 'powershell', script: '1' }, folders: [root] });
    expect(said).toMatch(/^PROGRAM_NOT_FOUND/);
    expect(readdirSync(root)).toEqual(['pwsh']);
  });
});

it.each(eras)('ATTACK 93: nobody is asked about what they could not be shown whole: %s', async (era) => {
  const root = temporaryFolder();
  const ada = person('yes');
  const client = await connectWithPerson(era, ada, { roots: [root], args: ['--scripts'] });
  try {
    const long = `${'#\n'.repeat(4000)}touch ran\n${'#\n'.repeat(4000)}`;
    for (const call of [
      { name: 'run_command', arguments: { program: 'sh', args: ['-c', long] } },
      { name: 'run_command', arguments: { program: 'sh', input: long } },
      { name: 'run_script', arguments: { language: 'bash', script: long } },
    ])
      expect(textOf(await client.callTool(call))).toMatch(/^TOO_LARGE/);
    expect(ada.asked).toEqual([]);
    const args = ['-c', `: ${'x'.repeat(4000)}\ntouch ran`];
    await client.callTool({ name: 'run_command', arguments: { program: 'sh', args } });
    expect(ada.asked[0]?.message).toContain(`${'x'.repeat(4000)}\n| touch ran`);
    expect(readdirSync(root)).toEqual(['ran']);
  } finally {
    await client.close();
  }
});

it.each(eras)('is offered by the server as what can do anything, and asks: %s', async (era) => {
  const root = temporaryFolder();
  const client = await connect(era, { roots: [root] });
  try {
    const { tools } = await client.listTools();
    const found = tools.find(({ name }) => name === 'run_command');
    expect(found?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: true,
    });
    expect(tools.map(({ name }) => name)).not.toContain('run_script');
    const call = { name: 'run_command', arguments: { program: 'touch', args: ['ran'] } };
    expect(textOf(await client.callTool(call))).toMatch(/^NEEDS_CONFIRM.*whenUnasked\.command/s);
    expect(readdirSync(root)).toEqual([]);
  } finally {
    await client.close();
  }
});
