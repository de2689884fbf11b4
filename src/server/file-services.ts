import { createKnownFiles } from '../filesystem/known-files.ts';
import { createKeptLists } from '../filesystem/listing/kept-lists.ts';
import { createLineIndexes } from '../filesystem/reading/line-index.ts';
import type { Services } from '../filesystem/services.ts';
import { createSpareBuffer } from '../machine/changes/spare-buffer.ts';
import { createVersions } from '../machine/changes/content-version.ts';
import type { FileChanges } from '../machine/changes/file-changes.ts';
import { stateFolder } from '../machine/folders.ts';
import type { Machine } from '../machine/machine.ts';

/** What the file tools of one server share. Loads what changes files when it is first used. */
export function createFileServices(
  machine: Machine,
  rest: Pick<Services, 'ripgrep' | 'env' | 'checkpoints'>,
): Services {
  const { platform, env, home } = machine.host;
  const folder = stateFolder(platform, env, home);
  let changes: Promise<FileChanges> | undefined;
  return {
    ...rest,
    run: machine.run,
    known: createKnownFiles(),
    lists: createKeptLists(),
    lines: createLineIndexes(),
    versions: createVersions(folder),
    spare: createSpareBuffer(),
    changes: () =>
      (changes ??= import('../machine/changes/file-changes.ts').then(({ createFileChanges }) =>
        createFileChanges({ folder, run: machine.run }),
      )),
  };
}
