import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lasting, person, reading, says, type Person } from '../guarantees/person.ts';
import { makeRepository, makeWorld, type World } from '../guarantees/world.ts';
import { connectV1WithPerson, connectWithPerson, type Asked } from '../support/person.ts';
import { connect, connectV1, eras, type ServerOptions } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';

type Given = Record<string, unknown>;
interface Called {
  callTool(call: { name: string; arguments: Given }, ...more: never[]): Promise<unknown>;
  close(): Promise<void>;
}
type Call = (name: string, given?: Given) => Promise<string>;

const run = "import { appendFileSync } from 'node:fs';\nappendFileSync('ran', process.argv[2] ?? 'ran');\n";
/** A project, and a program of the machine that prints its arguments. */
function shop(): World {
  const world = makeWorld({ 'run.mjs': run, '.gitignore': 'ran\ninner\n' });
  for (const name of ['tool', ...runners])
    writeProgram(join(world.bin, name), `echo ${name} "$@"; printf %s "$1" >> ran`);
  return world;
}
const writeProgram = (file: string, text: string) =>
  execFileSync('sh', ['-c', 'printf "#!/bin/sh\\n%s\\n" "$1" > "$0" && chmod 755 "$0"', file, text]);
/** Programs that run what they are given. */
const runners = ['bash', 'python3.12', 'perl', 'env', 'xargs', 'ssh', 'sudo', 'timeout', 'busybox'];

const options = (world: World, args: readonly string[] = []): ServerOptions => ({
  roots: [world.project],
  args: ['--no-checkpoints', ...args],
  env: { ...world.env },
  cwd: world.project,
});
const calling =
  (client: Called): Call =>
  async (name, given = {}) =>
    textOf(await client.callTool({ name, arguments: given }));
/** The mark of what ran since the last look. */
function ran(world: World, folder = ''): string {
  const said = world.has(join(folder, 'ran')) ? world.read(join(folder, 'ran')) : '';
  rmSync(join(world.project, folder, 'ran'), { force: true });
  return said;
}

type Connect = (who: Person, options: ServerOptions) => Promise<Called>;
const clients: Readonly<Record<string, Connect>> = {
  ...Object.fromEntries(
    eras.map((era): [string, Connect] => [era, (who, given) => connectWithPerson(era, who.answer, given)]),
  ),
  'the first SDK': (who, given) => connectV1WithPerson(who.answer, given),
};

/** A shop, and a person behind a client; called while tests are collected. */
function personBehind(connectTo: Connect) {
  const world = shop();
  const ada = person();
  let client: Called;
  beforeAll(async () => {
    client = await connectTo(ada, options(world));
  });
  beforeEach(() => {
    ada.will(says.no);
    ran(world);
    // Nobody has trusted anything.
    rmSync(join(world.state, 'toolcrib', 'trust'), { recursive: true, force: true });
  });
  afterAll(async () => {
    await client.close();
    await world.end();
  });
  const call: Call = (name, given) => calling(client)(name, given);
  const tool = (...args: string[]) => call('run', { command: 'tool', args });
  const message = () => ada.asked[0]?.message ?? '';
  return { world, ada, call, tool, message };
}

