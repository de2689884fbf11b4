import type { Policy } from './policy.ts';
import type { Rule } from './rule.ts';

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
  /** Whether the state of a work tree is kept before actions that can do anything to it; yes when undefined. */
  readonly checkpoints?: boolean | undefined;
  /** Whether `run_script` is offered; no when undefined. */
  readonly scripts?: boolean | undefined;
  readonly budgets: Budgets;
  readonly databases: Readonly<Record<string, DatabaseProfile>>;
  /** What holds in one root alone, by its absolute path; it can only be stricter. */
  readonly folders: Readonly<Record<string, Config>>;
}

/** What a settings file or a command line says; a setting that it does not have is left out. */
export type Config = Partial<Omit<Settings, 'budgets' | 'origins' | 'folders'>> & {
  readonly budgets?: Partial<Budgets>;
  /** In the operator's file: what holds in one root alone, by its path. It can only be stricter. */
  readonly folders?: Readonly<Record<string, Config>>;
};

/** Settings that nobody has said anything about. */
export const usualSettings: Settings = {
  roots: [],
  readOnly: false,
  rules: [],
  questions: 'server',
  budgets: usualBudgets,
  databases: {},
  folders: {},
};

/**
 * What the command line says, and for what it does not, what the file says: one by one for the patterns of rules.
 * Read-only is so when either says so.
 */
export function mergeSettings(given: Config, config: Config): Settings {
  return {
    roots: given.roots ?? config.roots ?? [],
    readOnly: given.readOnly === true || config.readOnly === true,
    toolsets: given.toolsets ?? config.toolsets,
    rules: mergeRules(given.rules ?? [], config.rules ?? []),
    questions: given.questions ?? config.questions ?? usualSettings.questions,
    checkpoints: given.checkpoints ?? config.checkpoints,
    scripts: given.scripts ?? config.scripts,
    budgets: { ...usualBudgets, ...config.budgets, ...given.budgets },
    databases: config.databases ?? {},
    folders: config.folders ?? {},
  };
}

const mergeRules = (given: readonly Rule[], kept: readonly Rule[]): Rule[] => [
  ...given,
  ...kept.filter(({ pattern }) => !given.some((rule) => rule.pattern === pattern)),
];
