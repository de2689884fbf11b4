import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { connectWithPerson, person, type Person } from '../support/person.ts';
import { temporaryRepository } from '../support/repository.ts';
import { textOf } from '../support/text-of.ts';
import { makeHome } from './home.ts';

type Arguments = Record<string, unknown>;
interface Called {
  callTool(call: { name: string; arguments: Arguments }): Promise<unknown>;
}

/** A repository with tests, and somebody whose settings these are. */
function shop(settings: object = {}) {
  const home = makeHome(settings, ['--no-checkpoints']);
  onTestFinished(() => home.end());
  const repository = temporaryRepository(home.project);
  repository.write('package.json', JSON.stringify({ scripts: { test: 'echo ran >> ran' } }));
  const uses =
    (client: Called) =>
    async (name: string, given: Arguments = {}) =>
      textOf(await client.callTool({ name, arguments: given }));
  return { home, repository, uses };
}
const reset = ['git_reset_hard', { ref: 'HEAD' }] as const;
const says = (...args: string[]) => ['run', { command: 'expr', args }] as const;

it('allows, asks and denies by rules, and a project makes them stricter, never laxer', async () => {
  const { home, repository, uses } = shop({
    rules: {
      'run(expr *)': 'allow',
      'run(expr ask*)': 'ask',
      'run(expr never*)': 'deny',
      'write(secret/**)': 'deny',
      git_log: 'ask',
    },
  });
  const ada = person('yes');
  let who: Person = ada;
  const client = await connectWithPerson('2026-07-28', (asked) => who(asked), home.options);
  const call = uses(client);
  try {
    expect(await call(...says('hi'))).toBe('hi');
    expect(ada.asked).toHaveLength(0);
    expect(await call(...says('asked'))).toBe('asked');
    expect(ada.asked[0]?.message).toContain('rules "run(expr ask*)"');
    expect(await call(...says('never'))).toMatch(/^EFFECT_DENIED: .*rules "run\(expr never\*\)" of/);
    expect(await call('git_log')).toContain('First commit');
    expect(ada.asked).toHaveLength(2);
    expect(await call('write_file', { path: 'secret/a', content: 'x' })).toMatch(
      /^EFFECT_DENIED: .*write\(secret/,
    );
    // No rule: the usual question.
    await call('run', { command: 'date' });
    expect(ada.asked).toHaveLength(3);

    who = person('no');
    const inProject = (content: object) => repository.write('.toolcrib.json', JSON.stringify(content));
    inProject({ rules: { 'run(expr *)': 'ask', git_status: 'deny' } });
    expect(await call(...says('hi'))).toMatch(/^NOT_CONFIRMED/);
    expect(await call('git_status')).toMatch(/^EFFECT_DENIED: git_status .*\.toolcrib\.json/);
    expect(await call(...says('never'))).toMatch(/^EFFECT_DENIED/);
    inProject({ questions: 'none', rules: { '*': 'allow' } });
    expect(await call(...reset)).toMatch(/^EFFECT_DENIED: .*a project can only narrow/);
    inProject({ readOnly: true });
    expect(await call(...says('hi'))).toMatch(/^EFFECT_DENIED: .*readOnly of .*\.toolcrib\.json/);
    expect(await call('git_show', { ref: 'HEAD' })).toContain('First commit');
    // What the file has said before counts as long as the server runs.
    expect(await call('git_status')).toMatch(/^EFFECT_DENIED: .*as it was when the server read it; restart/);
    repository.write('.toolcrib.json', '{ "readonly": true }');
    expect(await call('git_show', { ref: 'HEAD' })).toContain('First commit');
    rmSync(join(home.project, '.toolcrib.json'));
    expect(await call(...says('hi'))).toMatch(/^EFFECT_DENIED: .*readOnly of .*restart the server/);
  } finally {
    await client.close();
  }
  const after = await connectWithPerson('2026-07-28', person('yes'), home.options);
  expect(await uses(after)(...says('hi'))).toBe('hi');
  await after.close();
});
