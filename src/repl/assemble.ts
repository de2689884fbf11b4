import { Chat, chosenFor, setIn, warnOfGone, type World } from './chat.ts';
import { readChatConfig, type ChatConfig } from './config/config.ts';
import { readProfiles, type Profile } from './config/profiles.ts';
import { ChatError } from './errors.ts';
import { chatFolders } from './files/folders.ts';
import { openLog } from './files/log.ts';
import { runProgram } from './files/program.ts';
import { askModelServer, findModel } from './models/ask-server.ts';
import { endpointsOf, hasKey, localNames, resolveModel, withoutKeys } from './models/endpoints.ts';
import { keyOf } from './models/key.ts';
import { nameOf, type Model } from './models/model.ts';
import type { ChatOptions } from './options.ts';
import { ownTools } from './own-tools/own-tools.ts';
import { askForm } from './person/form.ts';
import { confirmNow, Person } from './person/person.ts';
import { createProvider } from './providers/create-provider.ts';
import { recording, replaying, type Replay } from './providers/recording.ts';
import { knownRefusals } from './providers/refusals.ts';
import { ownServer } from './servers.ts';
import { openSession } from './session-choice.ts';
import type { Session } from './session/session.ts';
import { Store } from './session/store.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';
import { Toolbox } from './toolbox/toolbox.ts';
import { traceTo } from './toolbox/trace.ts';
import { counted, nothingSpent } from './turn/spent.ts';

/** A password manager may ask the person for its own password. */
const keyCommandMs = 120_000;
const runKeyCommand = (argv: readonly string[]) => runProgram(argv, { timeoutMs: keyCommandMs });

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
  const { replay, ...world } = worldOf(setting, terminal, () => chat.current?.roots ?? options.roots);
  const session = await openSession(options, store, terminal);
  obeyFlags(session, world);
  const { profile: named = config.profile } = session.settings;
  const profile = named ? await world.profileOf(named) : undefined;
  // An alias knows more of a model than its name does.
  const name = options.model ?? chosenFor(session, profile, config).model;
  const model = replay ? replayedModel(name, world) : await firstModel(name, world, terminal);
  const made = new Chat(world, session, { model, profile });
  chat.current = made;
  warnOfGone(made, session.settings.roots ?? []);
  world.log(`toolcrib ${options.version} starts: ${nameOf(model)}, mode ${made.mode}`);
  return made;
}

/** What is said on the command line is newer than what the session says. Throws USAGE for no model. */
function obeyFlags(session: Session, { options, modelOf }: World): void {
  const { profile, mode, roots } = options;
  const { since, ...set } = session.settings;
  if (profile !== undefined && (set.profile !== profile || since.mode || since.model))
    session.append({ type: 'profile', name: profile });
  if (options.model !== undefined) {
    const model = nameOf(modelOf(options.model));
    if (setIn(session).model !== model) session.append({ type: 'model', model });
  }
  if (mode && mode !== 'yolo' && setIn(session).mode !== mode) session.append({ type: 'mode', mode });
  if (options.rootsGiven && set.roots?.join('\n') !== roots.join('\n'))
    session.append({ type: 'roots', roots });
}

function worldOf(
  { options, folders, config, store }: Setting,
  terminal: Terminal | undefined,
  roots: () => readonly string[],
): World & { readonly replay: Replay | undefined } {
  const { env } = options;
  const person = terminal?.interactive ? new Person(terminal) : undefined;
  const log = openLog(folders.state);
  const warn = (text: string) => {
    log.write(text);
    if (terminal) terminal.note(terminal.paint.warning(`! ${printable(text)}`));
    else process.stderr.write(`toolcrib: ${printable(text)}\n`);
  };
  const replay = options.replay === undefined ? undefined : replaying(options.replay, warn);
  const record = options.record === undefined ? undefined : recording(fetch, options.record, warn);
  // A recording has what was refused, too: what is remembered elsewhere would change what is asked.
  const refusals = knownRefusals(replay || record ? undefined : folders.state);
  const spent = nothingSpent();
  return {
    options,
    config,
    folders,
    store,
    person,
    warn,
    spent,
    replay,
    ownTools,
    log: (text) => log.write(text),
    toolbox: new Toolbox({
      servers: ownServer(options),
      roots,
      elicit: async (request) =>
        person ? person.inTurn(() => askForm(person.terminal, request)) : { action: 'decline' },
      warn,
      log: (text) => log.write(text),
      ...(options.trace === undefined ? {} : { trace: traceTo(options.trace) }),
      env: withoutKeys(config, env),
      clientInfo: { name: 'toolcrib-chat', version: options.version },
    }),
    modelOf: (name) => resolveModel(name, config, env),
    profileOf: (name) => profileNamed(name, { options, config, folders }, warn),
    providerFor(model) {
      const provider = createProvider(replay ? asRecorded(model, replay) : model, {
        refusals,
        // What a provider says may repeat what it was sent.
        failed: ({ code, facts }) => log.write([nameOf(model), code, facts.status ?? ''].join(' ').trim()),
        key: async () => (replay ? 'none' : keyOf(model.endpoint, env, runKeyCommand)),
        fetch: replay?.fetch ?? record ?? fetch,
        ...(replay && { sleep: async () => {} }),
      });
      return counted(provider, model, spent);
    },
  };
}

