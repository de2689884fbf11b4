import { readChatConfig, readProfiles, type ChatConfig, type Profile } from './config/config.ts';
import type { ServerConfig } from './config/mcp-config.ts';
import { chatFolders, openLog } from './files/chat-files.ts';
import { resolveModel, withoutKeys, keyFinder } from './models/endpoints.ts';
import { addUsage, nameOf, type Endpoint, type Model, type UsageTotals } from './models/model.ts';
import type { ChatOptions } from './options.ts';
import { askForm } from './person/form.ts';
import { createProvider, type ModelProvider } from './providers/create-provider.ts';
import { guardedFetch, recording, replaying } from './providers/fetch.ts';
import { SessionStore } from './session/store.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';
import { traceTo } from './toolbox/link.ts';
import { Toolbox } from './toolbox/toolbox.ts';

/** The command line and the configuration, read before anything is opened. */
export interface ChatSettings {
  readonly options: ChatOptions;
  readonly folders: { readonly config: string; readonly state: string };
  readonly config: ChatConfig;
  readonly store: SessionStore;
}

/** Reads the configuration. Throws ChatError CONFIG_INVALID. */
export async function readSettings(options: ChatOptions): Promise<ChatSettings> {
  const folders = chatFolders(options.env, options.home);
  const config = await readChatConfig(folders.config);
  return { options, folders, config, store: new SessionStore(folders.state, options.cwd) };
}

/** The parts that a running chat is made of. */
export interface ChatEnvironment extends ChatSettings {
  /** The terminal that questions are asked in; without it, nobody can be asked. */
  readonly person: Terminal | undefined;
  /** The folders of a session that has none of its own. */
  readonly roots: readonly string[];
  /** Adds up what the requests of this process took. */
  readonly usageTotals: UsageTotals;
  readonly toolbox: Toolbox;
  readonly ownServers: readonly ServerConfig[];
  /** Tells the person, in a line. */
  warn(text: string): void;
  /** Adds a line to the log file, which has neither keys nor what was said. */
  log(text: string): void;
  /** Resolves the name of a model. Throws ChatError: NO_MODEL, USAGE, CONFIG_INVALID. */
  modelOf(name: string | undefined): Model;
  /** Reads the profiles; with `only`, no file of another name. Throws CONFIG_INVALID. */
  profiles(only?: string): Promise<ReadonlyMap<string, Profile>>;
  /** Finds the key of an endpoint; undefined when it needs none. Throws NO_KEY. */
  keyFor(endpoint: Endpoint): Promise<string | undefined>;
  providerFor(model: Model): ModelProvider;
}

/** Makes the environment of a chat. `roots`: the folders that servers may touch now. No server is started. */
export function createEnvironment(
  settings: ChatSettings,
  terminal: Terminal | undefined,
  roots: () => readonly string[],
): ChatEnvironment {
  const { options, folders, config } = settings;
  const { env } = options;
  const person = terminal?.interactive ? terminal : undefined;
  const log = openLog(folders.state);
  const warn = (text: string) => {
    log(text);
    if (terminal) terminal.note(terminal.paint.warning(`! ${printable(text)}`));
    else if (options.warn) options.warn(text);
    else process.stderr.write(`toolcrib: ${printable(text)}\n`);
  };
  const toolbox = new Toolbox({
    roots,
    elicit: async (request) => (person ? askForm(person, request) : { action: 'decline' }),
    warn,
    log,
    ...(options.trace === undefined ? {} : { trace: traceTo(options.trace) }),
    env: withoutKeys(config, env),
    clientInfo: { name: 'toolcrib-chat', version: options.version },
  });
  const usageTotals: UsageTotals = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const keyFor = keyFinder(env);
  return {
    ...settings,
    person,
    roots: options.roots ?? [options.cwd],
    warn,
    log,
    usageTotals,
    toolbox,
    ownServers: options.ownServer ? [ownServer(options.ownServer, options.cwd)] : [],
    modelOf: (name) => resolveModel(name, config, env),
    profiles: (only) => readProfiles(folders.config, config, only),
    keyFor,
    providerFor: createProviders(settings, { log, keyFor, usageTotals }),
  };
}

/** Our own server as every host starts it. */
const ownServer = ({ command, args }: NonNullable<ChatOptions['ownServer']>, cwd: string): ServerConfig => ({
  name: 'toolcrib',
  command,
  args: [...args],
  env: {},
  headers: {},
  cwd,
  trust: true,
  // In 2025-11-25 a client says at once that its roots have changed.
  protocol: '2025-11-25',
  timeout: 10 * 60_000,
  isOwn: true,
});

/** Makes what speaks to a model; to one that was recorded, over the wire of the recording. */
function createProviders(
  { options }: ChatSettings,
  { log, keyFor, usageTotals }: Pick<ChatEnvironment, 'log' | 'keyFor' | 'usageTotals'>,
): ChatEnvironment['providerFor'] {
  const replay = options.replay === undefined ? undefined : replaying(options.replay);
  const record = options.record === undefined ? undefined : recording(fetch, options.record);
  const guarded = guardedFetch(replay?.fetch ?? record ?? fetch);
  return (asked: Model) => {
    // Nobody is asked, so that any model will do.
    const endpoint = replay ? { ...asked.endpoint, wire: replay.wire } : asked.endpoint;
    const model = { ...asked, endpoint };
    return createProvider(model, {
      // What a provider says may repeat what it was sent.
      onFailure: ({ code, details }) => log([nameOf(model), code, details.status ?? ''].join(' ').trim()),
      onUsage: (usage) => addUsage(usageTotals, model, usage),
      key: async () => (replay ? 'none' : keyFor(model.endpoint)),
      fetch: guarded,
      ...(replay && { sleep: async () => {} }),
    });
  };
}
