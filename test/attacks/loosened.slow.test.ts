import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeHome } from '../journeys/home.ts';
import { connectWithPerson, person, type Person } from '../support/person.ts';
import { temporaryRepository } from '../support/repository.ts';
import { eras, type Era } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

/** A repository, and a server with a user who says one after the other. */
async function scene(
  era: Era,
  { says = ['no'], args = ['--no-checkpoints'] }: { says?: string[]; args?: string[] } = {},
) {
  const home = makeHome({}, args);
  onTestFinished(() => home.end());
  const repository = temporaryRepository(home.project);
  const ada = person(...says);
  const connected = async (who: Person = ada) => {
    const client = await connectWithPerson(era, who, home.options);
    onTestFinished(() => client.close());
    return async (name: string, given: Record<string, unknown> = {}) =>
      textOf(await client.callTool({ name, arguments: given }));
  };
  return { ...repository, home, ada, connected, has: (path: string) => existsSync(join(home.project, path)) };
}

const strict = JSON.stringify({ rules: { write_file: 'deny' } });

describe.each(eras)('what a model can do to the settings of a project loosens nothing, in %s', (era) => {
  it.each([
    ['a stash of what is not tracked', {}, [['git_stash', { untracked: true }]]],
    ['a stash of what was made stricter', { tracked: '{}' }, [['git_stash', {}]]],
    ['another branch', { tracked: strict }, [['git_switch', { branch: 'old' }]]],
    ['an older version', { tracked: '{}' }, [['git_restore', { paths: ['.'] }]]],
  ] as [string, { tracked?: string }, [string, object][]][])('%s', async (_, { tracked }, calls) => {
    const { git, write, connected, has } = await scene(era);
    git('branch', 'old');
    for (const folder of ['', 'sub/']) {
      if (tracked !== undefined) write(`${folder}.toolcrib.json`, tracked);
      write(`${folder}kept`, '');
    }
    git('add', '.');
    git('commit', '--quiet', '--message', 'settings');
    // The one below no call has had to do with before.
    for (const folder of ['', 'sub/']) write(`${folder}.toolcrib.json`, strict);
    const call = await connected();
    for (const [name, given] of calls) await call(name, { ...given });
    for (const path of ['x', 'sub/x'])
      expect(await call('write_file', { path, content: '1' })).toMatch(
        /^EFFECT_DENIED: write_file .*rules "write_file" of .*\.toolcrib\.json/,
      );
    expect(has('x') || has('sub/x')).toBe(false);
  });

  it('a query that never ends can be ended by a server that changes nothing', async () => {
    const { connected, home } = await scene(era, { args: ['--read-only'] });
    home.configure({ budgets: { callSeconds: 1 } });
    writeFileSync(join(home.project, 'a.db'), '');
    const call = await connected();
    const sql = 'with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c';
    const said = await call('sqlite3_query', { database: 'a.db', sql });
    expect(said).toMatch(/^STILL_RUNNING.*stop_job ends it/s);
    const [, job = ''] = /as job (\w+)/.exec(said) ?? [];
    expect(await call('stop_job', { job })).toMatch(/was stopped after/);
  });
});

describe.each(eras)('trust is about all that decides what runs, in %s', (era) => {
  it('also of a package.json that goes deeper than can be followed', async () => {
    const { write, connected, ada, has } = await scene(era, { says: ['trust', 'no'] });
    const deep = (name: string) =>
      `{"name":"a","scripts":{"test":"touch ${name}"},"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    write('package.json', deep('good'));
    const call = await connected();
    await call('npm_test');
    expect(ada.asked).toHaveLength(1);
    expect(ada.asked[0]?.choices).toHaveProperty('trust');
    write('package.json', deep('evil'));
    expect(await call('npm_test')).toMatch(/^NOT_CONFIRMED/);
    expect(has('evil')).toBe(false);
  });

  it('also of a build folder, for which there is an always that lasts while it is the same', async () => {
    const { write, connected, home } = await scene(era);
    write(
      'CMakeLists.txt',
      'cmake_minimum_required(VERSION 3.10)\nproject(a NONE)\nadd_custom_target(b ALL COMMAND echo built)\n',
    );
    const answers: string[] = [];
    const choices: string[][] = [];
    const who: Person = ({ choices: offered }) => {
      choices.push(Object.keys(offered));
      return answers.shift() ?? 'no';
    };
    const call = await connected(who);
    answers.push('trust');
    await call('cmake_configure');
    expect(choices.splice(0)).toEqual([expect.arrayContaining(['always', 'trust'])]);
    answers.push('always');
    expect(await call('cmake_build')).toContain('built');
    expect(choices.splice(0)).toEqual([['yes', 'always', 'no']]);
    expect(await call('cmake_build')).toContain('built');
    await call('ctest_run', {});
    // Another command is another question.
    expect(choices.splice(0)).toHaveLength(1);
    const file = join(home.project, 'build', 'CMakeFiles', 'b.dir', 'build.make');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('echo built', 'touch ../evil'));
    expect(await call('cmake_build')).toMatch(/^NOT_CONFIRMED/);
    expect(choices).toHaveLength(1);
  });
});
