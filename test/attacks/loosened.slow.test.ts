import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeHome } from '../journeys/home.ts';
import { connectWithPerson, person } from '../support/person.ts';
import { temporaryRepository } from '../support/repository.ts';
import { eras, type Era } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

/** A repository, and a server with a user who agrees to everything. */
function scene(era: Era) {
  const home = makeHome({}, ['--no-checkpoints']);
  onTestFinished(() => home.end());
  const repository = temporaryRepository(home.project);
  const connected = async () => {
    const client = await connectWithPerson(era, person('yes'), home.options);
    onTestFinished(() => client.close());
    return async (name: string, given: Record<string, unknown> = {}) =>
      textOf(await client.callTool({ name, arguments: given }));
  };
  return { ...repository, connected, has: (path: string) => existsSync(join(home.project, path)) };
}

const strict = JSON.stringify({ rules: { write_file: 'deny' } });

describe.each(eras)('the settings of a project that a model changes with git, in %s', (era) => {
  it.each([
    ['a stash of what is not tracked', {}, [['git_stash', { untracked: true }]]],
    ['a stash of what was made stricter', { tracked: '{}' }, [['git_stash', {}]]],
    ['another branch', { tracked: strict }, [['git_checkout', { branch: 'old' }]]],
    ['an older version', { tracked: '{}' }, [['git_restore', { paths: ['.'] }]]],
  ] as [string, { tracked?: string }, [string, object][]][])(
    'are not loosened by %s',
    async (_, { tracked }, calls) => {
      const { git, write, connected, has } = scene(era);
      git('branch', 'old');
      if (tracked !== undefined) write('.toolcrib.json', tracked);
      write('kept', '');
      git('add', '.');
      git('commit', '--quiet', '--message', 'settings');
      write('.toolcrib.json', strict);
      const call = await connected();
      for (const [name, given] of calls) await call(name, { ...given });
      expect(await call('write_file', { path: 'x', content: '1' })).toMatch(
        /^EFFECT_DENIED: write_file .*rules "write_file" of .*\.toolcrib\.json/,
      );
      expect(has('x')).toBe(false);
    },
  );
});
