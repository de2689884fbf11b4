import { createKnownFiles } from '../filesystem/known-files.ts';
import { createKeptLists } from '../filesystem/listing/kept-lists.ts';
import { createLineIndexes } from '../filesystem/reading/line-index.ts';
import type { Services } from '../filesystem/services.ts';
import type { Machine } from '../machine/machine.ts';

/** What the file tools of one server share. */
export function createFileServices(
  machine: Machine,
  rest: Pick<Services, 'ripgrep' | 'env' | 'history'>,
): Services {
  return {
    ...rest,
    run: machine.run,
    known: createKnownFiles(),
    lists: createKeptLists(),
    lines: createLineIndexes(),
  };
}
