import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
    env: { PATH: `${planted}:${world.env['PATH']}`, MY_SECRET_TOKEN: 'hunter2' },
  });
});
beforeEach(() => {
  ada.will(says.yes);
  // Each begins where nothing is trusted.
  rmSync(join(world.state, 'toolcrib', 'trust'), { recursive: true, force: true });
});
afterAll(() => world.end());

const run = async (command: string, args?: readonly string[], more: object = {}): Promise<string> =>
  (await session.does({ name: 'run', arguments: { command, ...(args && { args }), ...more } })).text;

describe('run', () => {
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
      expect.stringContaining(`In ${join(world.project, 'src')}`),
    ]);
    expect(preview).toEqual(['', '| "-c"', ...shown]);
  });
  const shown = ['| "cat; echo one\\necho two"', '| input:', '| yes'];

  it('ATTACK 45, 47: a bare name is never found in the project, not even on the PATH', async () => {
    expect(await run('git', ['--version'])).toMatch(/^git version/);
    for (const name of ['evil-tool', '.', '..', 'C:evil', 'no such program'])
      expect(await run(name, []), name).toMatch(/^PROGRAM_NOT_FOUND/);
    expect(world.has('ran')).toBe(false);
  });

  it('runs a program of the project by its path, and shows which', async () => {
    const file = world.write('go.sh', '#!/bin/sh\necho "ran $1"\n', 0o755);
    expect(await run('./go.sh', ['it'])).toBe('ran it');
    expect(ada.asked[0]?.message.split('\n')[0]).toBe(`Trust ${world.project}?`);
    expect(ada.asked[0]?.message).toContain(`For ${file} it: `);
  });

  it('ATTACK 52: asks about no program outside the roots, or behind a link that leads there', async () => {
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

  it('ATTACK 95: gives a program none of our own variables', async () => {
    const said = await run('env');
    expect(said).toContain('HOME=');
    expect(said).not.toContain('hunter2');
  });

  it('reports the failure of a program as one', async () => {
    expect(await run('sh', ['-c', 'echo out; echo why >&2; exit 3'])).toMatch(
      /^exit 3\n(?:out\nwhy|why\nout)$/,
    );
    expect(await run('sh', ['-c', 'kill -9 $$'])).toBe('killed by a signal');
    expect(await run('true')).toBe('done, no output');
  });
});

