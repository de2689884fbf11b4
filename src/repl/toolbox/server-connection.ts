import type { Client, Prompt } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/server-config.ts';
import { ChatError } from '../errors.ts';
import type { ElicitAnswer, ElicitRequest } from '../person/form-fields.ts';
import { oneLine } from '../text/one-line.ts';
import { callTool, type Callee } from './call-tool.ts';
import { createClient, type Host } from './create-client.ts';
import { within } from './ending.ts';
import { failureText, isAnswer } from './failure-text.ts';
import { identityOf } from './fingerprints.ts';
import { openTransport, type Environment, type Line } from './open-transport.ts';
import { listTools } from './server-tools.ts';
import type { CallOptions, Tool, ToolReply } from './tool.ts';
import type { Trace } from './trace.ts';

/** `npx` may have to fetch a server first. */
const connectMs = 60_000;
/** As long as a person who leaves has to wait. */
const closeMs = 3_000;

/** What a connection needs of the host. */
export interface Surroundings extends Host {
  readonly env: Environment;
  warn(text: string): void;
  readonly trace?: Trace | undefined;
}

/** One server: started with `start`, asked, and started again when it has died. */
export class ServerConnection {
  readonly config: ServerConfig;
  state: 'connecting' | 'ready' | 'failed' | 'closed' = 'connecting';
  /** Why it failed. */
  error: string | undefined;
  protocol: string | undefined;
  instructions: string | undefined;
  /** Those of a server that has died stay: a call starts it again. */
  tools: readonly Tool[] = [];
  prompts: readonly Prompt[] = [];
  private readonly world: Surroundings;
  private readonly timeout: { readonly timeout: number };
  private calls = 0;
  private questions = 0;
  /** Aborted when the last call has ended, or the person wants no more questions: until the next call. */
  private mayAsk: AbortController | undefined;
  private readonly warned = new Set<string>();
  /** How each tool was first defined. */
  private readonly first = new Map<string, string>();
  private link: { readonly client?: Client; readonly line: Line } | undefined;
  private starting: Promise<void> | undefined;

  constructor(config: ServerConfig, world: Surroundings) {
    this.config = config;
    this.world = world;
    this.timeout = { timeout: Math.min(config.timeoutMs, connectMs) };
  }

  /** Resolves when it is ready or has failed. */
  start(): Promise<void> {
    return (this.starting ??= this.open().finally(() => (this.starting = undefined)));
  }

  /** Runs a request; a server that is not running is started first. Throws what it throws, or SERVER_FAILED. */
  async use<T>(ask: (client: Client, timeout: { readonly timeout: number }) => Promise<T>): Promise<T> {
    return ask(await this.connected(), this.timeout);
  }

  async rootsChanged(): Promise<void> {
    // The newer revision has no such message: its servers ask with each call.
    if (this.state !== 'ready' || this.link?.client?.getProtocolEra() === 'modern') return;
    await this.link?.client?.sendRootsListChanged().catch((thrown: unknown) => this.log('roots', thrown));
  }

  async close(): Promise<void> {
    if (this.state === 'ready') this.world.log(`${this.config.name}: ended`);
    this.state = 'closed';
    // Started again by the person, it is taken as it is then.
    this.first.clear();
    // One that is just being started ends as soon as it notices.
    await within(closeMs, Promise.all([this.link?.line.close(), this.starting]));
  }

  /** Its process, to be ended at once. */
  pid(): number | undefined {
    return this.link?.line.pid();
  }

  private readonly isClosed = (): boolean => this.state === 'closed';
  private readonly lastWords = (): string => this.link?.line.lastWords() ?? '';

  private log(what: string, thrown: unknown): void {
    this.world.log(`${this.config.name}: ${what}: ${failureText(thrown, '')}`);
  }

  private async open(): Promise<void> {
    this.state = 'connecting';
    await this.link?.line.close();
    try {
      const line = await openTransport(this.config, this.world);
      this.link = { line };
      const host = { ...this.world, elicit: (request: ElicitRequest) => this.askPerson(request) };
      const client = await createClient(this.config, host, {
        toolsChanged: (of) =>
          void this.refreshTools(of).catch((thrown: unknown) => this.log('tools', thrown)),
        promptsChanged: (of) => void this.refreshPrompts(of),
      });
      this.link = { line, client };
      if (this.isClosed()) return;
      await client.connect(line.transport, { timeout: connectMs });
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
      client.onclose = () => this.link?.client === client && this.state === 'ready' && this.failClosed();
      await Promise.all([this.refreshTools(client), this.refreshPrompts(client)]);
      if (this.isClosed()) return;
      this.protocol = client.getNegotiatedProtocolVersion();
      this.instructions = client.getInstructions();
      this.state = 'ready';
      this.error = undefined;
      this.world.log(`${this.config.name}: started, ${this.tools.length} tools`);
    } catch (thrown) {
      await this.link?.line.close();
      if (!this.isClosed()) this.fail(failureText(thrown, this.lastWords()));
    }
  }

