import type { ServerConfig } from '../config/server-config.ts';
import { ChatError } from '../errors.ts';
import { endProcesses } from './end-processes.ts';
import { oneLine } from '../text/one-line.ts';
import {
  completionsOf,
  promptOf,
  promptsOf,
  resourceOf,
  resourcesOf,
  type Completion,
} from './server-content.ts';
import { createConnection, type ServerConnection, type Surroundings } from './server-connection.ts';
import type { Tool } from './tool.ts';
import { within } from './within.ts';

/** As other hosts cut them. */
const mostInstructions = 2048;

export interface ToolboxOptions extends Omit<Surroundings, 'changed'> {
  readonly servers: readonly ServerConfig[];
}

export type Toolbox = ReturnType<typeof createToolbox>;

/**
 * All servers and their tools, whatever state they are in. Nothing is started or loaded before `connect`. An
 * unknown server's name throws SERVER_FAILED.
 */
export function createToolbox({ servers, ...world }: ToolboxOptions) {
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
    /** Starts all servers at once, in the background. What fails is one warning. */
    connect(): void {
      starts = Promise.all(all().map((connection) => connection.start()));
    },
    /** Resolves when every server is connected or has failed, or the time is over. */
    async ready(ms?: number): Promise<void> {
      await (ms === undefined ? starts : within(ms, starts));
    },
    /** Sorted by name. */
    tools: (): readonly Tool[] => (sorted ??= sortedTools()),
    servers: () =>
      all().map(({ config, state, tools, protocol, error }) => ({
        name: config.name,
        state,
        tools: tools.length,
        protocol,
        error,
      })),
    /** What trusted servers say of themselves, for the system prompt. */
    instructions: (): string =>
      all()
        .map(({ config, instructions }) => ({ config, said: instructions?.trim() ?? '' }))
        .filter(({ config, said }) => config.trust && said !== '')
        .map(({ config, said }) => `# ${config.name}\n${shortened(said)}`)
        .join('\n\n'),
    prompts: () => all().flatMap(promptsOf),
    /** Throws SERVER_FAILED. */
    getPrompt: async (server: string, name: string, args: Readonly<Record<string, string>>) =>
      promptOf(connectionOf(server), name, args),
    /** The addresses of its resources and templates. A server that does not answer has none. */
    resources: async (server: string) => resourcesOf(connectionOf(server)),
    /** Throws SERVER_FAILED. */
    readResource: async (server: string, uri: string) => resourceOf(connectionOf(server), uri),
    complete: async (server: string, completion: Completion) =>
      completionsOf(connectionOf(server), completion),
    async rootsChanged(): Promise<void> {
      await Promise.all(all().map((connection) => connection.rootsChanged()));
    },
    /** Resolves when it is ready or has failed, which `servers()` says. */
    async restart(name: string): Promise<void> {
      const connection = connectionOf(name);
      await connection.close();
      await connection.start();
    },
    /** Starts one more; one of the same name is replaced. Resolves when it is ready or has failed. */
    add,
    /** Ends all servers; takes 3 seconds at most. */
    async close(): Promise<void> {
      await Promise.all(all().map((connection) => connection.close()));
    },
    /** Ends their processes at once; blocks for 0.3 seconds at most. */
    kill: () => endProcesses(all().flatMap((connection) => connection.pid() ?? [])),
  };
}

const shortened = (text: string): string =>
  text.length <= mostInstructions
    ? text.toWellFormed()
    : `${text.slice(0, mostInstructions).toWellFormed()}…`;