describe('a line of run', () => {
  const firstLine = () => ada.asked[0]?.message.split('\n')[0];

  it('is connected, and asked about as a whole, once', async () => {
    world.write('src/words.txt', 'b\na\nc\n');
    const line = `cd src && LC_ALL=C sort words.txt | head -2 && printf '%s %s' x "y z"`;
    expect(await run(line)).toBe('a\nb\nx y z');
    expect(ada.asked).toHaveLength(1);
    expect(firstLine()).toBe(`LC_ALL=C sort words.txt | head -2 && printf '%s %s' x 'y z'`);
    expect(ada.asked[0]?.message).toContain(`\nIn ${join(world.project, 'src')}`);
    expect(await run(`sh -c 'echo a; echo b >&2' 2>&1 | sort -r`)).toBe('b\na');
    expect(await run('cat | tr a-z A-Z', undefined, { input: 'loud' })).toBe('LOUD');
  });

  it('stops where a program fails, and names it', async () => {
    expect(await run('sh -c "echo x; exit 3" && touch ran')).toBe(
      `exit 3 from sh -c 'echo x; exit 3'; what stands behind && was not run\nx`,
    );
    expect(await run('sh -c "exit 3" | cat && touch ran')).toMatch(/^exit 3 from sh -c 'exit 3'; /);
    expect(await run('seq 100000 | head -1')).toBe('1');
    expect(await run('true && no-such-program-here && touch ran')).toMatch(/^PROGRAM_NOT_FOUND: command: /);
    expect(world.has('ran')).toBe(false);
  });

  it('is refused with the token, its place and the way, and nobody is asked', async () => {
    for (const [line = '', says = /^/] of [
      ['echo a; touch ran', /^ARG_INVALID: command: ";" at character 7 is not understood\. Join with &&/],
      ['touch ran > out', /^ARG_INVALID: command: ">" at character 11 .*write_file/],
      ['touch ran &', /^ARG_INVALID: command: "&" at character 11 .*background: true/],
      ['touch $(id)', /^ARG_INVALID: command: "\$\(" at character 7 /],
      ['touch *.ts', /^ARG_INVALID: command: "\*" at character 7 .*list_files/],
      ['cd /etc && ls', /^PATH_OUTSIDE_ROOTS/],
      ['cd .. && ls', /^PATH_OUTSIDE_ROOTS/],
      ['ls && cd src && ls', /^ARG_INVALID: command: "cd" at character 7 /],
      ['touch ran\ntouch ran', /^ARG_INVALID: command: "\\n" at character 10 /],
      ['touch\u00a0ran', /^ARG_INVALID: command: "U\+00A0" at character 6 /],
      [Array.from({ length: 50 }, () => 'cat').join(' | '), /^ARG_INVALID: command: "\|" .*16 programs/],
      ['echo '.repeat(30_000), /^ARG_INVALID: command: /],
    ] as const)
      expect(await run(line), line).toMatch(says);
    expect(ada.asked).toEqual([]);
    expect(world.has('ran')).toBe(false);
  });

  it("runs the project's own copy of a program, and shows which", async () => {
    const tool = (path: string) => {
      const file = world.write(path, `#!/bin/sh\necho own $0 $1\n`, 0o755);
      chmodSync(file, 0o755);
      return file;
    };
    const eslint = tool('node_modules/.bin/eslint');
    const other = tool('node_modules/.bin/some-tool-of-it');
    tool('node_modules/.bin/ls');
    tool('node_modules/.bin/git');
    mkdirSync(join(world.project, 'src', 'deep'), { recursive: true });
    expect(await run('eslint x', undefined, { cwd: 'src/deep' })).toBe(`own ${eslint} x`);
    expect(ada.asked[0]?.message).toContain(`${eslint} x`);
    expect(await run('some-tool-of-it')).toBe(`own ${other}`);
    expect(await run('git --version')).toMatch(/^git version/);
    expect(await run('ls src/words.txt')).toBe('src/words.txt');
  });

  it('keeps what is left out, and shows the end alone when asked to', async () => {
    expect(await run('seq 3', undefined, { tail: 2 })).toBe(
      '[1 line left out; read_output id=seq-2 has all]\n2\n3',
    );
    expect(await run('seq 3', undefined, { tail: 3 })).toBe('1\n2\n3');
    const said = await run('seq 20000');
    expect(said).toMatch(
      /^1\n2\n[^]*\n\[… [\d,]+ lines left out; read_output id=seq-4 has all\]\n[^]*\n20000$/,
    );
    expect(said.length).toBeLessThan(17_000);
  });

  it('ends a program that takes longer than it may', async () => {
    expect(await run('sleep 30 | cat', undefined, { timeout: 1 })).toMatch(
      /^TIMEOUT: ended, .* after \d+\.\d s$/,
    );
    expect(await run(`sh -c 'echo x; exec sleep 30' | head -1`)).toBe('x');
  });

  it('ATTACK 93: counts what is too long to be shown, and lets no answer last about it', async () => {
    ada.will(says.no);
    const long = `${'#\n'.repeat(4000)}touch ran\n${'#\n'.repeat(4000)}`;
    await run('sh', ['-c', long]);
    await run('tool', [], { input: long });
    await run(`printf '${long}' | cat`);
    for (const { message, form } of ada.asked) {
      expect(message).toMatch(/^\(\d\d,\d{3} characters, the end is not shown\) /);
      expect(Object.keys(form.properties ?? {})).toEqual(['trust']);
    }
    expect(world.has('ran')).toBe(false);
  });

  it('is decided about program by program', async () => {
    const decided = async (line: string, ...rules: string[]) => {
      const who = person(says.no);
      const args = rules.flatMap((one) => ['--rule', one]);
      const one = await world.open({ person: who, args });
      const { text } = await one.does({ name: 'run', arguments: { command: line } });
      await one.client.close();
      return `${/^[A-Z_]+(?=:)/.exec(text)?.[0] ?? text} ${who.asked.length}`;
    };
    const line = 'A=1 echo a | tail -1 && printf b';
    expect(await decided(line, 'run(printf *)=deny', 'run=allow')).toBe('EFFECT_DENIED 0');
    expect(await decided(line, 'run(echo a)=deny', 'run=allow')).toBe('EFFECT_DENIED 0');
    expect(await decided(line, 'run(tail *)=deny', 'run=allow')).toBe('EFFECT_DENIED 0');
    expect(await decided(line, 'run(printf b)=ask', 'run=allow')).toBe('NOT_CONFIRMED 1');
    expect(await decided(line, 'run(A=1 echo *)=allow', 'run(tail *)=allow', 'run(printf b)=allow')).toBe(
      'a\nb 0',
    );
    expect(await decided(line, 'run(A=1 echo *)=allow')).toBe('NOT_CONFIRMED 1');
    // What is joined to a program, or set for it, is not what was allowed.
    expect(await decided(line, 'run(echo *)=allow', 'run(printf b)=allow')).toBe('NOT_CONFIRMED 1');
    expect(await decided('echo a && touch ran', 'run(echo *)=allow')).toBe('NOT_CONFIRMED 1');
  });

  it('needs no more than trust where its programs only print what is in the roots', async () => {
    const who = person(says.yes);
    const one = await world.open({ person: who, args: ['--rule', 'run(wc *)=deny'] });
    const outside = join(world.bin, 'secret.txt');
    writeFileSync(outside, 'outside');
    symlinkSync(outside, join(world.project, 'link.txt'));
    symlinkSync(world.bin, join(world.project, 'away'));
    world.write('log.txt', 'b\na\nb\n');
    const said = async (command: string) => (await one.does({ name: 'run', arguments: { command } })).text;
    expect(await said(`grep -v x log.txt | sort -rn -k1,1 | uniq -c | head -1`)).toBe('      2 b');
    expect(who.asked[0]?.message).toMatch(/^Trust /);
    who.will(says.no);
    expect(await said(`grep -v x log.txt | sort -rn -k1,1 | uniq -c | head -1`)).toBe('      2 b');
    expect(who.asked).toEqual([]);
    expect(await said('wc -l log.txt')).toMatch(/^EFFECT_DENIED/);
    for (const command of [
      'sort -o log.txt log.txt',
      'sort --compress-program=./evil log.txt',
      'sort -T/ log.txt',
      'uniq log.txt ran',
      'cat link.txt',
      'cat away/secret.txt',
      'cat away/../secret.txt',
      `cat ${outside}`,
    ])
      expect(await said(command), command).toMatch(/^NOT_CONFIRMED/);
    expect(who.asked).toHaveLength(8);
    await one.client.close();
    const kept = await world.open({ person: who, args: ['--rule', 'read(**/log.txt)=deny'] });
    const keptSays = async (command: string) =>
      (await kept.does({ name: 'run', arguments: { command } })).text;
    for (const command of ['cat log.txt', 'cat ./src/../log.txt', 'node --eval=1 log.txt'])
      expect(await keptSays(command), command).toMatch(/^EFFECT_DENIED: .*log\.txt/);
    for (const command of ['grep -r b', 'grep --rec b', 'find . -name x', 'cat README.md'])
      expect(await keptSays(command), command).toMatch(/^NOT_CONFIRMED/);
    expect(await keptSays('echo a | tail -1')).toBe('a');
    await kept.client.close();
  });

  it('starts what a program before it has made', async () => {
    expect(await run(`sh -c 'echo echo made > made.sh && chmod +x made.sh' && ./made.sh`)).toBe('made');
    expect(firstLine()).toContain('made.sh');
    expect(await run('true && ./missing.sh && touch ran')).toMatch(
      /^PROGRAM_NOT_FOUND: could not be started/,
    );
    expect(await run('true && ../../missing.sh')).toMatch(/^PATH_OUTSIDE_ROOTS/);
    expect(world.has('ran')).toBe(false);
  });

  it('is asked about no more after "always" to exactly this line', async () => {
    writeFileSync(join(world.bin, 'tool'), '#!/bin/sh\necho tool "$@"\n', { mode: 0o755 });
    const who = person(says.trust, says.always);
    const one = await world.open({ person: who });
    const says2 = async (command: string) => (await one.does({ name: 'run', arguments: { command } })).text;
    await says2('tool clean');
    const line = 'tool build x 2>&1 | grep -v y | head -2 && tool build y';
    await says2(line);
    expect(who.asked[1]?.form.properties?.['always']).toMatchObject({
      enum: ['this time', 'always: exactly this, in this folder'],
    });
    expect(await says2(line)).toContain('tool build y');
    expect(who.asked).toHaveLength(2);
    who.will(says.no);
    for (const command of [
      'tool build x',
      'tool build y',
      `A=1 ${line}`,
      line.replace(' 2>&1', ''),
      `${line} && tool clean`,
      `cd src && ${line}`,
      'tool clean',
    ])
      expect(await says2(command), command).toMatch(/^NOT_CONFIRMED/);
    await one.client.close();
  });
});

it('is called by the names that hosts have for their own tools', async () => {
  const call = async (name: string, given: object) =>
    (await session.does({ name, arguments: given as Record<string, unknown> })).text;
  const claude = { command: 'echo hi', description: 'Says hi', timeout: 120_000, run_in_background: 'false' };
  expect(await call('Bash', claude)).toBe('hi');
  expect(await call('exec_command', { cmd: 'pwd', workdir: 'src', timeout_ms: 10_000 })).toBe(
    join(world.project, 'src'),
  );
  expect(await call('shell', { command: ['printf', '%s|', 'a b', "it's"] })).toBe("a b|it's|");
  expect(await call('run', { command: 'printf', args: '["%s", "*"]', tail: '5' })).toBe('*');
  expect(await call('BashOutput', { bash_id: 'dev-1' })).toMatch(/^NOT_FOUND: id: /);
});
