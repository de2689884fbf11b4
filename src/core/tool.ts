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
   * An absolute path inside the roots for what a caller named, with every symbolic link but the last component's
   * resolved. Throws PATH_OUTSIDE_ROOTS, PATH_PROTECTED, PATH_NOT_FOUND (only with `mustExist`) or
   * PATH_NOT_REGULAR (wrong `kind`).
   */
  resolve(path: string, options?: { from?: string; kind?: PathKind; mustExist?: boolean }): Promise<string>;
}

/** The act that an answer of "always" would be kept for: this one exactly, or all of one kind in one database. */
export interface Grant {
  /** Equal for the same act only: a command line with its folder, an action with all its values, a database. */
  readonly act: string;
  /** The act in words, for people. */
  readonly words: string;
}

/**
 * What a call would do, found out without changing anything. Texts are as they are: who shows them makes them harmless.
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
  /** What it names: absolute paths, or ones that start at the folder. */
  readonly paths: readonly string[];
  /** Why its folder has to be trusted, as the rest of a sentence that begins with "it"; left out: it need not be. */
  readonly trust?: string;
  /** It runs a command that is no everyday work of a project, or changes a database. */
  readonly approval?: 'program' | 'database';
  readonly grant?: Grant;
  /** The act in a person's words where its program can say it: `git push main to origin (…), 3 commits`. */
  readonly title?: string;
  /** What a person can do so that it is not asked about at all, as a clause: `log in as …`. */
  readonly wayOut?: string;
  /** What would come of it, for who can see more than three lines: a diff, the script. */
  readonly preview?: string;
  /** Whether undo brings back all that it could lose. */
  readonly isUndoable: boolean;
  /** It goes on as a job, and the call answers once it has begun. */
  readonly background?: boolean;
  /**
   * Arguments, folder, variables, paths and the stamps of files concerned, as one text: equal for the same act
   * only.
   */
  readonly fingerprint: string;
  /** The acts that it consists of, where there are several: each is decided about, and the strictest word counts. */
  readonly parts?: readonly Plan[];
  /** What `run` needs of it. */
  readonly work: Work;
}

/** Where the output of a program goes while it runs, whole; safe to call after the end. */
export interface OutputSink {
  /** By which `read_output` finds it. */
  readonly handle: string;
  add(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
  /** Nothing more comes. */
  end(): void;
}

/** What can be written to a program that runs. */
export interface ProgramInput {
  /** False: it has ended, or does not listen any more. */
  write(text: string): boolean;
  end(): void;
}

/** What is known of a call before it does anything. */
export interface PlanContext {
  /** While planning, a protected path opens and is noted; while running, those open that were planned and agreed to. */
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  /** Whose call it is: what one client's handles name is nothing to another. */
  readonly client: string;
  /** How much this call may have, as the operator and the project say. */
  readonly budgets: Budgets;
  /** What the operator and the project say, for acts that come up only while it runs. */
  readonly rules: readonly Rule[];
  /** Whether somebody will read the plan, so that a diff is worth making. */
  readonly preview: boolean;
  /** Whether a person trusts the folder; what is planned must not depend on it. */
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

/** What a call brought. */
export interface Result {
  readonly content: readonly Content[];
  /** What its text was made of, for tools that put answers together. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  /** For hosts and programs, not for the model; keys begin with `toolcrib/`. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** The text of a result, its parts one below the other. */
export const textOf = ({ content }: Pick<Result, 'content'>): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** What is offered, whoever made it: an action of a discovered program, or a tool of our own. Knows no MCP. */
export interface ToolFacts {
  readonly name: string;
  /** The discoverer's id, or `files`, or `toolcrib`: what `--toolsets` selects by. */
  readonly program: string;
  readonly title: string;
  readonly description: string;
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

/** Checks that `plan` takes what `params` accepts, and `run` what `plan` prepares. */
export function defineTool<P extends z.ZodObject, Work>(
  tool: Omit<ToolFacts, 'params'> & {
    params: P;
    plan(values: z.output<P>, context: PlanContext): Promise<Plan<Work>>;
    run(plan: Plan<Work>, context: CallContext): Promise<Result>;
  },
): Tool {
  return tool;
}

/** A tool that there is nothing to find out about: what it does stands in its parameters. */
export function defineSimpleTool<P extends z.ZodObject>(
  tool: Omit<ToolFacts, 'params'> & {
    params: P;
    call(values: z.output<P>, context: CallContext): Promise<Result>;
  },
): Tool {
  const { call, ...facts } = tool;
  return {
    ...facts,
    plan: async (values: z.output<P>, { workspace }) => ({
      effects: facts.effects,
      subject: subjectOf(facts, values),
      folder: workspace.roots[0] ?? '',
      paths: pathsIn(facts.params, values),
      isUndoable: false,
      fingerprint: JSON.stringify(values),
      work: values,
    }),
    run: ({ work }, context) => call(work as z.output<P>, context),
  };
}

/** `read_file src/a.ts` */
const subjectOf = ({ name, params }: ToolFacts, values: object): string =>
  [name, ...pathsIn(params, values)].join(' ');

function pathsIn({ shape }: z.ZodObject, values: object): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const schema = shape[name] as z.ZodType | undefined;
    return schema && pathFacts(schema) ? [value].flat().filter((path) => typeof path === 'string') : [];
  });
}

/** The hints a host is given, derived from the effects and never typed by hand. */
export function annotationsOf(effects: readonly Effect[]) {
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
