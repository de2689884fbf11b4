import type * as z from 'zod';
import type { Effect } from './discoverer.ts';
import type { PathKind } from './params.ts';
import type { AskReason } from './policy.ts';
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

/** What a call is about to do, for those who decide about it. Texts are as they are: who shows them makes them harmless. */
export interface PermitRequest {
  /** The effects of this very call. */
  readonly effects: readonly Effect[];
  /** The absolute folder it works in. */
  readonly folder: string;
  /** What else it names, by absolute paths: what is said about the folders these are in counts as well. */
  readonly touches?: readonly string[];
  /** The command line as a person would type it. */
  readonly command?: string;
  /** Why a person is to be asked, whatever the effects are. */
  readonly asks?: AskReason;
  /**
   * What else the person has to see: the exact arguments, a diff, a script. Nobody can say yes to what is not shown: where
   * one that is `whole`, or the command line, would have to be cut, the call is refused (TOO_LARGE).
   */
  readonly shows?: readonly { readonly title: string; readonly text: string; readonly whole?: boolean }[];
  /**
   * What an answer of "always" is kept for, beside the tool and the project, and how that is called. Left out: for code, this
   * very command; else the tool in this project, whatever its parameters.
   */
  readonly always?: { readonly key: string; readonly says: string };
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

export interface CallContext {
  workspace: Workspace;
  signal: AbortSignal;
  /** Tells the caller what is going on; harmless when nobody listens. */
  progress(message: string): void;
  /** Whose call it is: what one client's handles name is nothing to another. */
  readonly client: string;
  /** How much this call may have, as the operator and the project say. */
  readonly budgets: Budgets;
  /** Whether a person trusts the project a folder is in, with its content as it is now. */
  trusts(folder: string): Promise<boolean>;
  /**
   * Returns when the call may go on, having asked a person if it must. Throws EFFECT_DENIED, NEEDS_CONFIRM and
   * NOT_CONFIRMED; and what makes the client ask, after which the whole call is made again: nothing may have been changed
   * before.
   */
  permit(request: PermitRequest): Promise<void>;
  /** Keeps the whole output of a program that is about to start, in that folder. */
  keepOutput(command: string, folder?: string): OutputSink;
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

/** What a call brought: text for text, `data` for data (the text is then made from it). */
export interface ToolResult {
  readonly content?: readonly Content[];
  readonly data?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  /** For hosts and programs, not for the model; keys begin with `toolcrib/`. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** The text of a result, its parts one below the other. */
export const textOf = ({ content = [] }: ToolResult): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** What is offered, whoever made it: an action of a discovered program, or a tool of our own. Knows no MCP. */
export interface Tool {
  readonly name: string;
  /** The discoverer's id, or `files`, or `toolcrib`: what `--toolsets` selects by. */
  readonly program: string;
  readonly title: string;
  readonly description: string;
  readonly effects: readonly Effect[];
  readonly params: z.ZodObject;
  readonly result?: z.ZodObject;
  /** Effects it may have in addition, where the project is trusted; hosts are told of them, too. */
  readonly whenTrusted?: readonly Effect[];
  /** It asks `context.permit` itself, since it knows more of what it will do than its effects. */
  readonly permits?: boolean;
  /** Gets values that `params` has accepted. */
  // oxlint-disable-next-line typescript/no-explicit-any
  call(params: any, context: CallContext): Promise<ToolResult>;
}

/** Checks that `call` takes what `params` accepts. */
export function defineTool<P extends z.ZodObject>(
  tool: Omit<Tool, 'params' | 'call'> & {
    params: P;
    call(params: z.output<P>, context: CallContext): Promise<ToolResult>;
  },
): Tool {
  return tool;
}

/** The hints a host is given, derived from the effects and never typed by hand. */
export function annotationsOf(effects: readonly Effect[]) {
  const only = (...allowed: Effect[]) => effects.every((effect) => allowed.includes(effect));
  return {
    // Asking another machine changes nothing here; that it leaves this one is said by openWorldHint.
    // What has no effects on files or machines may end a job all the same.
    readOnlyHint: effects.length > 0 && only('read', 'network'),
    // Project code can do anything, so a host must expect the worst of it.
    destructiveHint: effects.includes('destroy') || effects.includes('execute'),
    idempotentHint: only('read', 'network'),
    openWorldHint: effects.includes('network') || effects.includes('execute'),
  };
}
