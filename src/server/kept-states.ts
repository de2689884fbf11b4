import { join } from 'node:path';
import type { Checkpoints } from '../machine/checkpoints/checkpoints.ts';
import { stateFolder } from '../machine/folders.ts';
import type { Machine } from '../machine/machine.ts';

/** The tools that are there for checkpoints alone. */
export const checkpointTools: ReadonlySet<string> = new Set(['list_checkpoints', 'restore_checkpoint']);

/** The checkpoints of this machine: made once, and not before they are used. */
export function createKeptStates(machine: Machine): () => Promise<Checkpoints> {
  let made: Promise<Checkpoints> | undefined;
  const make = async () => {
    const { createCheckpoints } = await import('../machine/checkpoints/checkpoints.ts');
    const { platform, env, home } = machine.host;
    const state = stateFolder(platform, env, home);
    return createCheckpoints({
      folder: state === undefined ? undefined : join(state, 'checkpoints'),
      async git() {
        const installation = (await machine.discovery()).installed.get('git');
        // A version manager's shim asks the project which git to start, and can be told one that lies there.
        if (!installation || installation.shim !== undefined) return undefined;
        const { program, leading } = installation;
        // simple-git takes one argument before its own.
        if (leading.length > 1) return undefined;
        return { program, leading, env: (await machine.childEnvironment())([], {}) };
      },
    });
  };
  return () => (made ??= make());
}
