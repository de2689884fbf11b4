import { sep } from 'node:path';

interface Patience {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/** Turns at paths: one at a time for those of which one is, or holds, the other; in the order they are asked for. */
export interface PathTurns {
  /** Waits for a turn; what it returns ends it. Undefined when it was cancelled, or took too long, before it came. */
  take(paths: readonly string[], patience: Patience): Promise<(() => void) | undefined>;
}

interface Turn {
  readonly paths: readonly string[];
  readonly ended: Promise<void>;
}

/** So that a folder does not move while something in it is changed, and nothing in it is changed while it moves. */
export function createPathTurns(): PathTurns {
  const turns = new Set<Turn>();
  return {
    async take(given, patience) {
      if (patience.signal?.aborted) return undefined;
      const paths = given.map(foldedPath);
      const earlier = [...turns].filter((turn) => turn.paths.some((one) => paths.some(meets(one))));
      let resolve = () => {};
      const turn = { paths, ended: new Promise<void>((ended) => (resolve = ended)) };
      turns.add(turn);
      const end = () => {
        turns.delete(turn);
        resolve();
      };
      if (earlier.length === 0 || (await allEnded(earlier, patience))) return end;
      end();
      return undefined;
    },
  };
}

/** As file systems may compare it where case does not count; elsewhere two may wait for each other for nothing. */
export const foldedPath = (path: string): string => path.normalize('NFC').toLowerCase();

const meets = (one: string) => (other: string) =>
  one === other || one.startsWith(other + sep) || other.startsWith(one + sep);

/** Whether they ended while there was patience. */
function allEnded(turns: readonly Turn[], { signal, timeoutMs }: Patience): Promise<boolean> {
  return new Promise((resolve) => {
    const leave = (result: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', give);
      resolve(result);
    };
    const give = () => leave(false);
    const timer = setTimeout(give, timeoutMs);
    signal?.addEventListener('abort', give, { once: true });
    void Promise.all(turns.map(({ ended }) => ended)).then(() => leave(true));
  });
}
