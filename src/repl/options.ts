import type { Mode } from './turn/turn-event.ts';

/** The command line, and the folder and environment it was given in. */
export interface ChatOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  readonly version: string;
  /** The command that starts our own server; undefined: not at all. */
  readonly ownServer: { readonly command: string; readonly args: readonly string[] } | undefined;
  /**
   * Absolute paths, in the place of those of a session and of `cwd`; the first one is where relative ones
   * begin.
   */
  readonly roots: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly mode?: Mode | undefined;
  readonly profile?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  /** Rules as text: `npm test*`, `server:tool(arg=pattern)`. */
  readonly rules: Readonly<Record<'allow' | 'ask' | 'deny', readonly string[]>>;
  readonly mcpFiles: readonly string[];
  /**
   * `none`: nothing is kept. `which`: the id, the beginning of one, or a name; when it is empty, the person
   * picks.
   */
  readonly session: 'new' | 'none' | 'latest' | { readonly which: string };
  readonly temporary: boolean;
  readonly maxTurns?: number | undefined;
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly record?: string | undefined;
  readonly replay?: string | undefined;
  readonly trace?: string | undefined;
  /** Takes warnings that nobody sees in a terminal; standard error when left out. */
  readonly warn?: (text: string) => void;
}
