import type { Policy, Rule } from './policy.ts';

/** How much of everything a client may have. */
export interface Budgets {
  /** Seconds after which a call answers with a job's handle instead of a result; clients give up at 60. */
  readonly callSeconds: number;
  /** Minutes after which a job is ended. */
  readonly jobMinutes: number;
  /** Jobs of one client at a time. */
  readonly jobs: number;
  /** Calls at a time, of all clients; further ones wait. */
  readonly calls: number;
  /** Megabytes of output that are kept. */
  readonly outputMegabytes: number;
  /** Hours after which output is forgotten. */
  readonly outputHours: number;
}

export const usualBudgets: Budgets = {
  callSeconds: 45,
  jobMinutes: 60,
  jobs: 16,
  calls: 16,
  outputMegabytes: 256,
  outputHours: 24,
};

/** A database by name, so that no call has to say how it is reached. */
export interface DatabaseProfile {
  readonly engine: 'postgresql' | 'mysql';
  /** postgresql://user@host:5432/name; a password in it is the operator's choice. */
  readonly url?: string | undefined;
  /** The variable of the server's environment that holds the address. */
  readonly urlFrom?: string | undefined;
}

/** What the operator decides, on the command line or in the configuration file. */
export interface Settings extends Policy {
  /** Folders a model may touch; empty: the client's, or the folder the server was started in. */
  readonly roots: readonly string[];
  /** Programs whose tools are offered, or `files` and `toolcrib` for our own; all when undefined. */
  readonly toolsets?: readonly string[] | undefined;
  /** Whether the state of a work tree is kept before actions that can do anything to it; yes when undefined. */
  readonly checkpoints?: boolean | undefined;
  /** Whether `run_script` is offered; no when undefined. */
  readonly scripts?: boolean | undefined;
  readonly budgets: Budgets;
  readonly databases: Readonly<Record<string, DatabaseProfile>>;
}

/** What a settings file says; a setting that it does not have is left out. */
export type Config = Partial<Omit<Settings, 'budgets' | 'origins'>> & { readonly budgets?: Partial<Budgets> };

/** Settings that nobody has said anything about. */
export const usualSettings: Settings = {
  roots: [],
  readOnly: false,
  effects: {},
  rules: [],
  whenUnasked: {},
  budgets: usualBudgets,
  databases: {},
};

/**
 * What the command line says, and for what it does not, what the file says: one by one for effects, reasons and the
 * patterns of rules. Read-only is so when either says so.
 */
export function mergeSettings(given: Settings, config: Config): Settings {
  return {
    roots: given.roots.length > 0 ? given.roots : (config.roots ?? []),
    readOnly: given.readOnly || (config.readOnly ?? false),
    toolsets: given.toolsets ?? config.toolsets,
    effects: { ...config.effects, ...given.effects },
    rules: mergeRules(given.rules, config.rules ?? []),
    whenUnasked: { ...config.whenUnasked, ...given.whenUnasked },
    checkpoints: given.checkpoints ?? config.checkpoints,
    scripts: given.scripts ?? config.scripts,
    budgets: { ...given.budgets, ...config.budgets },
    databases: config.databases ?? given.databases,
  };
}

const mergeRules = (given: readonly Rule[], kept: readonly Rule[]): Rule[] => [
  ...given,
  ...kept.filter(({ pattern }) => !given.some((rule) => rule.pattern === pattern)),
];
