/** The trial of a real program: its origin, a small project, and calls with what their answers hold. */
export interface ProgramTrial {
  readonly program: string;
  readonly from: { readonly apt?: string; readonly npm?: string; readonly pip?: string };
  /** Begins the server that it talks to before the first call; the server ends after the last one. */
  readonly start?: (folder: string) => Promise<{ env: Record<string, string>; end(): void | Promise<void> }>;
  readonly files: Readonly<Record<string, string>>;
  /**
   * The state in which all its files are broken, so that each action that reads something has to fail. `env`:
   * variables by which it finds nobody to ask; `except`: actions that do not look at any of that, and why.
   */
  readonly broken?: {
    readonly env?: Readonly<Record<string, string>>;
    readonly except?: Readonly<Record<string, string>>;
  };
  /** The answer of `check` in the project, before the other calls. */
  readonly check?: readonly [what: string, answer: RegExp];
  readonly calls: readonly (readonly [
    action: string,
    given: Readonly<Record<string, unknown>>,
    answer: RegExp,
  ])[];
}
