import type { Client, Prompt } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/server-config.ts';
import { ChatError } from '../errors.ts';
import type { ElicitAnswer, ElicitRequest } from '../person/form.ts';
import { oneLine } from '../text/one-line.ts';
import { callTool } from './call-tool.ts';
import { failureText } from './failure-text.ts';
import { openLink, type Host, type Link } from './link.ts';
import { listTools } from './server-tools.ts';
import type { CallOptions, Tool, ToolReply } from './tool.ts';

/** `npx` may have to fetch a server first. */
const connectMs = 60_000;
/** How long a server that gets no more input may take to end by itself; the SDK would wait four seconds. */
const patienceMs = 1000;

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
  private readonly world: Host;
  private readonly timeout: { readonly timeout: number };
  private calls = 0;
  /** How many it has put to the person that are not answered yet. */
  questions = 0;
  /** Aborted when the last call has ended, or the person wants no more questions: until the next call. */
  private mayAsk: AbortController | undefined;
  private readonly warned = new Set<string>();
  /** How each tool was defined when the person started the server. */
  private readonly first = new Map<string, string>();
  private link: Link | undefined;
  private starting: Promise<void> | undefined;

  constructor(config: ServerConfig, world: Host) {
    this.config = config;
    this.world = world;
    this.timeout = { timeout: Math.min(config.timeoutMs, connectMs) };
  }

  /** Resolves when it is ready or has failed. */
  start(): Promise<void> {
    return (this.starting ??= this.open().finally(() => (this.starting = undefined)));
  }

  /** Resolves when it no longer starts. */
  async settled(): Promise<void> {
    await this.starting;
  }

  /** Runs a request; a server that is not running is started first. Throws SERVER_FAILED. */
  async use<T>(ask: (client: Client, timeout: { readonly timeout: number }) => Promise<T>): Promise<T> {
    const client = await this.connected();
    return ask(client, this.timeout).catch((error: unknown) => {
      const message = `MCP server "${this.config.name}": ${failureText(error, '')}.`;
      throw new ChatError('SERVER_FAILED', message, { cause: error });
    });
  }

  async rootsChanged(): Promise<void> {
    // The newer revision has no such message: its servers ask with each call.
    if (this.state !== 'ready' || this.link?.client.getProtocolEra() === 'modern') return;
    await this.link?.client.sendRootsListChanged().catch((thrown: unknown) => this.log('roots', thrown));
  }

  /** Ends the input, then the process; takes two seconds at most. */
  async close(): Promise<void> {
    if (this.state === 'ready') this.world.log(`${this.config.name}: ended`);
    this.state = 'closed';
    // Started again by the person, it is taken as it is then.
    this.first.clear();
    // One that is just being started ends as soon as it notices.
    await within(2 * patienceMs, Promise.all([this.endLink(), this.starting]));
  }

  /** Its process, to be ended at once. */
  pid = (): number | undefined => this.link?.pid();

  private async endLink(): Promise<void> {
    const pid = this.pid();
    const closed = this.link?.transport.close();
    if (!closed || (await within(patienceMs, closed))) return;
    if (pid !== undefined) endProcesses([pid]);
    await within(patienceMs / 2, closed);
  }

  private readonly isClosed = (): boolean => this.state === 'closed';
  /** What it last wrote to standard error. */
  readonly lastWords = (): string => this.link?.lastWords() ?? '';

  private log(what: string, thrown: unknown): void {
    this.world.log(`${this.config.name}: ${what}: ${failureText(thrown, '')}`);
  }

  private async open(): Promise<void> {
    this.state = 'connecting';
    await this.endLink();
    try {
      const host = { ...this.world, elicit: (request: ElicitRequest) => this.askPerson(request) };
      this.link = await openLink(this.config, host, {
        toolsChanged: (of) =>
          void this.refreshTools(of).catch((thrown: unknown) => this.log('tools', thrown)),
        promptsChanged: (of) => void this.refreshPrompts(of),
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
      this.world.log(`${this.config.name}: started, ${this.tools.length} tools`);
    } catch (thrown) {
      await this.endLink();
      if (!this.isClosed()) this.fail(thrown);
    }
  }

  private fail(thrown: unknown): void {
    const { name } = this.config;
    const why = failureText(thrown, this.lastWords());
    // One line for one cause, however many notice it.
    if (this.error !== why)
      this.world.warn(`MCP server "${name}": ${why}. /mcp restart ${name} tries again.`);
    this.state = 'failed';
    this.error = why;
  }

  private async refreshTools(client: Client): Promise<void> {
    const { tools, problems } = await listTools(client, this.config, this.timeout);
    const { isOwn } = this.config;
    const changed: string[] = [];
    this.tools = tools.map((tool) => {
      const first = this.first.get(tool.tool) ?? tool.definition;
      this.first.set(tool.tool, first);
      // What it says of itself now is not what the server was trusted for.
      const isChanged = !isOwn && first !== tool.definition;
      if (isChanged) changed.push(tool.tool);
      const trusted = tool.trusted && !isChanged;
      return {
        ...tool,
        trusted,
        changed: isChanged,
        plans: isOwn,
        call: (args, options) => this.call(tool, args, options),
      };
    });
    for (const problem of problems) this.warnOnce(`: left out ${oneLine(problem)}.`);
    const names = oneLine(changed.join(', '));
    if (names !== '') this.warnOnce(` has changed ${names}: what was allowed of it is asked again.`);
  }

  /** A server that says the same again and again is told of once. */
  private warnOnce(text: string): void {
    if (!this.warned.has(text)) this.world.warn(`MCP server "${this.config.name}"${text}`);
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
    return callTool(this, tool, args, options).finally(() => {
      if (--this.calls === 0) this.mayAsk?.abort();
    });
  }

  /** A call had no answer: over HTTP nobody tells that a server was started anew, and knows nothing of us. */
  gotNone(): void {
    if (this.config.kind === 'http' && this.state === 'ready') this.state = 'failed';
  }

  /** Starts a server that has died once more. Throws SERVER_FAILED. */
  async connected(): Promise<Client> {
    const { name } = this.config;
    if (this.state !== 'ready' && !this.isClosed()) await this.start();
    if (this.state === 'ready' && this.link) return this.link.client;
    const why = this.isClosed() ? 'it was closed' : (this.error ?? 'it did not start');
    throw new ChatError(
      'SERVER_FAILED',
      `MCP server "${name}" is not running: ${why}. Use /mcp restart ${name}.`,
    );
  }
}

/**
 * Ends processes while nothing else may run (a crash, a second Ctrl-C, a server that does not end by itself): TERM,
 * so that servers end what they started, and KILL 0.3 seconds later.
 */
export function endProcesses(pids: readonly number[]): void {
  const running = pids.filter((pid) => signalTo(pid, 'SIGTERM'));
  if (running.length === 0) return;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  for (const pid of running) signalTo(pid, 'SIGKILL');
}

function signalTo(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // It has ended, as was wanted.
  }
}

/** Whether it was done in time; a failure counts as done. */
export async function within(ms: number, done: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const isDone = () => true;
  return Promise.race([done.then(isDone, isDone), late]).finally(() => clearTimeout(timer));
}
