import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectWithPerson, person, type Person } from '../support/person.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { connect, eras, inherited, program, type Era } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { rawClient } from './raw-client.ts';

type Call = (name: string, args?: Record<string, unknown>) => Promise<string>;

async function calling(open: Promise<Client>): Promise<Call> {
  const client = await open;
  onTestFinished(() => client.close());
  return async (name, args = {}) => textOf(await client.callTool({ name, arguments: args }));
}

/** A server on an own state folder, and somebody who is asked. */
const withPerson = (era: Era, who: Person, root: string, args: string[] = [], env = {}): Promise<Call> =>
  calling(
    connectWithPerson(era, who, {
      roots: [root],
      args,
      env: { ...inherited(), XDG_STATE_HOME: temporaryFolder(), ...env },
    }),
  );

/** A search path on which git, which only the checkpoint starts here, first does something to the project once it is armed. */
function changingGit(change: string): { env: Record<string, string>; arm(): void } {
  const folder = temporaryFolder();
  const armed = join(folder, 'armed');
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  const text = `#!/bin/sh\nif [ -e '${armed}' ]; then rm '${armed}'; ${change}; fi\nexec '${git}' "$@"\n`;
  writeFileSync(join(folder, 'git'), text);
  chmodSync(join(folder, 'git'), 0o755);
  const env = { PATH: `${folder}:${process.env['PATH']}`, SHELL: '/bin/false' };
  return { env, arm: () => writeFileSync(armed, '') };
}

