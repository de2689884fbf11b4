import type { Client, Prompt } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/mcp-config.ts';
import { ChatError } from '../errors.ts';
import type { ContentPart } from '../message.ts';
import { inLine } from '../terminal/printable.ts';
import { unlessAborted, settledWithin } from '../turn/event-stream.ts';
import { endProcesses, failureText, isAnswer, openLink, type ChatHost, type Link } from './link.ts';
import {
  promptParts,
  replyOf,
  resourceParts,
  failed,
  type CallOptions,
  type CallPlan,
  type ClientTool,
  type ToolReply,
} from './tool.ts';
import { ServerQuestions } from './server-questions.ts';
import { listTools } from './server-tools.ts';

/** `npx` may have to fetch a server first. */
const connectMs = 60_000;
/** The time a server may take to end once its input has ended; the SDK would wait four seconds. */
const patienceMs = 1000;
/** The tools that cannot be offered and are warned of, at most. */
const mostProblems = 10;
/** The longest timer there is: how long a call may take is counted here. */
const forever = 2 ** 31 - 1;

/** One server: started with `start`, asked, and started again when it has died. */
export class Server {
  readonly config: ServerConfig;
  state: 'connecting' | 'ready' | 'failed' | 'closed' = 'connecting';
  /** The reason of its failure. */
  error: string | undefined;
  protocol: string | undefined;
  instructions: string | undefined;
  /** The tools; those of a server that has died stay: a call starts it again. */
  tools: readonly ClientTool[] = [];
  /** The number of tools more that it has, which no request has room for. */
  left = 0;
  prompts: readonly Prompt[] = [];
  private readonly host: ChatHost;
  private readonly timeout: { readonly timeout: number };
  private readonly questions: ServerQuestions;
  private readonly warned = new Set<string>();
  /** The definition of each tool when the person started the server. */
  private readonly first = new Map<string, string>();
  link: Link | undefined;
  private starting: Promise<void> | undefined;

  constructor(config: ServerConfig, host: ChatHost) {
    this.config = config;
    this.questions = new ServerQuestions(host.elicit);
    this.host = { ...host, elicit: (request) => this.questions.ask(request) };
    this.timeout = { timeout: Math.min(config.timeout, connectMs) };
  }

  get name(): string {
    return this.config.name;
  }

