import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectV1WithPerson, connectWithPerson, person, type Person } from '../support/person.ts';
import { temporaryRepository, type Repository } from '../support/repository.ts';
import { eras } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { makeHome, type Home } from './home.ts';

type Arguments = Record<string, unknown>;
interface Called {
  callTool(call: { name: string; arguments: Arguments }): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string; _meta?: object | undefined }[] }>;
  close(): Promise<void>;
}
const clients: Readonly<Record<string, (who: Person, home: Home) => Promise<Called>>> = {
  ...Object.fromEntries(
    eras.map((era) => [era, (who: Person, { options }: Home) => connectWithPerson(era, who, options)]),
  ),
  'the first SDK': (who, { options }) => connectV1WithPerson(who, options),
};

const packageJson = (test: string) => JSON.stringify({ name: 'shop', scripts: { test } }, null, 2);
/** Says what it is, and notes that it ran. */
const script = (said: string) => `echo ${said} >> ran`;

describe.concurrent.each(Object.entries(clients))('with a client of %s', (_, connectTo) => {
  let home: Home;
  let repository: Repository;
  let client: Called;
  let who: Person;
  beforeAll(async () => {
    home = makeHome({}, ['--scripts']);
    repository = temporaryRepository(home.project);
    client = await connectTo((asked) => who(asked), home);
  });
  afterAll(async () => {
    await client.close();
    home.end();
  });
  const call = async (name: string, given: Arguments = {}): Promise<string> =>
    textOf(await client.callTool({ name, arguments: given }));
  const inProject = (name: string) => join(home.project, name);
  const read = (name: string) => readFileSync(inProject(name), 'utf8');
  /** How often scripts of the project ran since it was asked last. */
  const ran = (): string[] => {
    const lines = existsSync(inProject('ran')) ? read('ran').split('\n').filter(Boolean) : [];
    rmSync(inProject('ran'), { force: true });
    return lines;
  };

  it.sequential('what can lose work is done as often as somebody agrees to it', async () => {
    const reset = async (ada: Person) => {
      who = ada;
      repository.write('src/a.txt', 'changed\n');
      const said = await call('git_reset_hard', { ref: 'HEAD' });
      return { said, isReset: read('src/a.txt') !== 'changed\n' };
    };
    for (const reply of ['no', { action: 'decline' }, { action: 'cancel' }] as const) {
      const ada = person(reply);
      const { said, isReset } = await reset(ada);
      expect(said).toMatch(/^NOT_CONFIRMED: git_reset_hard was not run/);
      expect(isReset).toBe(false);
      expect(ada.asked).toHaveLength(1);
    }
    const ada = person('yes', 'always', 'no');
    expect((await reset(ada)).isReset).toBe(true);
    expect(ada.asked[0]?.message.split('\n').slice(0, 6)).toEqual([
      'May git_reset_hard do this? You are asked because it can lose work for good.',
      'Command:',
      '| git reset --hard HEAD',
      'Folder:',
      `| ${home.project}`,
      'Effects: write, destroy',
    ]);
    expect(Object.keys(ada.asked[0]?.choices ?? {})).toEqual(['yes', 'always', 'no']);
    for (const count of [2, 2]) {
      expect((await reset(ada)).isReset).toBe(true);
      expect(ada.asked).toHaveLength(count);
    }
  });

  it.sequential('tests of a project run when it is trusted, which ends when its scripts change', async () => {
    repository.write('package.json', packageJson(script('one')));
    const ada = person('no', 'yes', 'trust', 'no', 'always');
    who = ada;
    expect(await call('npm_test')).toMatch(/^NOT_CONFIRMED: npm_test was not run/);
    expect(ran()).toEqual([]);
    const [{ message, choices } = { message: '', choices: {} }] = ada.asked;
    expect(message).toContain('\nCommand:\n| npm test\n');
    expect(message).toMatch(/package\.json \(npm scripts and settings of tools\):\n[^]*echo one >> ran/);
    expect(Object.keys(choices)).toEqual(['yes', 'always', 'trust', 'no']);

    // Yes, this time; trust; and then nobody is asked any more.
    for (const count of [2, 3, 3]) {
      await call('npm_test');
      expect(ran()).toEqual(['one']);
      expect(ada.asked).toHaveLength(count);
    }
    expect(await call('git_log')).toContain('First commit');

    repository.write('package.json', packageJson(script('two')));
    expect(await call('npm_test')).toMatch(/^NOT_CONFIRMED/);
    expect(ran()).toEqual([]);
    const change = ada.asked[3]?.message ?? '';
    expect(change).toContain('package.json, changed since this project was trusted:\n');
    expect(change).toMatch(/\n\| -.*echo one >> ran[^]*\n\| \+.*echo two >> ran/);

    // Always is for what runs as it is now as well.
    for (const count of [5, 5]) {
      await call('npm_test');
      expect(ran()).toEqual(['two']);
      expect(ada.asked).toHaveLength(count);
    }
    repository.write('package.json', packageJson(script('three')));
    who = person('no');
    expect(await call('npm_test')).toMatch(/^NOT_CONFIRMED/);
    // What was trusted is so again when it is as it was.
    repository.write('package.json', packageJson(script('one')));
    await call('npm_test');
    expect(ran()).toEqual(['one']);
  });

  it.sequential('a command is asked about each time, and always means just this one', async () => {
    const ada = person('yes', 'no', 'always', 'no');
    who = ada;
    const echo = (word: string) => call('run_command', { program: 'echo', args: [word] });
    expect(await echo('hi')).toMatch(/^hi\n/);
    expect(await echo('hi')).toMatch(/^NOT_CONFIRMED/);
    expect(await echo('hi')).toMatch(/^hi\n/);
    expect(await echo('hi')).toMatch(/^hi\n/);
    expect(ada.asked).toHaveLength(3);
    expect(ada.asked[0]?.message).toContain('\nCommand:\n| echo hi\n');
    expect(await echo('ho')).toMatch(/^NOT_CONFIRMED/);
    expect(ada.asked).toHaveLength(4);
    // As a job it is the same command, and the same question.
    who = person('no');
    const job = { tool: 'run_command', arguments: { program: 'echo', args: ['ho'] } };
    expect(await call('start_job', job)).toMatch(/^NOT_CONFIRMED: run_command/);
    who = person('yes');
    expect(await call('start_job', job)).toMatch(/^ho\n/);
  });

  it.sequential('a file that others run is changed when its diff was agreed to, and so is that taken back', async () => {
    repository.write('.envrc', 'export A=1\n');
    await call('read_file', { path: '.envrc' });
    const edit = { path: '.envrc', edits: [{ old: 'A=1', new: 'A=2' }] };
    const ada = person('no', 'yes', 'no', 'yes');
    who = ada;
    expect(await call('edit_file', edit)).toMatch(/^NOT_CONFIRMED/);
    expect(read('.envrc')).toBe('export A=1\n');
    const change = /change ([\w-]+)/.exec(await call('edit_file', edit))?.[1] ?? '';
    expect(read('.envrc')).toBe('export A=2\n');
    for (const { message } of ada.asked) {
      expect(message).toMatch(/\n\| -export A=1\n\| \+export A=2/);
      expect(message).toMatch(/\.envrc: a shell runs it/);
    }

    expect(await call('undo_change', { change })).toMatch(/^NOT_CONFIRMED/);
    expect(read('.envrc')).toBe('export A=2\n');
    await call('undo_change', { change });
    expect(read('.envrc')).toBe('export A=1\n');
    expect(ada.asked).toHaveLength(4);
    expect(ada.asked[3]?.message).toMatch(/\n\| -export A=2\n\| \+export A=1/);
    rmSync(inProject('.envrc'));
  });

  it.sequential('a script is shown whole, and no answer to one is for the next', async () => {
    const ada = person('yes', 'always');
    who = ada;
    const run = (text: string) => call('run_script', { language: 'bash', script: text });
    expect(await run('echo one\necho two')).toMatch(/^one\ntwo\n/);
    expect(ada.asked[0]?.message).toMatch(/Script:\n\| echo one\n\| echo two\n/);
    expect(Object.keys(ada.asked[0]?.choices ?? {})).toEqual(['yes', 'no']);
    // What was not offered is no yes.
    expect(await run('echo one')).toMatch(/^NOT_CONFIRMED/);
  });

  it.sequential('what asks about each call says so in its listing', async () => {
    const { tools } = await client.listTools();
    const asking = tools
      .filter(({ _meta }) => _meta && 'toolcrib/asksItself' in _meta)
      .map(({ name }) => name);
    expect(asking).toEqual(expect.arrayContaining(['git_reset_hard', 'run_command', 'run_script']));
    for (const name of ['git_status', 'npm_test', 'edit_file']) expect(asking).not.toContain(name);
  });
});