describe.each(eras)('what a person has agreed to, with a client of %s', (era) => {
  it('is asked about anew when it changes while the checkpoint is taken', async () => {
    const { folder, write } = temporaryRepository();
    const makefile = write('Makefile', 'all:\n\t@echo good\n');
    const { env, arm } = changingGit(`printf 'all:\\n\\t@echo EVIL\\n' > '${makefile}'`);
    const ada = person('yes', 'no');
    const call = await withPerson(
      era,
      (asked) => {
        arm();
        return ada(asked);
      },
      folder,
      [],
      env,
    );
    expect(await call('make_run')).toMatch(/^NOT_CONFIRMED/);
    expect(ada.asked.map(({ message }) => /echo (\w+)/.exec(message)?.[1])).toEqual(['good', 'EVIL']);
  });

  it('is asked about anew when a command that "always" was said to has become another', async () => {
    const { folder, write } = temporaryRepository();
    const tool = write('tool.sh', '#!/bin/sh\necho good\n');
    chmodSync(tool, 0o755);
    const { env, arm } = changingGit(`printf '#!/bin/sh\\necho EVIL\\n' > '${tool}'`);
    const ada = person('always', 'no');
    const call = await withPerson(era, ada, folder, [], env);
    expect(await call('run_command', { program: './tool.sh' })).toMatch(/^good/);
    arm();
    expect(await call('run_command', { program: './tool.sh' })).toMatch(/^NOT_CONFIRMED/);
    expect(ada.asked).toHaveLength(2);
    writeFileSync(tool, '#!/bin/sh\necho good\n');
    expect(await call('run_command', { program: './tool.sh' })).toMatch(/^good/);
    expect(ada.asked).toHaveLength(2);
  });

  it('is one command line, and never code that came with another call', async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, 'tool.py'), 'print("of the project")\n');
    const ada = person('always', 'always', 'no');
    const call = await withPerson(era, ada, root, ['--rule', 'run_command=deny']);
    for (const _ of [1, 2]) await call('python_run_module', { module: 'unittest' });
    expect(ada.asked[0]?.choices['always']).toContain('this very command in this folder');
    const code = ['-n1', '-r1', "open('ran', 'w')"];
    for (const _ of [1, 2]) await call('python_run', { file: 'tool.py' });
    expect(ada.asked).toHaveLength(2);
    for (const [name, given] of [
      ['python_run_module', { module: 'timeit', args: code }],
      ['python_run_module', { module: 'unittest', args: ['-v'] }],
      ['python_run', { file: 'tool.py', args: ['-v'] }],
    ] as const)
      expect(await call(name, given)).toMatch(/^NOT_CONFIRMED/);
    expect(ada.asked).toHaveLength(5);
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });

  it('does not reach from a trusted project to code that the caller writes', async () => {
    const root = temporaryFolder();
    const write = (path: string, text: string) => {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    write('Makefile', 'all:\n\t@echo $(CC)\n');
    write('own/__init__.py', '');
    write('own/tool.py', 'print("own")\n');
    write('test_it.py', '');
    // Without __init__.py Python takes its own; and a link is none of the project's files.
    write('timeit/__main__.py', '');
    symlinkSync(
      execFileSync('python3', ['-c', 'import pdb; print(pdb.__file__)'], { encoding: 'utf8' }).trim(),
      join(root, 'pdb.py'),
    );
    write('runpy.py', '');
    const ada = person('trust', 'no');
    const call = await withPerson(era, ada, root);
    await call('make_run');
    expect(ada.asked).toHaveLength(1);
    for (const [name, given] of [
      ['make_run', { variables: ['CC=gcc', 'V=1'] }],
      ['python_run_module', { module: 'unittest' }],
      ['python_run_module', { module: 'own.tool' }],
      ['python_run', { file: 'own/tool.py', args: ['x'] }],
    ] as const)
      expect(await call(name, given)).not.toMatch(/^NOT_CONFIRMED/);
    expect(ada.asked).toHaveLength(1);
    const asked: readonly (readonly [string, Record<string, unknown>])[] = [
      ...['timeit', 'code', 'runpy', 'pdb', 'cProfile', 'venv', 'pip', 'idlelib.idle', 'coverage'].map(
        (module) => ['python_run_module', { module, args: ['x'] }] as const,
      ),
      ['make_run', { variables: ['CC=touch ran'] }],
      ['make_run', { variables: ['V=1', 'CC=/bin/sh'] }],
    ];
    for (const [name, given] of asked)
      expect(await call(name, given), JSON.stringify(given)).toMatch(/^NOT_CONFIRMED/);
    expect(ada.asked).toHaveLength(1 + asked.length);
    expect(ada.asked.at(-1)?.message).toContain('a program that none of the actions describes');
  });

  it('is all shown: what would be cut is refused, and runs only where nobody is asked', async () => {
    const root = temporaryFolder();
    const filler = Array.from({ length: 400 }, () => 'pass # fine');
    const hidden = { module: 'timeit', args: ['-n1', '-r1', ...filler, "open('ran', 'w')", ...filler] };
    const ada = person('yes');
    const call = await withPerson(era, ada, root);
    expect(await call('python_run_module', hidden)).toMatch(/^TOO_LARGE/);
    expect(ada.asked).toEqual([]);
    const started = await call('start_job', {
      tool: 'run_command',
      arguments: { program: 'sh' },
      input: true,
    });
    const job = /job (\w+)/.exec(started)?.[1];
    const text = `${'true\n'.repeat(2000)}touch ran\n${'true\n'.repeat(2000)}`;
    expect(await call('write_job', { job, text })).toMatch(/^TOO_LARGE/);
    expect(ada.asked).toHaveLength(1);
    expect(await call('write_job', { job, text: 'exit\n', end: true })).toMatch(/^Written/);
    expect(ada.asked.at(-1)?.message).toContain('| exit');
    expect(existsSync(join(root, 'ran'))).toBe(false);
    const allowed = await withPerson(era, person('no'), root, ['--rule', 'python_run_module=allow']);
    await allowed('python_run_module', hidden);
    expect(existsSync(join(root, 'ran'))).toBe(true);
  });

  it('writes to a job by the rules of the folder the job is in', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'sub'));
    writeFileSync(join(root, 'sub/.toolcrib.json'), '{"rules":{"write_job":"deny"}}');
    const call = await withPerson(era, person('yes'), root);
    const given = { tool: 'run_command', arguments: { program: 'cat', cwd: 'sub' }, input: true };
    const job = /job (\w+)/.exec(await call('start_job', given))?.[1];
    expect(await call('write_job', { job, text: 'hi\n', end: true })).toMatch(
      /^EFFECT_DENIED: .*sub\/\.toolcrib\.json/,
    );
  });
});

