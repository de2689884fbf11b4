import type * as z from 'zod';
import type { Effect } from './discoverer.ts';
import { pathFacts, type PathKind } from './params.ts';
import type { Rule } from './rule.ts';
import type { Budgets } from './settings.ts';

/** The folders this session may touch, as a tool sees them. */
export interface Workspace {
  /** Real absolute paths; may be empty. */
  readonly roots: readonly string[];
  /** The first root. Throws NO_ROOTS when there is none. */
  readonly home: string;
  /**
   * An absolute path inside the roots for what a caller named, with every symbolic link but the last
   * component's resolved. Throws PATH_OUTSIDE_ROOTS, PATH_PROTECTED, PATH_NOT_FOUND (only with `mustExist`)
   * or PATH_NOT_REGULAR (wrong `kind`).
   */
  resolve(path: string, options?: { from?: string; kind?: PathKind; mustExist?: boolean }): Promise<string>;
}

/**
 * The act that an answer of "always" would be kept for: this one exactly, or all of one kind in one database.
 */
export interface Grant {
  /**
   * Equal for the same act only: a command line with its folder, an action with all its values, a database.
   */
  readonly act: string;
  /** The act in words, for people. */
  readonly words: string;
}

/** A real path that is written although others run or obey it, and what that leads to. */
export interface ProtectedPath {
  readonly path: string;
  readonly effect: string;
  /** The settings of a project: only a person opens them, and no rule. */
  readonly isSettings?: true;
}

/**
 * The act that a call would do, found out without changing anything. Its texts are raw: whoever shows them
 * sanitizes them.
 */
export interface Plan<Work = unknown> {
  /** Whose act it is, when a tool stands for another one: run_action. */
  readonly tool?: string;
  readonly effects: readonly Effect[];
  /** The act in one line: `npm test`, `write src/a.ts (+3 -1)`. Rules are about it, and people read it. */
  readonly subject: string;
  /** The machine that it talks to, by its name or address: rules may be about it. */
  readonly host?: string;
  /** The absolute folder it works in. */
  readonly folder: string;
  /** Paths that it names: absolute, or from the folder. */
  readonly paths: readonly string[];
  /**
   * The reason why its folder has to be trusted, as the rest of a sentence that begins with "it"; left out:
   * it need not be.
   */
  readonly trust?: string;
  /** Asked about each time: a command that is no everyday work of a project, or a change of a database. */
  readonly approval?: 'program' | 'database';
  /** The protected paths that it writes: the gate has noted them while it was planned. */
  readonly protects?: readonly ProtectedPath[];
  readonly grant?: Grant;
  /** The act in a person's words where its program can say it: `git push main to origin (…), 3 commits`. */
  readonly title?: string;
  /** A way for a person not to be asked about it at all, as a clause: `log in as …`. */
  readonly wayOut?: string;
  /** Its outcome, for screens that show more than three lines: a diff, the script. */
  readonly preview?: string;
  /** True where undo brings back all that it could lose. */
  readonly isUndoable: boolean;
  /** True for an act that goes on as a job: the call answers once it has begun. */
  readonly background?: boolean;
  /**
   * Arguments, folder, variables, paths and the stamps of files concerned, as one text: equal for the same
   * act only.
   */
  readonly fingerprint: string;
  /**
   * The acts that it consists of, where there are several: each is decided about, and the strictest word
   * counts.
   */
  readonly parts?: readonly Plan[];
  /** The input of `run`. */
  readonly work: Work;
}

