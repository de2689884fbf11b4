import { randomUUID } from 'node:crypto';

/** Names that can be used once. */
export interface UsedOnce {
  issue(): string;
  /** Whether it was issued, has not been used and is not too old; it is used now. */
  use(name: string): boolean;
}

/** Names that are good for so long, the newest so many of them. */
export function createUsedOnce(lifetimeMs: number, most: number): UsedOnce {
  // In the order they were issued, which is the order they become too old.
  const until = new Map<string, number>();
  return {
    issue() {
      const now = performance.now();
      for (const [name, end] of until) {
        if (end > now && until.size < most) break;
        until.delete(name);
      }
      const name = randomUUID();
      until.set(name, now + lifetimeMs);
      return name;
    },
    use(name) {
      const end = until.get(name);
      until.delete(name);
      return end !== undefined && end > performance.now();
    },
  };
}