describe('the settings of a subfolder', () => {
  it('count for whatever a call names in it', async () => {
    const { folder, write } = temporaryRepository();
    const denies = '{"effects":{"read":"deny","write":"deny","execute":"deny"}}';
    for (const place of ['sub', 'a/sub']) {
      write(`${place}/.toolcrib.json`, denies);
      write(`${place}/x.py`, 'open("ran", "w")\n# SECRET');
      write(`${place}/Makefile`, 'all:\n');
    }
    symlinkSync('../README.md', join(folder, 'sub/link'));
    symlinkSync('sub/x.py', join(folder, 'out'));
    mkdirSync(join(folder, 'free'));
    const call = await calling(
      connect('2026-07-28', {
        roots: [folder],
        args: ['--allow', 'execute,destroy', '--when-unasked', 'allow'],
      }),
    );
    const refused: [string, Record<string, unknown>][] = ['sub', 'a/sub'].flatMap((place): typeof refused => [
      ['list_directory', { path: place }],
      ['grep', { pattern: 'SECRET', path: place }],
      ['glob', { pattern: '*', path: place }],
      ['read_file', { path: `${place}/x.py` }],
      ['read_files', { paths: ['README.md', `${place}/x.py`] }],
      ['make_targets', { cwd: place }],
      ['python_run', { file: `${place}/x.py` }],
      ['python_check', { file: `${place}/x.py` }],
      ['git_add', { paths: ['README.md', `${place}/x.py`] }],
      ['git_blame', { path: `${place}/x.py` }],
      ['git_add', { cwd: 'free', paths: [`../${place}/x.py`] }],
      ['move_path', { from: 'README.md', to: `${place}/README.md` }],
    ]);
    for (const [name, given] of [
      ...refused,
      ['read_file', { path: 'out' }],
      ['delete_path', { path: 'sub/link' }],
    ] as const)
      expect(await call(name, given), `${name} ${JSON.stringify(given)}`).toMatch(/^EFFECT_DENIED/);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(await call('read_file', { path: 'README.md' })).toContain('A line.');
    expect(await call('git_add', { paths: ['README.md'] })).not.toMatch(/^EFFECT_DENIED/);
  });

  it('can take a toolset away there', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'sub'));
    writeFileSync(join(root, 'sub/.toolcrib.json'), '{"toolsets":["git"]}');
    writeFileSync(join(root, 'sub/x'), 'text');
    const call = await calling(connect('2026-07-28', { roots: [root] }));
    expect(await call('read_file', { path: 'sub/x' })).toMatch(/^EFFECT_DENIED: .*toolset/);
  });

  it('make one question of all that is asked', async () => {
    const root = temporaryFolder();
    for (const place of ['one', 'two']) {
      mkdirSync(join(root, place));
      writeFileSync(join(root, place, '.toolcrib.json'), '{"rules":{"read_files":"ask"}}');
      writeFileSync(join(root, place, 'x'), place);
    }
    const ada = person('yes');
    const call = await withPerson('2026-07-28', ada, root);
    expect(await call('read_files', { paths: ['one/x', 'two/x'] })).toContain('two');
    expect(ada.asked).toHaveLength(1);
  });
});

it('asks about code of each project that a call would run', async () => {
  const [here, there] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(there, 'x.py'), 'print("there")');
  writeFileSync(join(here, 'Makefile'), 'all:\n\ttrue\n');
  const ada = person('trust', 'no');
  const call = await calling(
    connectWithPerson('2026-07-28', ada, {
      roots: [here, there],
      env: { ...inherited(), XDG_STATE_HOME: temporaryFolder() },
    }),
  );
  await call('make_run');
  expect(await call('python_run', { file: join(there, 'x.py') })).toMatch(/^NOT_CONFIRMED/);
  expect(ada.asked).toHaveLength(2);
});

it.each(['read_file(*secret*)', 'write_file(*)', '*(*secret*)'])(
  'refuses the rule %s, which would never fit',
  async (pattern) => {
    const root = temporaryFolder();
    const env = { ...inherited(), XDG_CONFIG_HOME: temporaryFolder() };
    const start = () =>
      execFileSync(process.execPath, [program, 'serve', '--root', root, '--rule', `${pattern}=deny`], {
        encoding: 'utf8',
        env,
        stdio: 'pipe',
        input: '',
      });
    expect(start).toThrow(/has no command line/);
    writeFileSync(join(root, '.toolcrib.json'), JSON.stringify({ rules: { [pattern]: 'deny' } }));
    expect(() =>
      execFileSync(process.execPath, [program, 'serve', '--root', root], { env, stdio: 'pipe', input: '' }),
    ).toThrow(/\.toolcrib\.json.*has no command line/s);
  },
);

it('gives actions that only read a file a command line that rules can be about', async () => {
  const root = temporaryFolder();
  writeFileSync(join(root, 'Makefile'), 'all:\n');
  const args = ['--rule', 'make_targets(*)=deny'];
  const call = await calling(connect('2026-07-28', { roots: [root], args }));
  expect(await call('make_targets')).toMatch(/^EFFECT_DENIED/);
});

it.each(eras)('calls arguments that are nested too deep what they are: %s', async (era) => {
  const client = await rawClient(era, { roots: [temporaryFolder()] });
  onTestFinished(() => client.end());
  // As text: what makes JSON of it has the same trouble.
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  client.server.send = (message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message }).replace('"DEEP"', deep);
    client.server.child.stdin.write(`${text}\n`);
  };
  for (const [name, given] of [
    ['git_log', { paths: 'DEEP' }],
    ['run_command', { program: 'true', args: 'DEEP' }],
    ['start_job', { tool: 'git_log', arguments: { paths: 'DEEP' } }],
    ['list_programs', { x: 'DEEP' }],
  ] as const) {
    const { result, error } = await client.call(name, given);
    expect(error).toBeUndefined();
    expect(result?.content?.[0]?.text).toMatch(/^ARG_INVALID: arguments: are nested/);
  }
});
