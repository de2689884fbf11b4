import { randomUUID } from 'node:crypto';

/**
 * Names that nobody can guess, each of which stands for something once, for so long, the newest so many of
 * them.
 */
export class OneTimeTokens<T> {
  /**
   * In the order they were issued, which is the order they become too old; what is used keeps its name only.
   */
  readonly #issued = new Map<string, { readonly value: T | undefined; readonly until: number }>();
  readonly #lifetimeMs: number;
  readonly #most: number;

  constructor(lifetimeMs: number, most: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#most = most;
  }

  issue(value: T): string {
    const now = performance.now();
    for (const [name, { until }] of this.#issued) {
      if (until > now && this.#issued.size < this.#most) break;
      this.#issued.delete(name);
    }
    const name = randomUUID();
    this.#issued.set(name, { value, until: now + this.#lifetimeMs });
    return name;
  }

  /** True for a name that was issued here, used or not. */
  has(name: string): boolean {
    return this.#issued.has(name);
  }

  /** The value of a name that was issued, has not been used and is not too old; it is used now. */
  use(name: string): T | undefined {
    const found = this.#issued.get(name);
    if (found) this.#issued.set(name, { ...found, value: undefined });
    return found && found.until > performance.now() ? found.value : undefined;
  }
}
