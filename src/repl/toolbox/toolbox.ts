import type { ServerConfig } from '../config/server-config.ts';
import { ChatError } from '../errors.ts';
import type { Part } from '../message.ts';
import { oneLine } from '../text/one-line.ts';
import { endProcesses, within } from './ending.ts';
import { ServerConnection, type Surroundings } from './server-connection.ts';
import {
  completionsOf,
  promptOf,
  promptsOf,
  resourceOf,
  resourcesOf,
  type Completion,
} from './server-content.ts';
import type { Tool } from './tool.ts';

/** As other hosts cut them. */
const mostInstructions = 2048;

export interface ToolboxOptions extends Omit<Surroundings, 'changed'> {
  readonly servers: readonly ServerConfig[];
}

/**
 * All servers and their tools, whatever state they are in. Nothing is started or loaded before `connect`. An
 * unknown server's name throws SERVER_FAILED.
 */
export class Toolbox {
  private readonly world: Surroundings;
  private readonly connections = new Map<string, ServerConnection>();
  private starts: Promise<unknown> = Promise.resolve();
  private sorted: readonly Tool[] | undefined;

  constructor({ servers, ...world }: ToolboxOptions) {
    this.world = { ...world, changed: () => (this.sorted = undefined) };
    for (const config of servers) this.connections.set(config.name, new ServerConnection(config, this.world));
  }

  private all(): ServerConnection[] {
    return [...this.connections.values()];
  }

  private connectionOf(name: string): ServerConnection {
    const found = this.connections.get(name);
    if (found) return found;
    const known = [...this.connections.keys()].join(', ') || 'none';
    throw new ChatError('SERVER_FAILED', `There is no MCP server "${oneLine(name)}". There are: ${known}.`);
  }

  /** Starts all servers at once, in the background. What fails is one warning. */
  connect(): void {
    this.starts = Promise.all(this.all().map((connection) => connection.start()));
  }

  /** Resolves when every server is connected or has failed, or the time is over. */
  async ready(ms: number): Promise<void> {
    await within(ms, this.starts);
  }

  /** Sorted by name. Two servers cannot have tools of one name, unless one of them means to: the first keeps it. */
  tools(): readonly Tool[] {
    if (this.sorted) return this.sorted;
    const named = new Map<string, Tool>();
    for (const tool of this.all().flatMap((connection) => connection.tools)) {
      const other = named.get(tool.name);
      if (!other) named.set(tool.name, tool);
      else this.world.log(`${tool.name} of ${tool.server} is left out: ${other.server} has one of that name`);
    }
    return (this.sorted = [...named.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
  }

  servers() {
    return this.all().map(({ config, state, tools, protocol, error }) => ({
      name: config.name,
      state,
      tools: tools.length,
      protocol,
      error,
    }));
  }

  /** What trusted servers say of themselves, for the system prompt. */
  instructions(): string {
    return this.all()
      .map(({ config, instructions }) => ({ config, said: instructions?.trim() ?? '' }))
      .filter(({ config, said }) => config.trust && said !== '')
      .map(({ config, said }) => `# ${config.name}\n${shortened(said)}`)
      .join('\n\n');
  }

  prompts() {
    return this.all().flatMap(promptsOf);
  }

  /** Throws SERVER_FAILED. */
  async getPrompt(server: string, name: string, args: Readonly<Record<string, string>>): Promise<Part[]> {
    return promptOf(this.connectionOf(server), name, args);
  }

  /** The addresses of its resources and templates. A server that does not answer has none. */
  async resources(server: string): Promise<string[]> {
    return resourcesOf(this.connectionOf(server));
  }

  /** Throws SERVER_FAILED. */
  async readResource(server: string, uri: string): Promise<Part[]> {
    return resourceOf(this.connectionOf(server), uri);
  }

  async complete(server: string, completion: Completion): Promise<readonly string[]> {
    return completionsOf(this.connectionOf(server), completion);
  }

  async rootsChanged(): Promise<void> {
    await Promise.all(this.all().map((connection) => connection.rootsChanged()));
  }

  /** Resolves when it is ready or has failed, which `servers()` says. */
  async restart(name: string): Promise<void> {
    const connection = this.connectionOf(name);
    await connection.close();
    await connection.start();
  }

  /** Starts one more; one of the same name is replaced. Resolves when it is ready or has failed. */
  async add(config: ServerConfig): Promise<void> {
    const old = this.connections.get(config.name);
    const connection = new ServerConnection(config, this.world);
    this.connections.set(config.name, connection);
    const start = (async () => {
      await old?.close();
      await connection.start();
    })();
    // At once: whoever asks for `ready` next waits for this one, too.
    this.starts = Promise.all([this.starts, start]);
    await start;
  }

  /** Ends all servers; takes 3 seconds at most. */
  async close(): Promise<void> {
    await Promise.all(this.all().map((connection) => connection.close()));
  }

  /** Ends their processes at once; blocks for 0.3 seconds at most. */
  readonly kill = (): void => endProcesses(this.all().flatMap((connection) => connection.pid() ?? []));
}

const shortened = (text: string): string =>
  text.length <= mostInstructions
    ? text.toWellFormed()
    : `${text.slice(0, mostInstructions).toWellFormed()}…`;
