/** How the MCP revision is chosen: asked of the server, or said by the person. */
export type ProtocolChoice = 'auto' | '2025-11-25' | '2026-07-28';

interface Common {
  /** As in mcp.json: letters, digits, `_` and `-`. */
  readonly name: string;
  /** What the server says of its tools is believed. */
  readonly trust: boolean;
  readonly protocol: ProtocolChoice;
  /** For one request. */
  readonly timeoutMs: number;
  /** Globs on the server's own tool names, `!` excludes; without them all tools. */
  readonly tools?: readonly string[];
  /** Who named it: ourselves, a file of the person, a file of the project, the command line. */
  readonly source: 'own' | 'user' | 'project' | 'flag';
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
