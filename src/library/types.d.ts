// The types of `import … from 'toolcrib'`, packed as they are. They import no package, so that they work
// without one.

/**
 * Starts a server in this process and connects a client to it. Closing the client ends what its calls have
 * started. Rejects for options that a server does not start with, naming the option.
 */
export function connect(options?: ConnectOptions): Promise<Connection>;

/**
 * Answers one prompt with the chat. Nobody is asked: calls that need an approval are refused and counted.
 * Rejects like queryStream.
 */
export function query(prompt: string, options?: QueryOptions): Promise<Answer>;

/**
 * Answers a prompt like query, and yields all that happens. Leaving the loop, or aborting `signal`, ends the
 * query. Throws an Error with a `code` for what keeps it from being answered, such as NO_MODEL, NO_KEY or
 * MODEL_UNREACHABLE.
 */
export function queryStream(prompt: string, options?: QueryOptions): AsyncGenerator<QueryEvent>;

/** Options that limit what tools may do, like those of `toolcrib serve`. */
export interface ToolOptions {
  /** The folders that may be used; by default the current one. */
  readonly roots?: readonly string[];
  readonly readOnly?: boolean;
  readonly toolsets?: readonly string[];
  /** Rules like `git_push=ask` or `run(npm test *)=allow`. */
  readonly rules?: readonly string[];
  /** False to keep no states of git work trees before actions that can change them. */
  readonly checkpoints?: boolean;
}

export interface ConnectOptions extends ToolOptions {
  readonly expose?: 'auto' | 'no-files' | 'all' | 'catalogue';
  /**
   * Puts the server's questions to a person; an answer within 300 ms does not count as a person's. A program
   * that decides without a person gives `rules`. Without it, calls that need an approval are refused.
   */
  readonly onQuestion?: (question: Question) => Promise<QuestionAnswer>;
}

export interface Question {
  readonly message: string;
  /** A JSON Schema of the values that can be given in addition to yes. */
  readonly requestedSchema?: object;
}

export interface QuestionAnswer {
  /** The answer: accept is yes, this time; decline is no. */
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: { [name: string]: string | number | boolean | string[] };
}

/** A connected client: the part of the `Client` of @modelcontextprotocol/client that most programs need. */
export interface Connection {
  listTools(): Promise<{ tools: ListedTool[] }>;
  callTool(
    call: { name: string; arguments?: Record<string, unknown> },
    options?: { signal?: AbortSignal; onprogress?: (progress: { message?: string | undefined }) => void },
  ): Promise<CallResult>;
  readResource(resource: {
    uri: string;
  }): Promise<{ contents: { uri: string; text?: string; blob?: string }[] }>;
  /** Closes the client, and ends the server and what it has started. */
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
  /** The folder of the project; by default the current one. */
  readonly cwd?: string;
  /** The model, as endpoint/model or a name from chat.yaml. */
  readonly model?: string;
  /** The mode that decides which calls need an approval, and so are refused here; the default is `ask`. */
  readonly mode?: 'plan' | 'ask' | 'auto' | 'yolo';
  readonly profile?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Files like mcp.json that name more servers. */
  readonly mcp?: readonly string[];
  /** A JSON Schema that the answer has to fit; the answer then comes as `data` too. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly maxTurns?: number;
  /** A file of `toolcrib chat --record FILE`, from which the answers are replayed. */
  readonly replay?: string;
  /** The variables to use instead of process.env: they hold keys, and the folders of settings. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/** The outcome of a query. */
export interface Answer {
  readonly type: 'result';
  readonly reason: 'done' | 'length' | 'filtered' | 'interrupted' | 'rounds' | 'stopped' | 'failed' | 'empty';
  readonly text: string;
  readonly error?: string;
  readonly data?: unknown;
  readonly turns: number;
  readonly calls: number;
  /** The number of calls that were refused because nobody could be asked. */
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

/** An event in a query, as in `--output stream-json`. The last event is the answer. */
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
