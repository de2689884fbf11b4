import type { ServerConfig } from '../config/mcp-config.ts';
import { ChatError } from '../errors.ts';
import type { Part } from '../message.ts';
import { oneLine } from '../text/one-line.ts';
import { promptParts, resourceParts } from './reply.ts';
import { within } from '../turn/told.ts';
import { endProcesses, type Host } from './link.ts';
import { Server } from './server.ts';
import type { Tool } from './tool.ts';

/** As other hosts cut them. */
const mostInstructions = 2048;

/**
 * All servers and their tools, whatever state they are in. Nothing is started or loaded before `connect`. An
 * unknown server's name throws SERVER_FAILED.
 */
export class Toolbox {
  private readonly world: Host;
  private readonly connections = new Map<string, Server>();

  constructor({ servers, ...world }: Host & { readonly servers: readonly ServerConfig[] }) {
    this.world = world;
    for (const config of servers) this.connections.set(config.name, new Server(config, world));
  }

  private all = (): Server[] => [...this.connections.values()];

  private connectionOf(name: string): Server {
    const found = this.connections.get(name);
    if (found) return found;
    const known = [...this.connections.keys()].join(', ') || 'none';
    throw new ChatError('SERVER_FAILED', `There is no MCP server "${oneLine(name)}". There are: ${known}.`);
  }

  /** Starts all servers at once, in the background. What fails is one warning. */
  connect(): void {
    for (const connection of this.all()) void connection.start();
  }

  /** Resolves when every server is connected or has failed, or the time is over. */
  async ready(ms: number): Promise<void> {
    await within(ms, Promise.all(this.all().map((connection) => connection.settled())));
  }

  /** Sorted by name, so that prompt caches hold. */
  tools(): readonly Tool[] {
    const all = this.all().flatMap(({ tools }) => tools);
    return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  servers() {
    return this.all().map(({ config: { name }, state, tools, protocol, error }) => ({
      name,
      state,
      tools: tools.length,
      protocol,
      error,
    }));
  }

  /** What trusted servers say of themselves, for the system prompt. */
  instructions(): string {
    return this.all()
      .filter(({ config, instructions = '' }) => config.trust && instructions.trim() !== '')
      .map(({ config, instructions = '' }) => {
        const more = instructions.trim().length > mostInstructions ? '…' : '';
        return `# ${config.name}\n${instructions.trim().slice(0, mostInstructions).toWellFormed()}${more}`;
      })
      .join('\n\n');
  }

  prompts() {
    return this.all().flatMap(({ config, prompts }) =>
      prompts.map((prompt) => ({ ...prompt, server: config.name, arguments: prompt.arguments ?? [] })),
    );
  }

  /** A prompt with its arguments filled in, as parts of a message. Throws SERVER_FAILED. */
  async getPrompt(server: string, name: string, args: Readonly<Record<string, string>>): Promise<Part[]> {
    const params = { name, arguments: { ...args } };
    const answer = await this.connectionOf(server).use((client, timeout) =>
      client.getPrompt(params, timeout),
    );
    return promptParts(answer.messages);
  }

  /** Throws SERVER_FAILED. */
  async readResource(server: string, uri: string): Promise<Part[]> {
    return resourceParts(
      await this.connectionOf(server).use((client, timeout) => client.readResource({ uri }, timeout)),
    );
  }

  /** The addresses a server has; none when it is not there, or does not answer. */
  async resources(server: string): Promise<string[]> {
    const connection = this.connectionOf(server);
    if (connection.state !== 'ready') return [];
    const asked = connection.use((client, timeout) => client.listResources({}, timeout));
    return asked.then(
      ({ resources }) => resources.map(({ uri }) => uri),
      () => [],
    );
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
    const connection = new Server(config, this.world);
    this.connections.set(config.name, connection);
    await Promise.all([old?.close(), connection.start()]);
  }

  /** Ends all servers; takes 2 seconds at most. */
  async close(): Promise<void> {
    await Promise.all(this.all().map((connection) => connection.close()));
  }

  /** Ends their processes at once; blocks for 0.3 seconds at most. */
  readonly kill = (): void => endProcesses(this.all().flatMap((connection) => connection.pid() ?? []));
}
