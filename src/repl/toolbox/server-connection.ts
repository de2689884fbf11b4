import type { ElicitAnswer, ElicitRequest } from '../person/form-fields.ts';
import type { Client, Prompt } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/server-config.ts';
import { ChatError } from '../errors.ts';
import { callTool, type Callee } from './call-tool.ts';
import { createClient, type Host } from './create-client.ts';
import { closedText, failureText, isLostSession } from './failure-text.ts';
import { identityOf, type Environment } from './fingerprints.ts';
import { oneLine } from '../text/one-line.ts';
import { openTransport, type Line } from './open-transport.ts';
import { within } from './within.ts';
import { createPatience, type Patience } from './patience.ts';
import { listTools } from './server-tools.ts';
import type { Tool } from './tool.ts';
import type { Trace } from './trace.ts';

/** `npx` may have to fetch a server first. */
const connectMs = 60_000;

/** As long as a person who leaves has to wait. */
const closeMs = 3_000;

/** About its tools, in one session. */
const mostWarnings = 10;

/** What a connection needs of the host. */
export interface Surroundings extends Host {
  readonly env: Environment;
  warn(text: string): void;
  readonly trace?: Trace | undefined;
  /** Tools, prompts or the state are no longer what they were. */
  changed(): void;
}

type Ask<T> = (client: Client, timeout: { readonly timeout: number }) => Promise<T>;

type ServerState = 'connecting' | 'ready' | 'failed' | 'closed';

export type ServerConnection = ReturnType<typeof createConnection>;

