import { randomUUID } from 'node:crypto';

/** Names that stand for something once. */
export interface UsedOnce {
  issue(value: string): string;
  /** What it stands for, if it was issued, has not been used and is not too old; it is used now. */
  use(name: string): string | undefined;
}

/** Names that are good for so long, the newest so many of them. */
export function createUsedOnce(lifetimeMs: number, most: number): UsedOnce {
  // In the order they were issued, which is the order they become too old.
  const issued = new Map<string, { readonly value: string; readonly until: number }>();
  return {
    issue(value) {
      const now = performance.now();
      for (const [name, { until }] of issued) {
        if (until > now && issued.size < most) break;
        issued.delete(name);
      }
      const name = randomUUID();
      issued.set(name, { value, until: now + lifetimeMs });
      return name;
    },
    use(name) {
      const found = issued.get(name);
      issued.delete(name);
      return found && found.until > performance.now() ? found.value : undefined;
    },
  };
}
