import { setting, usersValue, type Entries } from './git-entries.ts';

/**
 * Arguments with which no hook runs that a repository configures (`hook.<name>.command`, since git 2.54, which
 * core.hooksPath says nothing about), and those of them that one of `events` would have run. Where the user has one of
 * the same name, that one stays as it is. Throws REPO_UNTRUSTED for a name that cannot be given as an argument.
 */
export function hooksOff(entries: Entries, events: readonly string[]): { argv: string[]; off: string[] } {
  const own = entries.own.flatMap(({ key, value }) => {
    const [, hook, part] = /^(hook\..*)\.(command|event|enabled)$/s.exec(key) ?? [];
    return hook === undefined ? [] : [{ hook, part, value }];
  });
  const isUsers = (hook: string) => usersValue(entries, `${hook}.command`) !== undefined;
  // Without a command and an event, `enabled` is about all hooks of an event, and runs none.
  const hooks = new Set(own.flatMap(({ hook, part }) => (part !== 'enabled' || isUsers(hook) ? [hook] : [])));
  const runs = own.flatMap(({ hook, part, value }) =>
    part === 'event' && events.includes(value) ? [hook] : [],
  );
  return {
    argv: [...hooks].flatMap((hook) =>
      isUsers(hook) ? usersHook(hook, entries) : setting(`${hook}.enabled`, 'false'),
    ),
    off: [...new Set(runs)].filter((hook) => !isUsers(hook)),
  };
}

function usersHook(hook: string, entries: Entries): string[] {
  const events = entries.users.filter(({ key }) => key === `${hook}.event`);
  return [
    ...setting(`${hook}.command`, usersValue(entries, `${hook}.command`) ?? ''),
    ...setting(`${hook}.enabled`, usersValue(entries, `${hook}.enabled`) ?? 'true'),
    // The empty one ends the list that the repository has added to.
    ...setting(`${hook}.event`, ''),
    ...events.flatMap(({ value }) => setting(`${hook}.event`, value)),
  ];
}
