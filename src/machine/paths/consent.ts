/** What a person has been asked about changing files that others run or obey. */
export interface Consent {
  /** Whether a protected path opens for changing; `effect`: what changing it leads to. */
  allows(path: string, effect: string): boolean;
}

/** A protected path, and what changing it leads to. */
export interface Protected {
  readonly path: string;
  readonly effect: string;
}

export const noConsent: Consent = { allows: () => false };

/** While a call is planned nothing is changed: what is protected opens, and is noted. */
export function notingConsent(): { consent: Consent; protects: readonly Protected[] } {
  const noted = new Map<string, string>();
  return {
    consent: {
      allows(path, effect) {
        noted.set(path, effect);
        return true;
      },
    },
    get protects() {
      return [...noted].map(([path, effect]) => ({ path, effect }));
    },
  };
}

/** What was planned, and nothing else. */
export function consentTo(protects: readonly Protected[]): Consent {
  const agreed = new Set(protects.map(({ path }) => path));
  return { allows: (path) => agreed.has(path) };
}