/** Takes the whole output of a program while it runs; safe to call after the end. */
export interface OutputSink {
  /** The name by which `read_output` finds it. */
  readonly handle: string;
  add(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
  /** Nothing more comes. */
  end(): void;
}

/** The standard input of a program that runs. */
export interface ProgramInput {
  /** False: it has ended, or does not listen any more. */
  write(text: string): boolean;
  end(): void;
}

/** The surroundings of a call before it does anything. */
export interface PlanContext {
  /**
   * While planning, a protected path opens and is noted; while running, those open that were planned and
   * agreed to.
   */
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  /** Whose call it is: what one client's handles name is nothing to another. */
  readonly client: string;
  /** The limits of this call, by the operator and the project. */
  readonly budgets: Budgets;
  /** Rules of the operator and the project, for acts that come up only while it runs. */
  readonly rules: readonly Rule[];
  /** True when somebody will read the plan, so that a diff is worth making. */
  readonly preview: boolean;
  /** Tells whether a person trusts a folder: in others, a plan starts nothing to see what would happen. */
  trusts(folder: string): Promise<boolean>;
}

export interface CallContext extends PlanContext {
  /** Tells the caller what is going on; harmless when nobody listens. */
  progress(message: string): void;
  /**
   * Keeps the whole output of a program that is about to start, in that folder; by a new handle unless one is
   * given.
   */
  keepOutput(command: string, folder?: string, handle?: string): OutputSink;
  /** Takes the input of a program that is to have one; left out: its input is closed. */
  readonly takeInput?: (input: ProgramInput) => void;
}

export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  /** A document that is no text, in base64: PDF. */
  | {
      readonly type: 'resource';
      readonly resource: { readonly uri: string; readonly mimeType: string; readonly blob: string };
    };

/** The answer of a call. */
export interface Result {
  readonly content: readonly Content[];
  /** The data that its text was made of, for tools that put answers together. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  /** For hosts and programs, not for the model; keys begin with `toolcrib/`. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** The text of a result, its parts one below the other. */
export const textOf = ({ content }: Pick<Result, 'content'>): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/**
 * The listing of a tool: for every host, and loaded by hosts that search (`first`); for every host (`yes`);
 * or in the catalogue alone (`no`).
 */
export type ListedAs = 'first' | 'yes' | 'no';

/**
 * The facts of a tool, whoever made it: an action of a discovered program, or a built-in tool. Knows no MCP.
 */
export interface ToolFacts {
  readonly name: string;
  /** The discoverer's id, or `files`, or `toolcrib`: what `--toolsets` selects by. */
  readonly program: string;
  readonly title: string;
  readonly description: string;
  /**
   * The words that hosts which show a model only names find it by (`anthropic/searchHint`): three to eight.
   */
  readonly hint?: string;
  /** Other names that models bring for it: those of hosts' own tools, and earlier ones. */
  readonly aliases?: readonly string[];
  /** Left out: it is listed where its program is chosen. */
  readonly listed?: ListedAs;
  /** Set for a tool that starts programs, which may take longer than a call. */
  readonly startsPrograms?: true;
  /** Results of programs name it: it belongs to each toolset that has programs. */
  readonly inEveryToolset?: true;
  /** Set for a tool that only waits for what other calls have started. */
  readonly onlyWaits?: true;
  /** The strongest it can have; hosts are told of these. */
  readonly effects: readonly Effect[];
  readonly params: z.ZodObject;
}

// Tools differ in what they take and prepare, so a list of them cannot name it.
/* oxlint-disable typescript/no-explicit-any */
export interface Tool extends ToolFacts {
  /** Looks, and changes nothing. Gets values that `params` has accepted. */
  plan(values: any, context: PlanContext): Promise<Plan<any>>;
  /** Does what was planned. */
  run(plan: Plan<any>, context: CallContext): Promise<Result>;
}
/* oxlint-enable typescript/no-explicit-any */

/** The path values of a call, in the order of its values. */
export function pathsIn({ shape }: z.ZodObject, values: object): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const schema = shape[name] as z.ZodType | undefined;
    return schema && pathFacts(schema) ? [value].flat().filter((path) => typeof path === 'string') : [];
  });
}

/** Hints of MCP about a tool. */
export interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The hints a host is given, derived from the effects and never typed by hand. */
export function annotationsOf(effects: readonly Effect[]): Annotations {
  const only = (...allowed: Effect[]) => effects.every((effect) => allowed.includes(effect));
  return {
    // Asking another machine changes nothing here; that it leaves this one is said by openWorldHint.
    // What has no effects on files or machines may end a job all the same.
    readOnlyHint: effects.length > 0 && only('read', 'network'),
    // Project code can do anything, so a host must expect the worst of it.
    destructiveHint: effects.some((effect) => ['destroy', 'execute', 'publish'].includes(effect)),
    idempotentHint: only('read', 'network'),
    openWorldHint: effects.some((effect) => ['network', 'execute', 'publish'].includes(effect)),
  };
}
