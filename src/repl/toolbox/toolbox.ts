import type { ServerConfig } from '../config/mcp-config.ts';
import { ChatError } from '../errors.ts';
import { inLine } from '../terminal/printable.ts';
import { endProcesses, type ChatHost } from './link.ts';
import { Server } from './server.ts';
import type { ClientTool } from './tool.ts';

/** The characters of a server's instructions that are kept, as in other hosts. */
const mostInstructions = 2048;

const leftOut = (count: number): string =>
  `It has ${count} more tools, which are not offered. ` +
  'If one is needed, ask the person to name it in mcp.json.';

/** All servers, whatever state they are in. */
export class Toolbox {
  private readonly host: ChatHost;
  private readonly all: Server[] = [];

  constructor(host: ChatHost) {
    this.host = host;
  }

  servers = (): readonly Server[] => this.all;

  /** Throws SERVER_FAILED when there is none of that name. */
  server(wanted: string): Server {
    const found = this.all.find(({ name }) => name === wanted);
    if (found) return found;
    const known = this.all.map(({ name }) => name).join(', ') || 'none';
    throw new ChatError('SERVER_FAILED', `There is no MCP server "${inLine(wanted)}". There are: ${known}.`);
  }

  /**
   * Starts one more; no other has its name. Resolves when it is ready or has failed, which is one warning.
   */
  async add(config: ServerConfig): Promise<void> {
    const server = new Server(config, this.host);
    this.all.push(server);
    await server.start();
  }

  tools = (): readonly ClientTool[] => this.all.flatMap(({ tools }) => tools);

  prompts = () =>
    this.all.flatMap(({ name: server, prompts }) =>
      prompts.map((prompt) => ({ ...prompt, server, arguments: prompt.arguments ?? [] })),
    );

  /**
   * Collects what trusted servers say of themselves, and which have more tools than are offered, for the
   * system prompt.
   */
  instructions(): string {
    const said = this.all.flatMap(({ config: { name, trust }, instructions = '', left }) => {
      const text = trust ? instructions.trim() : '';
      const end = text.length > mostInstructions ? '…' : '';
      const own = `${text.slice(0, mostInstructions).toWellFormed()}${end}`;
      const lines = [own, left > 0 ? leftOut(left) : ''].filter((line) => line !== '');
      return lines.length === 0 ? [] : [`# ${name}`, ...lines].join('\n');
    });
    return said.join('\n\n');
  }

  async rootsChanged(): Promise<void> {
    await Promise.all(this.all.map((server) => server.rootsChanged()));
  }

  /** Ends all servers; takes 2 seconds at most. */
  async close(): Promise<void> {
    await Promise.all(this.all.map((server) => server.close()));
  }

  /** Ends their processes at once; blocks for 0.3 seconds at most. */
  readonly kill = (): void => endProcesses(this.all.flatMap((server) => server.link?.pid ?? []));
}
