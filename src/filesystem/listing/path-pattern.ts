import type { NameTest } from './wildcard.ts';

/** One place in a pattern: a test of a name, or any number of folders. */
export type PathPart = NameTest | '**';

/** Places in the pattern that the next name may have to fit; empty when nothing can be chosen any more. */
export type PathState = readonly number[];

/** Decides about paths name by name, from the top folder down. */
export interface PathPattern {
  /** In the top folder. */
  readonly start: PathState;
  /** In the folder of that name. */
  below(state: PathState, name: string): PathState;
  /** Whether something of that name is chosen. */
  chooses(state: PathState, name: string): boolean;
}

const end = Symbol('end of an alternative');

/**
 * Alternatives as one automaton. Whoever walks folders decides about each name once and sees where nothing more can be
 * chosen; no name takes longer than the pattern is long, however many `**` it has.
 */
export function pathPattern(alternatives: readonly (readonly PathPart[])[]): PathPattern {
  const steps: (PathPart | typeof end)[] = alternatives.flatMap((parts) => [...parts, end]);
  const starts: number[] = [];
  for (const [place] of steps.entries()) if (place === 0 || steps[place - 1] === end) starts.push(place);
  // `**` also stands for no name at all.
  const canEnd = steps.map(() => false);
  for (let place = steps.length - 1; place >= 0; place--)
    canEnd[place] = steps[place] === end || (steps[place] === '**' && canEnd[place + 1] === true);

  /** Those places and what lies behind their `**`; nothing comes after an end. */
  const reach = (places: readonly number[]): PathState => {
    if (places.every((place) => steps[place] === end)) return [];
    const reached = new Set<number>();
    for (let place of places) {
      while (steps[place] === '**' && !reached.has(place)) reached.add(place++);
      if (steps[place] !== end) reached.add(place);
    }
    return [...reached];
  };

  return {
    start: reach(starts),
    below(state, name) {
      const next: number[] = [];
      for (const place of state) {
        const step = steps[place];
        if (step === '**') next.push(place);
        else if (typeof step === 'function' && step(name)) next.push(place + 1);
      }
      const reached = reach(next);
      // Most often nothing changes; there can be very many folders to go through.
      return reached.length === state.length && reached.every((place, at) => place === state[at])
        ? state
        : reached;
    },
    chooses(state, name) {
      for (const place of state) {
        const step = steps[place];
        if (step === '**' ? canEnd[place] : typeof step === 'function' && canEnd[place + 1] && step(name))
          return true;
      }
      return false;
    },
  };
}
