import type { ServerConfig } from '../config/server-config.ts';
import { ChatError } from '../errors.ts';
import type { Part } from '../message.ts';
import { endProcesses } from './end-processes.ts';
import { oneLine } from '../text/one-line.ts';
import {
  completionsOf,
  promptOf,
  promptsOf,
  resourceOf,
  resourcesOf,
  type Completion,
  type ServerPrompt,
} from './server-content.ts';
import {
  createConnection,
  type ServerConnection,
  type ServerState,
  type Surroundings,
} from './server-connection.ts';
import type { Tool } from './tool.ts';
import { within } from './within.ts';

/** As other hosts cut them. */
const mostInstructions = 2048;

export interface ToolboxOptions extends Omit<Surroundings, 'changed'> {
  readonly servers: readonly ServerConfig[];
}

interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  readonly tools: number;
  /** The revision that was agreed on. */
  readonly protocol: string | undefined;
  /** Why it failed, in one line. */
  readonly error: string | undefined;
}

/** All servers and their tools, whatever state they are in. An unknown server's name throws SERVER_FAILED. */
export interface Toolbox {
  /** Starts all servers at once, in the background. What fails is one warning. */
  connect(): void;
  /** Resolves when every server is connected or has failed, or the time is over. */
  ready(ms?: number): Promise<void>;
  /** Sorted by name. */
  tools(): readonly Tool[];
  servers(): ServerStatus[];
  /** What trusted servers say of themselves, for the system prompt. Empty when they say nothing. */
  instructions(): string;
  prompts(): ServerPrompt[];
  /** Throws SERVER_FAILED. */
  getPrompt(server: string, name: string, args: Readonly<Record<string, string>>): Promise<Part[]>;
  /** The addresses of its resources and templates. A server that does not answer has none. */
  resources(server: string): Promise<readonly string[]>;
  /** Throws SERVER_FAILED. */
  readResource(server: string, uri: string): Promise<Part[]>;
  /** Empty when the server offers nothing. */
  complete(server: string, completion: Completion): Promise<readonly string[]>;
  rootsChanged(): Promise<void>;
  /** Resolves when it is ready or has failed, which `servers()` says. */
  restart(name: string): Promise<void>;
  /** Starts one more; one of the same name is replaced. Resolves when it is ready or has failed. */
  add(config: ServerConfig): Promise<void>;
  /** Ends all servers; takes 3 seconds at most. */
  close(): Promise<void>;
  /** Ends their processes at once; blocks for 0.3 seconds at most. */
  kill(): void;
}

/** Nothing is started or loaded before `connect`. */
export function createToolbox({ servers, ...world }: ToolboxOptions): Toolbox {
  const connections = new Map<string, ServerConnection>();
  let starts: Promise<unknown> = Promise.resolve();
  let sorted: readonly Tool[] | undefined;

  const changed = () => (sorted = undefined);
  for (const config of servers) connections.set(config.name, createConnection(config, { ...world, changed }));

  const all = (): ServerConnection[] => [...connections.values()];

  /** Two servers cannot have tools of one name, unless one of them means to: the first keeps it. */
  function sortedTools(): readonly Tool[] {
    const named = new Map<string, Tool>();
    for (const tool of all().flatMap((connection) => connection.tools)) {
      const other = named.get(tool.name);
      if (other)
        world.log(`${tool.name} of ${tool.server} is left out: ${other.server} has one of that name`);
      else named.set(tool.name, tool);
    }
    return [...named.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  function connectionOf(name: string): ServerConnection {
    const found = connections.get(name);
    if (found) return found;
    const known = [...connections.keys()].join(', ') || 'none';
    throw new ChatError('SERVER_FAILED', `There is no MCP server "${oneLine(name)}". There are: ${known}.`);
  }

  async function add(config: ServerConfig): Promise<void> {
    const old = connections.get(config.name);
    const connection = createConnection(config, { ...world, changed });
    connections.set(config.name, connection);
    const start = (async () => {
      await old?.close();
      await connection.start();
    })();
    // At once: whoever asks for `ready` next waits for this one, too.
    starts = Promise.all([starts, start]);
    await start;
  }

  return {
    connect() {
      starts = Promise.all(all().map((connection) => connection.start()));
    },
    async ready(ms) {
      await (ms === undefined ? starts : within(ms, starts));
    },
    tools: () => (sorted ??= sortedTools()),
    servers: () =>
      all().map(({ config, state, tools, protocol, error }) => ({
        name: config.name,
        state,
        tools: tools.length,
        protocol,
        error,
      })),
    instructions: () =>
      all()
        .filter(({ config, instructions }) => config.trust && instructions?.trim())
        .map(({ config, instructions }) => `# ${config.name}\n${shortened(instructions?.trim() ?? '')}`)
        .join('\n\n'),
    prompts: () => all().flatMap(promptsOf),
    getPrompt: async (server, name, args) => promptOf(connectionOf(server), name, args),
    resources: async (server) => resourcesOf(connectionOf(server)),
    readResource: async (server, uri) => resourceOf(connectionOf(server), uri),
    complete: async (server, completion) => completionsOf(connectionOf(server), completion),
    async rootsChanged() {
      await Promise.all(all().map((connection) => connection.rootsChanged()));
    },
    async restart(name) {
      const connection = connectionOf(name);
      await connection.close();
      await connection.start();
    },
    add,
    async close() {
      await Promise.all(all().map((connection) => connection.close()));
    },
    kill() {
      endProcesses(all().flatMap((connection) => connection.pid() ?? []));
    },
  };
}

const shortened = (text: string): string =>
  text.length <= mostInstructions
    ? text.toWellFormed()
    : `${text.slice(0, mostInstructions).toWellFormed()}…`;
