import { readChatConfig, readProfiles } from './config/config.ts';
import type { ServerConfig } from './config/mcp-config.ts';
import { chatFolders, openLog } from './files/own-files.ts';
import { resolveModel, withoutKeys, keyFinder } from './models/endpoints.ts';
import { nameOf, type Model, spend, type Spent } from './models/model.ts';
import type { ChatOptions } from './options.ts';
import { askForm } from './person/form.ts';
import { createProvider } from './providers/create-provider.ts';
import { guardedFetch, recording, replaying } from './providers/fetch.ts';
import { Store } from './session/store.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';
import { traceTo } from './toolbox/link.ts';
import { Toolbox } from './toolbox/toolbox.ts';

/** What is known before anything is opened. */
export type Setting = Awaited<ReturnType<typeof readSetting>>;

/** Reads the configuration. Throws ChatError CONFIG_INVALID. */
export async function readSetting(options: ChatOptions) {
  const folders = chatFolders(options.env, options.home);
  const config = await readChatConfig(folders.config);
  return { options, folders, config, store: new Store(folders.state, options.cwd) };
}

/** What a running chat is made of. */
export type World = ReturnType<typeof worldOf>;

/** `terminal` is the person's side; `roots`, the folders that servers may touch now. No server is started. */
export function worldOf(setting: Setting, terminal: Terminal | undefined, roots: () => readonly string[]) {
  const { options, folders, config } = setting;
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
  const spent: Spent = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const keyFor = keyFinder(env);
  const created = providers(setting, { log, keyFor, spent });
  return {
    ...setting,
    /** Without it, nobody can be asked. */
    person,
    /** Where a session has none of its own. */
    roots: options.roots ?? [options.cwd],
    /** A line for the person; `log`: for the log file, which has neither keys nor what was said. */
    warn,
    log,
    spent,
    toolbox,
    ownServers: options.ownServer ? [ownServer(options.ownServer, options.cwd)] : [],
    modelOf: (name: string | undefined) => resolveModel(name, config, env),
    profiles: (only?: string) => readProfiles(folders.config, config, only),
    keyFor,
    providerFor: created,
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

/** Makes what speaks to a model; to one that was recorded, as it was spoken to then. */
function providers(
  { options }: Setting,
  { log, keyFor, spent }: { log(text: string): void; keyFor: ReturnType<typeof keyFinder>; spent: Spent },
) {
  const replay = options.replay === undefined ? undefined : replaying(options.replay);
  const record = options.record === undefined ? undefined : recording(fetch, options.record);
  const guarded = guardedFetch(replay?.fetch ?? record ?? fetch);
  return (asked: Model) => {
    // Nobody is asked, so that any model will do.
    const endpoint = replay ? { ...asked.endpoint, wire: replay.wire } : asked.endpoint;
    const model = { ...asked, endpoint };
    return createProvider(model, {
      // What a provider says may repeat what it was sent.
      failed: ({ code, facts }) => log([nameOf(model), code, facts.status ?? ''].join(' ').trim()),
      spent: (usage) => spend(spent, model, usage),
      key: async () => (replay ? 'none' : keyFor(model.endpoint)),
      fetch: guarded,
      ...(replay && { sleep: async () => {} }),
    });
  };
}
