/**
 * Whether a person has agreed that a file which others run or obey is changed: a protected path opens for changing.
 * `effect`: what changing it leads to.
 */
export type Consent = (path: string, effect: string) => boolean;

/** A protected path, and what changing it leads to. */
export interface Protected {
  readonly path: string;
  readonly effect: string;
}

export const noConsent: Consent = () => false;

/** While a call is planned nothing is changed: what is protected opens, and is noted. */
export function notingConsent(): { consent: Consent; protects: readonly Protected[] } {
  const noted = new Map<string, string>();
  return {
    consent: (path, effect) => noted.set(path, effect).has(path),
    get protects() {
      return [...noted].map(([path, effect]) => ({ path, effect }));
    },
  };
}

/** What was planned, and nothing else. */
export function consentTo(protects: readonly Protected[]): Consent {
  const agreed = new Set(protects.map(({ path }) => path));
  return (path) => agreed.has(path);
}
