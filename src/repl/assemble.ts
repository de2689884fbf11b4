import { Chat, chosen, warnOfGone, type World } from './chat.ts';
import { readChatConfig, type ChatConfig } from './config/config.ts';
import { profileNamed, readProfiles } from './config/profiles.ts';
import { chatFolders } from './files/folders.ts';
import { openLog } from './files/log.ts';
import { firstModel } from './first-model.ts';
import { resolveModel, withoutKeys } from './models/endpoints.ts';
import { keyFinder } from './models/key.ts';
import { nameOf, type Model } from './models/model.ts';
import type { ChatOptions } from './options.ts';
import { ownTools } from './own-tools/own-tools.ts';
import { askForm } from './person/form.ts';
import type { Provider } from './providers/provider.ts';
import { recording, replaying } from './providers/recording.ts';
import { ownServer } from './servers.ts';
import { openSession } from './session-choice.ts';
import type { Session } from './session/session.ts';
import { Store } from './session/store.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';
import { Toolbox } from './toolbox/toolbox.ts';
import { traceTo } from './toolbox/trace.ts';
import { counted, type Spent } from './turn/spent.ts';

/** What is known before anything is opened. */
export interface Setting {
  readonly options: ChatOptions;
  readonly folders: World['folders'];
  readonly config: ChatConfig;
  readonly store: Store;
}

/** Reads the configuration. Throws ChatError CONFIG_INVALID. */
export async function readSetting(options: ChatOptions): Promise<Setting> {
  const folders = chatFolders(options.env, options.platform, options.home);
  const config = await readChatConfig(folders.config);
  return { options, folders, config, store: new Store(folders.state, options.cwd) };
}

/**
 * A chat from the command line and the configuration. No server is started and no model asked yet. `terminal` is
 * the person's side; without it, nobody can be asked. Throws ChatError: NO_MODEL, CONFIG_INVALID, SESSION_UNUSABLE.
 */
export async function assemble(setting: Setting, terminal: Terminal | undefined): Promise<Chat> {
  const { options, config, store } = setting;
  // Set when there is a chat: until then, servers are not started.
  const chat: { current?: Chat } = {};
  const world = worldOf(setting, terminal, () => chat.current?.roots ?? options.roots);
  const session = await openSession(options, store, { terminal, warn: world.warn });
  await obeyFlags(session, world);
  const { profile: named = config.profile, model: known } = session.state;
  const profile = named ? await profileNamed(named, world) : undefined;
  // An alias knows more of a model than its name does.
  const name = options.model ?? known ?? profile?.model;
  const model = await firstModel(name, world, terminal);
  const made = new Chat(world, session, { model, profile });
  chat.current = made;
  warnOfGone(made);
  world.log(`toolcrib ${options.version} starts: ${nameOf(model)}, mode ${made.mode}`);
  return made;
}

/** What is said on the command line is newer than what the session says. Throws USAGE for no profile, or no model. */
async function obeyFlags(session: Session, world: World): Promise<void> {
  const { options, modelOf } = world;
  const { profile, model, mode, roots } = options;
  if (profile !== undefined) session.append(chosen(await profileNamed(profile, world)));
  if (model !== undefined) session.append({ type: 'model', model: nameOf(modelOf(model)) });
  if (mode && mode !== 'yolo') session.append({ type: 'mode', mode });
  if (options.rootsGiven) session.append({ type: 'roots', roots });
}

function worldOf(setting: Setting, terminal: Terminal | undefined, roots: () => readonly string[]): World {
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
    servers: ownServer(options),
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
  const created = providers(setting, { log, keyFor });
  return {
    ...setting,
    person,
    warn,
    log,
    spent,
    ownTools,
    toolbox,
    modelOf: (name) => resolveModel(name, config, env),
    profiles: () => readProfiles(folders.config, config),
    keyFor,
    providerFor: (model) => counted(created(model), model, spent),
  };
}

/** Makes what speaks to a model; to one that was recorded, as it was spoken to then. Loaded when it is needed. */
function providers(
  { options }: Setting,
  { log, keyFor }: Pick<World, 'log' | 'keyFor'>,
): (model: Model) => Provider {
  const replay = options.replay === undefined ? undefined : replaying(options.replay);
  const record = options.record === undefined ? undefined : recording(fetch, options.record);
  return (asked) => {
    // Nobody is asked, so that any model will do.
    const endpoint = replay ? { ...asked.endpoint, wire: replay.wire } : asked.endpoint;
    const model = { ...asked, endpoint };
    let made: Promise<Provider> | undefined;
    const provider = () =>
      (made ??= import('./providers/create-provider.ts').then(({ createProvider }) =>
        createProvider(model, {
          // What a provider says may repeat what it was sent.
          failed: ({ code, facts }) => log([nameOf(model), code, facts.status ?? ''].join(' ').trim()),
          key: async () => (replay ? 'none' : keyFor(model.endpoint)),
          fetch: replay?.fetch ?? record ?? fetch,
          ...(replay && { sleep: async () => {} }),
        }),
      ));
    return {
      async *stream(request, signal) {
        yield* (await provider()).stream(request, signal);
      },
      warm: () => void provider().then((one) => one.warm?.()),
    };
  };
}
