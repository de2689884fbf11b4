import type { ServerConfig } from '../config/mcp-config.ts';
import { ChatError } from '../errors.ts';
import { inLine } from '../terminal/printable.ts';
import { within } from '../turn/told.ts';
import { endProcesses, type Host } from './link.ts';
import { Server } from './server.ts';
import type { Tool } from './tool.ts';

/** As other hosts cut them. */
const mostInstructions = 2048;

/** All servers, whatever state they are in. Nothing is started or loaded before `connect`. */
export class Toolbox {
  private readonly host: Host;
  private readonly byName = new Map<string, Server>();

  constructor({ servers, ...host }: Host & { readonly servers: readonly ServerConfig[] }) {
    this.host = host;
    for (const config of servers) this.byName.set(config.name, new Server(config, host));
  }

  servers = (): readonly Server[] => [...this.byName.values()];

  /** Throws SERVER_FAILED when there is none of that name. */
  server(name: string): Server {
    const found = this.byName.get(name);
    if (found) return found;
    const known = [...this.byName.keys()].join(', ') || 'none';
    throw new ChatError('SERVER_FAILED', `There is no MCP server "${inLine(name)}". There are: ${known}.`);
  }

  /** Starts all servers at once, in the background. What fails is one warning. */
  connect(): void {
    for (const server of this.servers()) void server.start();
  }

  /** Resolves when every server is connected or has failed, or the time is over. */
  async ready(ms: number): Promise<void> {
    await within(ms, Promise.all(this.servers().map((server) => server.settled())));
  }

  tools = (): readonly Tool[] => this.servers().flatMap(({ tools }) => tools);

  prompts = () =>
    this.servers().flatMap(({ name: server, prompts }) =>
      prompts.map((prompt) => ({ ...prompt, server, arguments: prompt.arguments ?? [] })),
    );

  /** What trusted servers say of themselves, for the system prompt. */
  instructions(): string {
    const said = this.servers().flatMap(({ config: { name, trust }, instructions = '' }) => {
      const text = trust ? instructions.trim() : '';
      const end = text.length > mostInstructions ? '…' : '';
      return text === '' ? [] : `# ${name}\n${text.slice(0, mostInstructions).toWellFormed()}${end}`;
    });
    return said.join('\n\n');
  }

  async rootsChanged(): Promise<void> {
    await Promise.all(this.servers().map((server) => server.rootsChanged()));
  }

  /** Starts one more; one of the same name is replaced. Resolves when it is ready or has failed. */
  async add(config: ServerConfig): Promise<void> {
    const old = this.byName.get(config.name);
    const server = new Server(config, this.host);
    this.byName.set(config.name, server);
    await Promise.all([old?.close(), server.start()]);
  }

  /** Ends all servers; takes 2 seconds at most. */
  async close(): Promise<void> {
    await Promise.all(this.servers().map((server) => server.close()));
  }

  /** Ends their processes at once; blocks for 0.3 seconds at most. */
  readonly kill = (): void => endProcesses(this.servers().flatMap((server) => server.pid() ?? []));
}