  /** Resolves when it is ready or has failed. */
  start(): Promise<void> {
    this.starting ??= this.open().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  /** A prompt with its arguments filled in, as parts of a message. Throws SERVER_FAILED. */
  async prompt(name: string, args: Readonly<Record<string, string>>): Promise<ContentPart[]> {
    const params = { name, arguments: { ...args } };
    return promptParts((await this.use((client) => client.getPrompt(params, this.timeout))).messages);
  }

  /** Throws SERVER_FAILED. */
  async resource(uri: string): Promise<ContentPart[]> {
    return resourceParts(await this.use((client) => client.readResource({ uri }, this.timeout)));
  }

  /** The addresses of its resources; none when it is not running, or does not answer. */
  async resources(): Promise<string[]> {
    if (this.state !== 'ready') return [];
    const listed = this.use((client) => client.listResources({}, this.timeout));
    return (await listed.catch(() => ({ resources: [] }))).resources.map(({ uri }) => uri);
  }

  /** Runs a request; a server that is not running is started first. Throws SERVER_FAILED. */
  private async use<T>(ask: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.connected();
    return ask(client).catch((error: unknown) => {
      const message = `MCP server "${this.name}": ${failureText(error)}.`;
      throw new ChatError('SERVER_FAILED', message, { cause: error });
    });
  }

  async restart(): Promise<void> {
    await this.close();
    await this.start();
  }

  async rootsChanged(): Promise<void> {
    // The newer revision has no such message: its servers ask with each call.
    if (this.state !== 'ready' || this.link?.client.getProtocolEra() === 'modern') return;
    await this.link?.client.sendRootsListChanged().catch((thrown: unknown) => this.log('roots', thrown));
  }

  /** Ends the input, then the process; takes two seconds at most. */
  async close(): Promise<void> {
    if (this.state === 'ready') this.host.log(`${this.name}: ended`);
    this.state = 'closed';
    // Started again by the person, it is taken as it is then.
    this.first.clear();
    // One that is just being started ends as soon as it notices.
    await settledWithin(2 * patienceMs, Promise.all([this.endLink(), this.starting]));
  }

  private async endLink(): Promise<void> {
    // The SDK forgets the process as soon as it begins to close it.
    const pid = this.link?.pid;
    const closed = this.link?.transport.close();
    if (!closed || (await settledWithin(patienceMs, closed))) return;
    if (pid !== undefined) endProcesses([pid]);
    await settledWithin(patienceMs / 2, closed);
  }

  private readonly isClosed = (): boolean => this.state === 'closed';

  private log(what: string, thrown: unknown): void {
    this.host.log(`${this.name}: ${what}: ${failureText(thrown)}`);
  }

  private async open(): Promise<void> {
    this.state = 'connecting';
    await this.endLink();
    try {
      this.link = await openLink(this.config, this.host, {
        tools: (of) => {
          void this.refreshTools(of).catch((thrown: unknown) => this.log('tools', thrown));
        },
        prompts: (of) => {
          void this.refreshPrompts(of);
        },
      });
      const { client, transport } = this.link;
      if (this.isClosed()) return;
      await client.connect(transport, { timeout: connectMs });
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
      client.onclose = () => {
        if (this.link?.client === client && this.state === 'ready') this.fail({ code: 'CONNECTION_CLOSED' });
      };
      await Promise.all([this.refreshTools(client), this.refreshPrompts(client)]);
      if (this.isClosed()) return;
      this.protocol = client.getNegotiatedProtocolVersion();
      this.instructions = client.getInstructions();
      this.state = 'ready';
      this.error = undefined;
      this.host.log(`${this.name}: started, ${this.tools.length} tools`);
    } catch (thrown) {
      await this.endLink();
      if (!this.isClosed()) this.fail(thrown);
    }
  }

  private fail(thrown: unknown): void {
    const { name } = this;
    const why = failureText(thrown, this.link?.lastWords);
    // One line for one cause, however many notice it.
    if (this.error !== why) this.host.warn(`MCP server "${name}": ${why}. /mcp restart ${name} tries again.`);
    this.state = 'failed';
    this.error = why;
  }

  private async refreshTools(client: Client): Promise<void> {
    const { tools, left, problems } = await listTools(client, this.config, this.timeout);
    const { isOwn } = this.config;
    if (left > 0 && this.left === 0) this.warnOnce(tooMany(tools.length, left));
    this.left = left;
    this.tools = tools.map((tool) => {
      const first = this.first.get(tool.tool) ?? tool.definition;
      this.first.set(tool.tool, first);
      // What it says of itself now is not what the server was trusted for.
      const changed = !isOwn && first !== tool.definition;
      const trusted = tool.trusted && !changed;
      const call: ClientTool['call'] = (args, options) => this.call(tool, args, options);
      return { ...tool, trusted, changed, plans: isOwn, call };
    });
    for (const problem of problems.slice(0, mostProblems)) this.warnOnce(`: left out ${inLine(problem)}.`);
    if (problems.length > mostProblems) this.warnOnce(`: left out ${problems.length - mostProblems} more.`);
    const changed = this.tools.filter((tool) => tool.changed).map(({ tool }) => tool);
    if (changed.length > 0)
      this.warnOnce(` has changed ${inLine(changed.join(', '))}: what was allowed of it is asked again.`);
  }

  /** A server that says the same again and again is told of once. */
  private warnOnce(text: string): void {
    if (!this.warned.has(text)) this.host.warn(`MCP server "${this.name}"${text}`);
    this.warned.add(text);
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

  /**
   * Calls a tool. Never throws: the model is told why there is no result, and whether the tool may have run.
   */
  private async call(
    { tool: name, definition, inputSchema }: Omit<ClientTool, 'call'>,
    args: Readonly<Record<string, unknown>>,
    { signal, progress, meta }: CallOptions,
  ): Promise<ToolReply> {
    const { name: server, timeout: timeoutMs, url } = this.config;
    this.questions.callBegins();
    const late = new AbortController();
    const timer = setTimeout(() => {
      if (this.questions.areOpen) timer.refresh();
      else late.abort();
    }, timeoutMs);
    const ended = AbortSignal.any([signal, late.signal]);
    let sent = false;
    try {
      // A server that is still being started does not know of the signal.
      const client = await unlessAborted(this.connected(), ended);
      if (!client || ended.aborted) throw ended.reason;
      // As it is now: it may have been started again, or have changed, since the person was asked.
      const current = this.tools.find(({ tool }) => tool === name);
      if (!current) return failed(`MCP server "${server}" no longer has the tool ${name}.`);
      if (current.definition !== definition)
        return failed(
          `The definition of ${name} has changed. Look at it, and call it again if it still fits.`,
        );
      // A plan does nothing.
      sent = meta?.['toolcrib/plan'] === undefined;
      const result = await client.callTool(
        { name, arguments: { ...args }, ...(meta && { _meta: meta }) },
        {
          signal: ended,
          timeout: forever,
          onprogress({ message, progress: steps, total }) {
            timer.refresh();
            const said = message ?? (total === undefined ? `${steps}` : `${steps} of ${total}`);
            progress?.(said.slice(0, 500));
          },
          // Without its output schema: a result that does not fit is still a result.
          toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } },
        },
      );
      const plan = sent ? undefined : (result._meta?.['toolcrib/plan'] as CallPlan | undefined);
      return { ...replyOf(result), ...(plan && { plan }) };
    } catch (error) {
      // An abort and a timeout look the same in the SDK: the signals tell them apart.
      const ran = sent ? 'it may or may not have run' : 'it was not run';
      if (signal.aborted) return failed(`Interrupted: ${ran}.`);
      if (late.signal.aborted) return failed(`No answer within ${timeoutMs / 1000} s: ${ran}.`);
      if (error instanceof ChatError) return failed(error.message);
      if (isAnswer(error)) return failed(`MCP server "${server}" answered with ${failureText(error)}`);
      // Over HTTP nobody tells that a server was started anew, and knows nothing of us.
      if (url !== undefined && this.state === 'ready') this.state = 'failed';
      const why = failureText(error, this.link?.lastWords);
      return failed(`MCP server "${server}" failed during the call: ${why}. I${ran.slice(1)}.`);
    } finally {
      clearTimeout(timer);
      this.questions.callEnds();
    }
  }

  /** Starts a server that has died once more. Throws SERVER_FAILED. */
  private async connected(): Promise<Client> {
    const { name } = this;
    if (this.state !== 'ready' && !this.isClosed()) await this.start();
    if (this.state === 'ready' && this.link) return this.link.client;
    const why = this.isClosed() ? 'it was closed' : (this.error ?? 'it did not start');
    const message = `MCP server "${name}" is not running: ${why}. Use /mcp restart ${name}.`;
    throw new ChatError('SERVER_FAILED', message);
  }
}

const tooMany = (offered: number, left: number): string =>
  ` has ${offered + left} tools: models are told of the first ${offered}, and ${left} are left out. ` +
  'Name those that you need in its entry of mcp.json: "tools": ["search_*"].';