/** The profiles there are, by name. Throws ChatError CONFIG_INVALID. */
export async function profilesOf(
  { options, config, folders }: Pick<World, 'options' | 'config' | 'folders'>,
  warn: (text: string) => void,
): Promise<ReadonlyMap<string, Profile>> {
  const { profiles, warnings } = await readProfiles({ config: folders.config, project: options.cwd }, config);
  for (const warning of warnings) warn(warning);
  return profiles;
}

async function profileNamed(
  name: string,
  world: Pick<World, 'options' | 'config' | 'folders'>,
  warn: World['warn'],
): Promise<Profile> {
  const profiles = await profilesOf(world, warn);
  const profile = profiles.get(name);
  if (profile) return profile;
  const names = [...profiles.keys()].join(', ') || 'none';
  throw new ChatError('USAGE', `There is no profile "${name}". There are: ${names}.`);
}

/** A server on this machine knows its model better than any table does: its window, and what it can do. */
export async function askModelItself(chat: Chat): Promise<void> {
  const { model, world } = chat;
  // A recording has no server behind it.
  if (world.options.replay !== undefined) return;
  const better = await askModelServer(model);
  if (chat.model === model) chat.useModel(better);
}

/** The model, spoken to as the recorded one was: nobody is asked, so that any will do. */
const asRecorded = (model: Model, { wires }: Replay): Model => {
  const [wire = model.endpoint.wire] = wires.includes(model.endpoint.wire) ? [] : wires;
  return { ...model, endpoint: { ...model.endpoint, wire } };
};

function replayedModel(name: string | undefined, { modelOf }: World): Model {
  try {
    return modelOf(name);
  } catch (error) {
    if (name !== undefined || !(error instanceof ChatError) || error.code !== 'NO_MODEL') throw error;
    return modelOf('openai/replayed');
  }
}

/**
 * The model of that name, or the one the configuration or a key in the environment stands for; else the first of an
 * endpoint that was moved and has a key; else one that answers on this machine, if the person wants it. Throws
 * ChatError NO_MODEL, with what to do.
 */
async function firstModel(
  name: string | undefined,
  { modelOf, options, config, warn }: World,
  terminal: Terminal | undefined,
): Promise<Model> {
  const { env } = options;
  try {
    return modelOf(name);
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    if (name !== undefined && options.model === undefined && error.code !== 'CONFIG_INVALID') {
      // A session's own model may be gone from the configuration.
      const other = await firstModel(undefined, { modelOf, options, config, warn } as World, terminal);
      warn(`${error.message} ${nameOf(other)} goes on with this session.`);
      return other;
    }
    if (error.code !== 'NO_MODEL' || name !== undefined) throw error;
    const endpoints = endpointsOf(config, env);
    const keyed = endpoints.filter((each) => each.keyVariables.length > 0 && hasKey(each, env));
    const own = endpoints.filter((each) => each.local && localNames.includes(each.name));
    const found = await findModel([...keyed, ...own], (each) => keyOf(each, env, runKeyCommand));
    if (found === undefined) throw error;
    if (keyed.some((each) => found.startsWith(`${each.name}/`))) return modelOf(found);
    if (!terminal?.interactive)
      throw new ChatError('NO_MODEL', `${error.message}\nOne answers on this machine: --model ${found}`);
    terminal.note(printable(error.message));
    const line = `${printable(found)} answers on this machine. Use it? `;
    if (!(await confirmNow(terminal, line))) throw new ChatError('NO_MODEL', 'No model was chosen.');
    return modelOf(found);
  }
}
