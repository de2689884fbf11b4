import type { DatabaseEngine } from './discoverer.ts';
import type { Rule } from './rule.ts';

/** The one who answers when a person would have to be asked. */
export const questionModes = ['server', 'host', 'none'] as const;
/**
 * - server  we ask, through the client; where it cannot, the call is refused
 * - host    the host asks before it calls us; we never do
 * - none    nobody is there, and nobody is asked
 */
export type QuestionMode = (typeof questionModes)[number];

/**
 * The tools that a host is shown, of those that can be called: the few for every project, all, or none of
 * programs.
 */
export const exposeModes = ['auto', 'no-files', 'all', 'catalogue'] as const;
export type ExposeMode = (typeof exposeModes)[number];

/** The most of everything that a client may have, where nobody says otherwise. */
export const usualBudgets = {
  /** Seconds after which a call answers with a job's handle instead of a result; clients give up at 60. */
  callSeconds: 45,
  /** Minutes after which a job is ended. */
  jobMinutes: 60,
  /** Jobs of one client at a time. */
  jobs: 16,
  /** Calls at a time, of all clients; further ones wait. */
  calls: 16,
  /** Megabytes of output that are kept. */
  outputMegabytes: 256,
  /** Hours after which output is forgotten. */
  outputHours: 24,
  /** Percent of the memory of the computer that a program may hold, with all it starts. */
  memoryPercent: 50,
};
export type Budgets = Readonly<Record<keyof typeof usualBudgets, number>>;

/** A database by name, so that no call has to say how it is reached. */
export interface DatabaseProfile {
  readonly engine: DatabaseEngine;
  /** postgresql://user@host:5432/name; a password in it is the operator's choice. */
  readonly url?: string | undefined;
  /** The variable of the server's environment that holds the address. */
  readonly urlFrom?: string | undefined;
}

/** Decisions of the operator, on the command line or in the configuration file, narrowed by the project. */
export interface Settings {
  /** Folders a model may touch; empty: the client's, or the folder the server was started in. */
  readonly roots: readonly string[];
  /** Only what changes nothing; stronger than everything else. */
  readonly readOnly: boolean;
  /** The programs whose tools are left; all when left out. */
  readonly toolsets?: readonly string[] | undefined;
  readonly rules: readonly Rule[];
  readonly questions: QuestionMode;
  /**
   * False: the state of a work tree is not kept before actions that can do anything to it.
   */
  readonly checkpoints?: boolean | undefined;
  /** The tools that are listed; `auto` when undefined. */
  readonly expose?: ExposeMode | undefined;
  readonly budgets: Budgets;
  readonly databases: Readonly<Record<string, DatabaseProfile>>;
  /** Folders in which programs are looked for first. */
  readonly path: readonly string[];
  /** Paths of programs, by id: what is there is taken, and nothing else. */
  readonly programs: Readonly<Record<string, string>>;
  /** Settings of one root alone, by its absolute path; they can only be stricter. */
  readonly folders: Readonly<Record<string, Config>>;
  /** The places of settings that a project has made stricter: `readOnly` in `/w/app/.toolcrib.json`. */
  readonly origins?: Readonly<Record<string, string>>;
  /**
   * The settings of a project that cannot be read, and why: nothing happens there that would be asked about.
   */
  readonly unreadable?: string | undefined;
}

/** The settings of a file or a command line; one that it does not have is left out. */
export type Config = Partial<Omit<Settings, 'budgets' | 'origins' | 'unreadable'>> & {
  readonly budgets?: Partial<Budgets>;
};

/** Settings that nobody has said anything about. */
export const usualSettings: Settings = {
  roots: [],
  readOnly: false,
  rules: [],
  questions: 'server',
  budgets: usualBudgets,
  databases: {},
  path: [],
  programs: {},
  folders: {},
};

/**
 * The settings of the command line, and for what it does not say, those of the file: one by one for the
 * patterns of rules. Read-only is so when either says so.
 */
export function mergeSettings(given: Config, config: Config): Settings {
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    ...usualSettings,
    ...config,
    ...Object.fromEntries(said),
    readOnly: given.readOnly === true || config.readOnly === true,
    rules: mergeRules(given.rules ?? [], config.rules ?? []),
    budgets: { ...usualBudgets, ...config.budgets, ...given.budgets },
  };
}

const mergeRules = (given: readonly Rule[], kept: readonly Rule[]): Rule[] => [
  ...given,
  ...kept.filter(({ pattern }) => !given.some((rule) => rule.pattern === pattern)),
];

/**
 * Settings that can only be stricter than the operator's: the file of a project, or one folder in the
 * operator's.
 */
export interface ProjectConfig extends Config {
  /** The file in which they are written, for people: `/w/app/.toolcrib.json`. */
  readonly file: string;
  /** The file cannot be read now: why. */
  readonly unreadable?: string;
}

/**
 * The settings in a project: what is stricter there is taken, everything else is as the operator has it.
 * `roots` are not touched; they are narrowed where paths are known. Pure.
 */
export function narrow(settings: Settings, project: ProjectConfig): Settings {
  const { readOnly = false, rules = [], file, unreadable } = project;
  const toolsets = both(settings.toolsets, project.toolsets);
  const isFewer = toolsets !== undefined && toolsets.length < (settings.toolsets?.length ?? Infinity);
  return {
    ...settings,
    origins: {
      ...settings.origins,
      ...(readOnly && !settings.readOnly && { readOnly: `readOnly of ${file}` }),
      ...(isFewer && { toolsets: `toolsets of ${file}` }),
    },
    readOnly: settings.readOnly || readOnly,
    toolsets,
    rules: [...settings.rules, ...rules.filter(({ decision }) => decision !== 'allow')],
    budgets: smaller(settings.budgets, project.budgets),
    ...(unreadable !== undefined && { unreadable: settings.unreadable ?? unreadable }),
  };
}

const both = (
  some: readonly string[] | undefined,
  others: readonly string[] | undefined,
): readonly string[] | undefined =>
  some === undefined ? others : others === undefined ? some : some.filter((name) => others.includes(name));

function smaller(budgets: Budgets, wanted: Partial<Budgets> = {}): Budgets {
  const less = Object.entries(wanted).filter(([name, value]) => value < budgets[name as keyof Budgets]);
  return { ...budgets, ...Object.fromEntries(less) };
}
