import { sep } from 'node:path';

/** Does something when nobody else is at one of the paths, at what holds it, or at what is in it. */
export type InTurn = <T>(paths: readonly string[], work: () => Promise<T>) => Promise<T>;

/**
 * One queue per path, in the order they are asked for: so a folder does not move while something in it is changed, and
 * nothing in it is changed while it moves. Two spellings that may be one where case does not count share a turn.
 */
export function createPathTurns(): InTurn {
  const turns = new Set<{ readonly paths: readonly string[]; readonly ended: Promise<void> }>();
  return async (given, work) => {
    const paths = given.map((path) => path.normalize('NFC').toLowerCase());
    const earlier = [...turns].filter((turn) => turn.paths.some((one) => paths.some(meets(one))));
    let end = () => {};
    const turn = { paths, ended: new Promise<void>((resolve) => (end = resolve)) };
    turns.add(turn);
    try {
      await Promise.all(earlier.map(({ ended }) => ended));
      return await work();
    } finally {
      turns.delete(turn);
      end();
    }
  };
}

const meets = (one: string) => (other: string) =>
  one === other || one.startsWith(other + sep) || other.startsWith(one + sep);