describe.each(Object.entries(clients))('a person behind a client of %s', (_, connectTo) => {
  const { world, ada, call, tool, message } = personBehind(connectTo);

  it('is asked in three lines, and declines or closes the window to say no', async () => {
    ada.will(says.no, says.nothing);
    for (const _time of [1, 2]) expect(await call('node_run', { file: 'run.mjs' })).toMatch(/^NOT_CONFIRMED/);
    expect(message().split('\n').slice(0, 3)).toEqual([
      `Trust ${world.project}?`,
      'Its code may run, install packages, use the network, write with git.',
      'For node run.mjs: it runs code of this folder',
    ]);
    expect(ada.asked[0]?.form).toEqual({ type: 'object', properties: {} });
    expect(ran(world)).toBe('');
  });

  it('is not there when the answer comes faster than anybody reads', async () => {
    const atOnce = [says.noAtOnce, () => ({ action: 'cancel' }) as const, says.yesAtOnce];
    for (const answer of atOnce) {
      ada.will(answer);
      // Where the machine is too busy to say so at once, it is somebody's answer.
      await until(async () => {
        rmSync(join(world.state, 'toolcrib', 'trust'), { recursive: true, force: true });
        ran(world);
        return /^NEEDS_CONFIRM: .*nobody was there/.test(await call('node_run', { file: 'run.mjs' }));
      });
      expect(ran(world)).toBe('');
    }
    ada.will(says.no);
    expect(await call('node_run', { file: 'run.mjs' })).toMatch(/^NOT_CONFIRMED/);
  });

  it('is asked once about a call, for all reasons together, and can trust the folder beside it', async () => {
    world.write('src/a.txt', 'changed\n');
    ada.will(says.trust, says.no);
    await call('git_reset_hard', { ref: 'HEAD' });
    expect(world.read('src/a.txt')).toBe('one\ntwo\nthree\n');
    expect(ada.asked).toHaveLength(1);
    expect(message().split('\n')[0]).toBe('git reset --hard HEAD');
    expect(message()).toMatch(/It can lose work that nothing brings back; it .*not trusted yet/);
    // Trust is kept; that it can lose work is asked about each time.
    await call('node_run', { file: 'run.mjs' });
    expect(ran(world)).toBe('ran');
    expect(await call('git_reset_hard', { ref: 'HEAD' })).toMatch(/^NOT_CONFIRMED/);
    expect(ada.asked).toHaveLength(2);
  });

  it('is asked no more after "always" about this action with all its values, in this folder', async () => {
    const reset = () => call('git_reset_hard', { ref: 'HEAD' });
    ada.will(says.trust, says.always, says.no);
    for (const count of [1, 2, 2, 2]) {
      expect(await reset()).not.toMatch(/^N/);
      expect(ada.asked).toHaveLength(count);
    }
    expect(lasting(ada.asked[0] as Asked)).toBe('always: exactly this, in this folder');
    expect(ada.asked[0]?.form.properties?.['always']?.default).toBe('this time');
    expect(await call('git_reset_hard', { ref: 'main' })).toMatch(/^NOT_CONFIRMED/);
    ada.will(says.no);
    const other = await connectTo(ada, options(world));
    expect(await calling(other)('git_reset_hard', { ref: 'HEAD' })).not.toMatch(/^N/);
    await other.close();
  });

  it('answers each of several calls at once for itself', async () => {
    ada.will((question) => (/odd/.test(question.message) ? says.no(question) : says.yes(question)));
    const words = ['even-1', 'odd-2', 'even-3', 'odd-4', 'even-5', 'odd-6'];
    const said = await Promise.all(words.map((word) => tool('say', word)));
    for (const [at, word] of words.entries())
      expect(said[at]).toMatch(word.startsWith('odd') ? /^NOT_CONFIRMED/ : `tool say ${word}`);
    expect(ada.asked).toHaveLength(words.length);
  });
});

describe('a person who is asked about a line', () => {
  const { world, ada, call, tool, message } = personBehind(clients['2026-07-28'] as Connect);

  it('sees the whole act spelled out on the first line, and how much a long one leaves out', async () => {
    const shows = async (...args: string[]) => {
      ada.will(says.no);
      await tool(...args);
      return message().split('\n');
    };
    expect((await shows('one\nin /tmp\u202e', 'a b'))[0]).toBe("tool 'one\\u{a}in /tmp\\u{202e}' 'a b'");
    const [first = '', why, where, empty, ...preview] = await shows(`x${'y'.repeat(3000)}`, 'the-end');
    expect(first).toMatch(/^\(3,\d{3} characters, the end is not shown\) tool xy+ …$/);
    expect(first.length).toBeLessThan(170);
    expect([why, where, empty]).toEqual([
      expect.stringMatching(/^It runs a command/),
      `In ${world.project}`,
      '',
    ]);
    for (const line of preview) expect(line).toMatch(/^\| /);
    expect(preview.join('\n')).toContain('y'.repeat(3000));
  });

  it('can say always to any line that is shown whole, and it holds for that line alone', async () => {
    ada.will(says.trust);
    await tool('first');
    const others: Given[] = [
      ...runners.map((program) => ({ command: program, args: ['build'] })),
      { command: 'tool', args: ['build'], input: 'x' },
      { command: 'tool' },
      { command: 'tool', args: ['-c', 'build'] },
      { command: 'tool', args: ['clean', 'x'.repeat(100)] },
    ];
    for (const given of others) {
      ada.will(says.always, says.no);
      await call('run', given);
      expect(await call('run', given), JSON.stringify(given)).not.toMatch(/^N/);
      const { args = [] } = given as { args?: string[] };
      expect(await call('run', { ...given, args: [...args, 'more'] })).toMatch(/^NOT_CONFIRMED/);
      expect(ada.asked).toHaveLength(2);
    }
    const unsaid = [{ command: 'A=1 tool build' }, { command: 'tool', args: ['clean', 'x'.repeat(500)] }];
    ada.will(says.no);
    for (const given of unsaid) await call('run', given);
    expect(ada.asked.map(lasting)).toEqual(unsaid.map(() => undefined));
  });

  it('is asked again about another folder, and another repository in this one', async () => {
    ada.will(says.yes);
    await call('node_run', { file: 'run.mjs' });
    expect(ran(world)).toBe('ran');
    const inner = join(world.project, 'inner');
    makeRepository(inner, world.env, 'inner');
    world.git('-C', inner, 'remote', 'add', 'origin', 'https://elsewhere.invalid/x.git');
    world.write('inner/run.mjs', run);
    ada.will(says.no);
    expect(await call('node_run', { file: 'run.mjs', cwd: 'inner' })).toMatch(/^NOT_CONFIRMED/);
    expect(message().split('\n')[0]).toBe(`Trust ${inner} from https://elsewhere.invalid/x.git?`);
    expect(await call('run', { command: 'tool', args: ['build'], cwd: 'inner' })).toMatch(/^NOT_CON/);
    expect(await call('node_run', { file: 'inner/run.mjs' })).toMatch(/^NOT_CONFIRMED/);
    expect(await call('run', { command: 'node inner/run.mjs' })).toMatch(/^NOT_CONFIRMED/);
    expect(await call('node_run', { file: 'run.mjs', args: ['x'], cwd: 'src/../inner' })).toMatch(/^NOT_CON/);
    expect(ran(world, 'inner') + ran(world)).toBe('');
    // An ordinary folder below is the same project.
    world.write('src/run.mjs', run);
    ada.will(says.no);
    await call('node_run', { file: 'run.mjs', cwd: 'src' });
    expect(ran(world, 'src')).toBe('ran');
  });
});

