import type { WrittenServer } from './schemas.ts';

interface Common {
  readonly name: string;
  /** What the server says of its tools is believed. */
  readonly trust: boolean;
  readonly protocol: NonNullable<WrittenServer['protocol']>;
  /** For one request. */
  readonly timeoutMs: number;
  /** Globs on the server's own tool names, `!` excludes; without them all tools. */
  readonly tools?: readonly string[];
  /** Our own server, as opposed to one of a file. */
  readonly isOwn: boolean;
}

/** An MCP server and how it is reached. */
export type ServerConfig = Common &
  (
    | {
        readonly kind: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly cwd?: string;
      }
    | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  );
