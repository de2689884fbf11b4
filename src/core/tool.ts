import type * as z from 'zod';
import type { Effect } from './discoverer.ts';
import type { PathKind } from './params.ts';

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

export interface CallContext {
  workspace: Workspace;
  signal: AbortSignal;
  /** Tells the caller what is going on; harmless when nobody listens. */
  progress(message: string): void;
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
    readOnlyHint: only('read', 'network'),
    // Project code can do anything, so a host must expect the worst of it.
    destructiveHint: effects.includes('destroy') || effects.includes('execute'),
    idempotentHint: only('read', 'network'),
    openWorldHint: effects.includes('network') || effects.includes('execute'),
  };
}