describe.each([...eras, 'the first SDK'] as const)('a server that can ask nobody, in %s', (era) => {
  const world = shop();
  const open = (...args: string[]): Promise<Called> =>
    era === 'the first SDK' ? connectV1(options(world, args)) : connect(era, options(world, args));
  afterAll(() => world.end());

  it('refuses with a command that helps, as it is typed here', async () => {
    const client = await open();
    const call = calling(client);
    const untrusted = await call('node_run', { file: 'run.mjs' });
    expect(untrusted).toMatch(/^NEEDS_CONFIRM: .*cannot ask/);
    const [, command = ''] = /What a person can do: (.*)\.$/.exec(untrusted) ?? [];
    expect(command).toMatch(/ trust \//);
    execFileSync('sh', ['-c', `${command} --yes`], { env: world.env, cwd: '/' });
    expect(await call('node_run', { file: 'run.mjs' })).not.toMatch(/^N/);
    const given = { command: 'tool', args: ['say', "it's 1 thing"] };
    const unruled = await call('run', given);
    const [, rule = ''] = /start the server with --rule (.*?), or use a client/.exec(unruled) ?? [];
    const words = execFileSync('sh', ['-c', `printf '%s\\0' ${rule}`], { encoding: 'utf8' }).split('\0');
    expect(words).toHaveLength(2);
    await client.close();
    const ruled = await open('--rule', words[0] ?? '');
    expect(await calling(ruled)('run', given)).toBe("tool say it's 1 thing");
    expect(await calling(ruled)('run', { ...given, args: ['say'] })).toMatch(/^NEEDS_CONFIRM/);
    await ruled.close();
  });
});

describe('a server that is not to ask by itself', () => {
  const world = shop();
  const ada = person(says.yes);
  beforeEach(() => {
    ada.will(says.yes);
    ran(world);
    rmSync(join(world.project, '.envrc'), { force: true });
  });
  afterAll(() => world.end());
  const rules = ['--rule', 'run(tool asks*)=ask', '--rule', 'run(tool never*)=deny'];

  it.each(['host', 'none'] as const)(
    'runs and writes without a question with --questions %s',
    async (mode) => {
      const client = await clients['2026-07-28']?.(ada, options(world, ['--questions', mode, ...rules]));
      const call = calling(client as Called);
      const tool = (...args: string[]) => call('run', { command: 'tool', args });
      await call('node_run', { file: 'run.mjs' });
      expect(ran(world)).toBe('ran');
      expect(await tool('build')).toBe('tool build');
      // A host's own question stands for trust and other lines; what it shows of this is too little.
      const written = await call('write_file', { path: '.envrc', content: mode });
      if (mode === 'host') expect(written).toMatch(/^EFFECT_DENIED: .*--rule '?write\(.*\.envrc\)=allow/);
      else expect(written).not.toMatch(/^[A-Z_]+:/);
      expect(await tool('never')).toMatch(/^EFFECT_DENIED: .*run\(tool never\*\)/);
      expect(await tool('asks')).toMatch(/^EFFECT_DENIED: .*--questions \w+ asks nobody/);
      world.git('config', 'core.fsmonitor', './evil');
      expect(await call('git_status')).toMatch(/^EFFECT_DENIED: .*--questions/);
      world.git('config', '--unset', 'core.fsmonitor');
      expect(await call('git_status')).not.toMatch(/^[A-Z_]+:/);
      expect(ada.asked).toEqual([]);
      await client?.close();
    },
  );
});

describe('files that others run or obey', () => {
  const world = shop();
  const ada = person();
  let call: Call;
  let client: Called;
  beforeAll(async () => {
    client = (await clients['2025-11-25']?.(ada, options(world))) as Called;
    call = calling(client);
    ada.will(says.yes);
    await call('node_run', { file: 'run.mjs' });
  });
  beforeEach(() => ada.will(says.yes));
  afterAll(async () => {
    await client.close();
    await world.end();
  });

  it('are asked about each time, whichever tool it is, also in a folder that is trusted', async () => {
    world.write('plain', 'x\n');
    const tasks = '.vscode/tasks.json';
    const changeIn = (said: string) => /change ([\w-]+)/.exec(said)?.[1];
    const written = await call('write_file', { path: tasks, content: '{\n}\n' });
    await call('edit_file', { path: tasks, old_string: '{', new_string: '{ ' });
    await call('move_path', { from: tasks, to: 'moved.json' });
    await call('move_path', { from: 'moved.json', to: tasks });
    await call('delete_path', { path: tasks });
    await call('move_path', { from: 'plain', to: '.git/hooks/pre-commit' });
    expect(ada.asked).toHaveLength(6);
    expect(ada.asked[0]?.message.split('\n')).toEqual([
      `write ${tasks} (+2 -0)`,
      expect.stringMatching(/^It changes a file that matters elsewhere: /),
      `In ${join(world.project, '.vscode')}`,
      '',
      ...Array.from({ length: 6 }, () => expect.stringMatching(/^\| /) as string),
    ]);
    expect(ada.asked.map(lasting)).toEqual(ada.asked.map(() => undefined));
    await call('write_file', { path: 'ordinary', content: '1' });
    expect(ada.asked).toHaveLength(6);
    const again = await call('write_file', { path: tasks, content: '{}' });
    await call('undo', { since: changeIn(again) });
    expect(world.has(tasks)).toBe(false);
    expect(ada.asked).toHaveLength(8);
    ada.will(says.no);
    expect(await call('undo', { since: changeIn(written) })).not.toMatch(/^Undone/);
    expect(await call('cmake_configure', { build: '.git/hooks' })).toMatch(/^NOT_CONFIRMED/);
    expect(world.has('.git/hooks/CMakeCache.txt')).toBe(false);
  });

  it('are asked about when their names are unreadable', async () => {
    ada.will(says.no);
    const fillers = ['\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u034f', '\u17b4', '\u{e0100}'];
    const blanks = ['\u00a0', '\u202f', '\u3000', '\u2028'];
    const names = ['a\u202etxt.sh', 'a\u0007b', 'a\u{e0041}b', 'a\u200db', 'a\ufe0fb', '\u3164/a.txt'];
    for (const name of [...names, ...[...fillers, ...blanks].map((one) => `a${one}b`)]) {
      expect(await call('write_file', { path: name, content: '' }), name).toMatch(/^NOT_CONFIRMED/);
      expect(world.has(name)).toBe(false);
      expect(ada.asked.at(-1)?.message.split('\n')[0]).toMatch(/\\u\{[0-9a-f]+\}/);
    }
    const asked = ada.asked.length;
    expect(asked).toBe(18);
    // What a picture is made with is seen, and what is there already is opened, by its name.
    world.write('b\u3164/c\u00a0d.txt', 'old');
    for (const name of ['👩‍👩‍👧 ❤️ 1️⃣ 👍🏽.md', 'b\u3164/new.txt', 'b\u3164/c\u00a0d.txt']) {
      await call('read_file', { path: name });
      await call('write_file', { path: name, content: 'new' });
      expect(world.read(name)).toBe('new');
    }
    expect(ada.asked).toHaveLength(asked);
    expect(await call('list_files', {})).toContain('👩‍👩‍👧 ❤️ 1️⃣ 👍🏽.md');
    expect(await call('list_files', { path: 'b\u3164' })).toContain('c\\u{a0}d.txt');
  });

  it('change only where the person has agreed to', async () => {
    const answer = async () => {
      await reading();
      execFileSync('ln', ['-sfn', join(world.project, '.git', 'hooks'), join(world.project, 'swapped')]);
      return { action: 'accept' } as const;
    };
    execFileSync('ln', ['-sfn', '.vscode', join(world.project, 'swapped')]);
    execFileSync('mkdir', ['-p', join(world.project, '.vscode'), join(world.project, '.git', 'hooks')]);
    ada.will(answer);
    expect(await call('write_file', { path: 'swapped/settings.json', content: '{}' })).toMatch(
      /^NOT_CONFIRMED/,
    );
    expect(world.has('.git/hooks/settings.json')).toBe(false);
  });
});
