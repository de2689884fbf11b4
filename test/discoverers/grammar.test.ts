import { expect, it } from 'vitest';
import { allPrograms } from './programs.ts';

/** Beside these, an action has fields of the grammar. */
const facts = new Set(['title', 'description', 'effects']);

/** The programs that use each field of an action. */
function programsByField(): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>();
  for (const { of } of allPrograms) {
    if ('engine' in of) continue;
    for (const action of Object.values(of.actions))
      for (const [field, value] of Object.entries(action)) {
        const isUsed = !facts.has(field) && value !== undefined;
        if (isUsed) users.set(field, (users.get(field) ?? new Set()).add(of.id));
      }
  }
  return users;
}

it('has at most eleven fields, and each is used by at least three programs', () => {
  const users = programsByField();
  expect(users.size).toBeLessThanOrEqual(11);
  expect([...users].filter(([, programs]) => programs.size < 3).map(([field]) => field)).toEqual([]);
});

it('keeps what is asked of databases out of other programs', () => {
  const fields = [...programsByField().keys()];
  for (const field of ['databaseQuestion', 'client', 'writes', 'engine']) expect(fields).not.toContain(field);
});