  private failClosed(): void {
    this.fail(failureText({ code: 'CONNECTION_CLOSED' }, this.lastWords()));
  }

  private fail(why: string): void {
    const { name } = this.config;
    // One line for one cause, however many notice it.
    if (this.error !== why)
      this.world.warn(`MCP server "${name}": ${why}. /mcp restart ${name} tries again.`);
    this.state = 'failed';
    this.error = why;
  }

  /** A server that says the same again and again is told of once. */
  private warnOnce(text: string): void {
    if (!this.warned.has(text)) this.world.warn(`MCP server "${this.config.name}"${text}`);
    this.warned.add(text);
  }

  private async refreshTools(client: Client): Promise<void> {
    const { config } = this;
    const identity = identityOf(config);
    const listed = await listTools(client, config, { ...this.timeout, identity });
    const { isOwn } = config;
    const before = this.tools;
    this.tools = listed.tools.map((tool) => {
      const trusted = this.first.get(tool.tool) ?? tool.definition;
      this.first.set(tool.tool, trusted);
      return {
        ...tool,
        // What it says of itself now is not what the server was trusted for.
        ...(!isOwn && trusted !== tool.definition && { trusted: false, changed: true }),
        ...(isOwn && { plans: true }),
        call: (args, options) => this.call(tool, args, options),
      };
    });
    for (const problem of listed.problems) this.warnOnce(`: left out ${oneLine(problem)}.`);
    const isChanged = ({ tool, definition }: Tool) =>
      before.some((one) => one.tool === tool && one.definition !== definition);
    const names = oneLine(
      this.tools
        .filter(isChanged)
        .map(({ tool }) => tool)
        .join(', '),
    );
    if (names !== '') this.warnOnce(` has changed ${names}: what was allowed of it is asked again.`);
  }

  private async refreshPrompts(client: Client): Promise<void> {
    if (client.getServerCapabilities()?.prompts === undefined) return;
    try {
      this.prompts = (await client.listPrompts({}, { ...this.timeout, cacheMode: 'refresh' })).prompts;
    } catch (thrown) {
      // Tools matter more: a server is not given up for its prompts.
      this.log('prompts', thrown);
    }
  }

  private async askPerson(request: ElicitRequest): Promise<ElicitAnswer> {
    const during = this.mayAsk;
    // One that does nothing for the person has nothing to ask: what they type would be meant for somebody else.
    if (!during || during.signal.aborted) return { action: 'decline' };
    this.questions++;
    try {
      const signal = AbortSignal.any([request.signal, during.signal]);
      const answer = await this.world.elicit({ ...request, signal });
      if (answer.action === 'cancel' && !request.signal.aborted) during.abort();
      return answer;
    } finally {
      this.questions--;
    }
  }

  private async call(
    tool: Omit<Tool, 'call'>,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<ToolReply> {
    if (this.calls++ === 0) this.mayAsk = new AbortController();
    const callee: Callee = {
      timeoutMs: this.config.timeoutMs,
      current: (name) => this.tools.find((one) => one.tool === name),
      connected: () => this.connected(),
      isAsking: () => this.questions > 0,
      lastWords: this.lastWords,
      // Over HTTP nobody tells that a server was started anew, and knows nothing of us: the next call does it.
      failed: (error) => {
        if (this.config.kind === 'http' && this.state === 'ready' && !isAnswer(error)) this.state = 'failed';
      },
    };
    return callTool(callee, tool, args, options).finally(() => {
      if (--this.calls === 0) this.mayAsk?.abort();
    });
  }

  /** Starts a server that has died once more. Throws SERVER_FAILED. */
  private async connected(): Promise<Client> {
    const { name } = this.config;
    if (this.state !== 'ready' && !this.isClosed()) await this.start();
    if (this.state === 'ready' && this.link?.client) return this.link.client;
    const why = this.isClosed() ? 'it was closed' : (this.error ?? 'it did not start');
    throw new ChatError(
      'SERVER_FAILED',
      `MCP server "${name}" is not running: ${why}. Use /mcp restart ${name}.`,
    );
  }
}
