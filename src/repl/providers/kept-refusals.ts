import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../files/private-file.ts';
import { objectOf } from '../text/json.ts';
import type { RememberedRefusals } from './create-provider.ts';

type Refusals = ReturnType<RememberedRefusals['get']>;
type Kept = Record<string, Refusals>;

/** So many endpoints and models; the oldest go. */
const most = 200;

/**
 * What endpoints do not take, kept in `<state>/refusals.json` so that each is asked in vain only once. Never
 * throws.
 */
export function keptRefusals(state: string): RememberedRefusals {
  const file = join(state, 'refusals.json');
  const read = (): Kept => {
    try {
      return objectOf(JSON.parse(readPrivateFile(file) ?? '{}')) as Kept;
    } catch {
      // Damaged: they are found out again.
      return {};
    }
  };
  let known: Kept | undefined;
  return {
    get(model) {
      known ??= read();
      const refused: unknown = known[model];
      return Array.isArray(refused) ? (refused as Refusals) : [];
    },
    set(model, refused) {
      known = Object.fromEntries(Object.entries({ ...read(), [model]: refused }).slice(-most));
      try {
        writePrivateFile(file, JSON.stringify(known));
      } catch {
        // Known until the program ends.
      }
    },
  };
}
