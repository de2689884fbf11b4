// The types of `import … from 'toolcrib'`, packed as they are. They name no package, so that they hold
// without one.

/**
 * Starts a server in this process and connects a client to it. Close the client: that ends what calls have
 * started. Rejects for options that a server does not start with, naming the option.
 */
export function connect(options?: ConnectOptions): Promise<Connection>;

/**
 * One prompt to the chat, answered. Nobody is asked: what would be is refused, and counted. Rejects as
 * queryStream.
 */
export function query(prompt: string, options?: QueryOptions): Promise<Answer>;

/**
 * The same, with all that happens. To leave the loop, or to abort `signal`, ends the query. Throws an Error
 * with a
 * `code` for what keeps it from being answered, such as NO_MODEL, NO_KEY or MODEL_UNREACHABLE.
 */
export function queryStream(prompt: string, options?: QueryOptions): AsyncGenerator<QueryEvent>;

/** What tools may do: as the options of `toolcrib serve`. */
export interface ToolOptions {
  /** Folders that may be used; the current one when left out. */
  readonly roots?: readonly string[];
  readonly readOnly?: boolean;
  readonly toolsets?: readonly string[];
  /** Like `git_push=ask` or `run(npm test *)=allow`. */
  readonly rules?: readonly string[];
  /** false: no states of git work trees are kept before actions that can change them. */
  readonly checkpoints?: boolean;
}

export interface ConnectOptions extends ToolOptions {
  readonly expose?: 'auto' | 'no-files' | 'all' | 'catalogue';
  /**
   * Puts the server's questions to a person; an answer within 300 ms is taken for nobody's. A program that
   * decides without a person gives `rules`. Without it, calls that would be asked about are refused.
   */
  readonly onQuestion?: (question: Question) => Promise<QuestionAnswer>;
}

export interface Question {
  readonly message: string;
  /** A JSON Schema of what can be answered beside yes. */
  readonly requestedSchema?: object;
}

export interface QuestionAnswer {
  /** accept is yes, this time; decline is no. */
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: { [name: string]: string | number | boolean | string[] };
}

/** A connected client: the `Client` of @modelcontextprotocol/client, of which this is what most need. */
export interface Connection {
  listTools(): Promise<{ tools: ListedTool[] }>;
  callTool(
    call: { name: string; arguments?: Record<string, unknown> },
    options?: { signal?: AbortSignal; onprogress?: (progress: { message?: string | undefined }) => void },
  ): Promise<CallResult>;
  readResource(resource: {
    uri: string;
  }): Promise<{ contents: { uri: string; text?: string; blob?: string }[] }>;
  /** Ends the server too, and what it has started. */
  close(): Promise<void>;
}

export interface ListedTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: { type: 'object'; [key: string]: unknown };
}

export interface CallResult {
  content: { type: string; text?: string; [key: string]: unknown }[];
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

export interface QueryOptions extends ToolOptions {
  /** The project; the current folder when left out. */
  readonly cwd?: string;
  /** endpoint/model, or a name of chat.yaml. */
  readonly model?: string;
  /** What is asked about, and so refused here; `ask` is usual. */
  readonly mode?: 'plan' | 'ask' | 'auto' | 'yolo';
  readonly profile?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Files like mcp.json, of more servers. */
  readonly mcp?: readonly string[];
  /** The answer is JSON that fits this JSON Schema, and comes as `data` too. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly maxTurns?: number;
  /** Answers with what `toolcrib chat --record FILE` has kept. */
  readonly replay?: string;
  /** Instead of process.env: keys, and where settings are. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/** How a query went. */
export interface Answer {
  readonly type: 'result';
  readonly reason: 'done' | 'length' | 'filtered' | 'interrupted' | 'rounds' | 'stopped' | 'failed' | 'empty';
  readonly text: string;
  readonly error?: string;
  readonly data?: unknown;
  readonly turns: number;
  readonly calls: number;
  /** Calls that were refused because nobody could be asked. */
  readonly unasked: number;
  readonly usage?: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    estimated: boolean;
  };
  readonly model: string;
}

export interface QueryCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** What happens in a query: the events of `--output stream-json`. The last one is the answer. */
export type QueryEvent =
  | { readonly type: 'text' | 'reasoning' | 'warning' | 'note'; readonly text: string }
  | { readonly type: 'call_begun'; readonly name: string }
  | { readonly type: 'retry'; readonly reason: string; readonly inMs: number; readonly discard: boolean }
  | {
      readonly type: 'answer';
      readonly message: { readonly text: string; readonly calls: readonly QueryCall[] };
    }
  | {
      readonly type: 'call_started';
      readonly call: QueryCall;
      readonly server?: string;
      readonly tool?: string;
    }
  | { readonly type: 'call_progress'; readonly call: QueryCall; readonly message: string }
  | {
      readonly type: 'call_ended';
      readonly call: QueryCall;
      readonly text: string;
      readonly images: number;
      readonly isError: boolean;
      readonly ms: number;
    }
  | {
      readonly type: 'compacted';
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly by: 'model' | 'fallback';
    }
  | { readonly type: 'ended'; readonly reason: Answer['reason'] }
  | Answer;
