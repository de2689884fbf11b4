/** Runs tasks in the order they come, at most so many at once. */
export function limited(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      // The next task takes this one's place, so the count stays.
      if (next) next();
      else running--;
    }
  };
}