/** One server: started with `start`, asked, and started again when it has died. */
export function createConnection(config: ServerConfig, world: Surroundings) {
  const { name } = config;
  const identity = identityOf(config, world.env);
  const timeout = { timeout: Math.min(config.timeoutMs, connectMs) };
  const clocks = new Set<Patience>();
  /** Aborted when the last call has ended, or the person wants no more questions: until the next call. */
  let mayAsk: AbortController | undefined;
  const told = new Set<string>();
  /** How each tool was first defined. */
  const first = new Map<string, string>();
  let link: { readonly client?: Client; readonly line: Line } | undefined;
  let starting: Promise<void> | undefined;
  let warnings = 0;

  const isClosed = () => self.state === 'closed';
  const log = (what: string, thrown: unknown) => world.log(`${name}: ${what}: ${failureText(thrown, '')}`);

  const start = (): Promise<void> =>
    (starting ??= open().finally(() => {
      starting = undefined;
    }));

  async function open(): Promise<void> {
    self.state = 'connecting';
    await link?.line.close();
    try {
      const line = await openTransport(config, world);
      link = { line };
      const client = await createClient(config, { ...world, elicit: askPerson }, changes);
      link = { line, client };
      if (isClosed()) return;
      await client.connect(line.transport, { timeout: connectMs });
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
      client.onclose = () => lost(client);
      await Promise.all([refreshTools(client), refreshPrompts(client)]);
      if (isClosed()) return;
      self.protocol = client.getNegotiatedProtocolVersion();
      self.instructions = client.getInstructions();
      self.state = 'ready';
      self.error = undefined;
      world.log(`${name}: started, ${self.tools.length} tools`);
    } catch (thrown) {
      await link?.line.close();
      if (isClosed()) return;
      fail(failureText(thrown, link?.line.lastWords() ?? ''));
    }
    world.changed();
  }

  function fail(why: string): void {
    // One line for one cause, however many notice it.
    if (self.error !== why) world.warn(`MCP server "${name}": ${why}. /mcp restart ${name} tries again.`);
    self.state = 'failed';
    self.error = why;
  }

  function lost(client: Client): void {
    if (link?.client !== client || self.state !== 'ready') return;
    fail(closedText(link.line.lastWords()));
    world.changed();
  }

  const changes = {
    toolsChanged: (client: Client) =>
      void refreshTools(client).then(world.changed, (thrown: unknown) => log('tools', thrown)),
    promptsChanged: (client: Client) => void refreshPrompts(client),
  };

  /** A server that changes all the time must not fill the screen. */
  function tell(text: string): void {
    warnings++;
    if (warnings > mostWarnings) log('tools', text);
    else world.warn(warnings < mostWarnings ? text : `${text} What else it changes is only logged.`);
  }

  async function refreshTools(client: Client): Promise<void> {
    const listed = await listTools(client, config, { ...timeout, identity });
    const before = new Map(self.tools.map(({ tool, definition }) => [tool, definition]));
    self.tools = listed.tools.map((tool) => {
      const trusted = first.get(tool.tool) ?? tool.definition;
      first.set(tool.tool, trusted);
      return {
        ...tool,
        // What it says of itself now is not what the server was trusted for.
        ...(config.source !== 'own' && trusted !== tool.definition && { trusted: false, changed: true }),
        ...(config.source === 'own' && { plans: true }),
        call: (args, options) => callTool(callee, tool, args, options),
      };
    });
    for (const problem of listed.problems.filter((one) => !told.has(one))) {
      told.add(problem);
      tell(`MCP server "${name}": left out ${oneLine(problem)}.`);
    }
    const changed = self.tools.filter(
      ({ tool, definition }) => (before.get(tool) ?? definition) !== definition,
    );
    if (changed.length === 0) return;
    const names = oneLine(changed.map(({ tool }) => tool).join(', '));
    tell(`MCP server "${name}" has changed ${names}: what was allowed of it is asked again.`);
  }

  async function refreshPrompts(client: Client): Promise<void> {
    if (client.getServerCapabilities()?.prompts === undefined) return;
    try {
      self.prompts = (await client.listPrompts({}, { ...timeout, cacheMode: 'refresh' })).prompts;
    } catch (thrown) {
      // Tools matter more: a server is not given up for its prompts.
      log('prompts', thrown);
    }
  }

  /** How long a person takes to answer is not the server's time. */
  async function askPerson(request: ElicitRequest): Promise<ElicitAnswer> {
    const during = mayAsk;
    // One that does nothing for the person has nothing to ask: what they type would be meant for somebody else.
    if (!during || during.signal.aborted) return { action: 'decline' };
    const paused = [...clocks];
    for (const clock of paused) clock.pause();
    try {
      const signal = AbortSignal.any([request.signal, during.signal]);
      const answer = await world.elicit({ ...request, signal });
      if (answer.action === 'cancel' && !request.signal.aborted) during.abort();
      return answer;
    } finally {
      for (const clock of paused) clock.resume();
    }
  }

  /** Starts a server that has died once more. Throws SERVER_FAILED. */
  async function connected(): Promise<Client> {
    if (self.state !== 'ready' && !isClosed()) await start();
    if (self.state === 'ready' && link?.client) return link.client;
    const why = isClosed() ? 'it was closed' : (self.error ?? 'it did not start');
    throw new ChatError(
      'SERVER_FAILED',
      `MCP server "${name}" is not running: ${why}. Use /mcp restart ${name}.`,
    );
  }

  async function withClient<T>(ask: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await ask(await connected());
    } catch (thrown) {
      if (config.kind !== 'http' || !isLostSession(thrown)) throw thrown;
      // The server was started anew, and has not looked at the request.
      self.state = 'failed';
      return await ask(await connected());
    }
  }

  const callee: Callee = {
    timeoutMs: config.timeoutMs,
    current: (tool) => self.tools.find((one) => one.tool === tool),
    withClient,
    patience() {
      if (clocks.size === 0) mayAsk = new AbortController();
      const clock = createPatience(config.timeoutMs, () => {
        clocks.delete(clock);
        if (clocks.size === 0) mayAsk?.abort();
      });
      clocks.add(clock);
      return clock;
    },
    lastWords: () => link?.line.lastWords() ?? '',
  };

  const self = {
    config,
    state: 'connecting' as ServerState,
    /** Why it failed. */
    error: undefined as string | undefined,
    protocol: undefined as string | undefined,
    instructions: undefined as string | undefined,
    /** Those of a server that has died stay: a call starts it again. */
    tools: [] as readonly Tool[],
    prompts: [] as readonly Prompt[],
    /** Resolves when it is ready or has failed. */
    start,
    /**
     * Runs a request, after one attempt to start a server that is not running. Throws what it throws, or
     * SERVER_FAILED.
     */
    use: <T>(ask: Ask<T>) => withClient((client) => ask(client, timeout)),
    async rootsChanged() {
      // The newer revision has no such message: its servers ask with each call.
      if (self.state !== 'ready' || link?.client?.getProtocolEra() === 'modern') return;
      await link?.client?.sendRootsListChanged().catch((thrown: unknown) => log('roots', thrown));
    },
    async close() {
      if (self.state === 'ready') world.log(`${name}: ended`);
      self.state = 'closed';
      // Started again by the person, it is taken as it is then.
      first.clear();
      // One that is just being started ends as soon as it notices.
      await within(closeMs, Promise.all([link?.line.close(), starting]));
    },
    /** Its process, to be ended at once. */
    pid: () => link?.line.pid(),
  };
  return self;
}
