/** The first of many items in an order, taken as they come, without keeping the others. */
export interface FirstItems<T> {
  add(item: T): void;
  /** The last of those there is room for; what comes after it need not be added. Undefined while there is room. */
  readonly last: T | undefined;
  /** In order. */
  items(): readonly T[];
}

export function firstItems<T>(most: number, compare: (a: T, b: T) => number): FirstItems<T> {
  const kept: T[] = [];
  let last: T | undefined;
  const cut = () => {
    kept.sort(compare);
    if (kept.length >= most) {
      kept.length = most;
      last = kept[most - 1];
    }
  };
  return {
    add(item) {
      if (last !== undefined && compare(item, last) >= 0) return;
      kept.push(item);
      // Sorting twice as many as are wanted, now and then, costs each item little.
      if (kept.length >= 2 * most) cut();
    },
    get last() {
      return last;
    },
    items() {
      cut();
      return kept;
    },
  };
}
