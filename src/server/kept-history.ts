import { createHistory, type History } from '../machine/history/history.ts';
import { stateFolder } from '../machine/folders.ts';
import type { Machine } from '../machine/machine.ts';

/** The history of this machine: what was changed through toolcrib, and states of work trees. */
export function keptHistory({ host: { platform, env, home }, run, ...machine }: Machine): History {
  return createHistory({
    state: stateFolder(platform, env, home),
    run,
    async git() {
      const installation = (await machine.discovery()).installed.get('git');
      // A version manager's shim asks the project which git to start, and can be told one that lies there.
      if (!installation || installation.shim !== undefined) return undefined;
      const { program, leading } = installation;
      return { program, leading, env: (await machine.childEnvironment())([], {}) };
    },
  });
}
