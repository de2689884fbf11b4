import type { Person } from './turn/agent.ts';
import { addRule, ruleFor } from './approval/rules.ts';
import { askingPerson } from './person/ask-person.ts';
import { createChat, type Chat, type World } from './chat.ts';
import { readChatConfig, type ChatConfig } from './config/config.ts';
import { readProfiles, type Profile } from './config/profiles.ts';
import { createDialog } from './person/dialog.ts';
import { askForm } from './person/elicit.ts';
import { ChatError } from './errors.ts';
import { chatFolders } from './files/folders.ts';
import { oneAtATime } from './person/in-turn.ts';
import { askYesOrNo } from './person/is-yes.ts';
import { openLog } from './files/log.ts';
import { askLocalModel, findLocalEndpoint } from './models/local-endpoint.ts';
import { resolveModel, withoutKeys } from './models/choose-model.ts';
import { keyOf } from './models/key.ts';
import { nameOf, type Model } from './models/model.ts';
import type { ChatOptions } from './options.ts';
import { ownTools } from './own-tools/own-tools.ts';
import { runProgram } from './files/program.ts';
import { createProvider } from './providers/create-provider.ts';
import type { Provider, ProviderFailure } from './providers/provider.ts';
import { recording, replaying, type Replay } from './providers/recording.ts';
import { keptRefusals } from './providers/kept-refusals.ts';
import { openSession } from './session-choice.ts';
import { ownServer } from './servers.ts';
import { sessionStore, type Store } from './session/store.ts';
import { counted, nothingSpent } from './turn/spent.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';
import { createToolbox } from './toolbox/toolbox.ts';
import { traceTo } from './toolbox/trace.ts';

/** A password manager may ask the person for its own password. */
const keyCommandMs = 120_000;

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
  return {
    options,
    folders,
    config: await readChatConfig(folders.config),
    store: sessionStore(folders.state, options.cwd),
  };
}

/**
 * A chat from the command line and the configuration. No server is started and no model asked yet. `terminal` is
 * the person's side; without it, nobody can be asked. Throws ChatError: NO_MODEL, CONFIG_INVALID, SESSION_UNUSABLE.
 */
export async function assemble(setting: Setting, terminal: Terminal | undefined): Promise<Chat> {
  const { options, folders, config, store } = setting;
  const log = openLog(folders.state);
  const trace = options.trace === undefined ? undefined : traceTo(options.trace);
  // A recording has what was refused, too: what is remembered elsewhere would change what is asked.
  const apart = options.record !== undefined || options.replay !== undefined;
  const refusals = apart ? undefined : keptRefusals(folders.state);
  const modelOf = (name: string | undefined) => resolveModel(name, config, options.env);
  const isKnown = (name: string) => {
    try {
      return modelOf(name) !== undefined;
    } catch {
      return false;
    }
  };
  const runKeyCommand = (argv: readonly string[]) => runProgram(argv, { timeoutMs: keyCommandMs });
  const warn = (text: string) => {
    log.write(text);
    if (terminal) terminal.note(terminal.paint.warning(`! ${printable(text)}`));
    else process.stderr.write(`toolcrib: ${printable(text)}\n`);
  };
  const replay = options.replay === undefined ? undefined : replaying(options.replay, warn);
  const recorder = options.record === undefined ? undefined : recording(fetch, options.record, warn);
  const spent = nothingSpent();
  const inTurn = oneAtATime();
  let chat: Chat | undefined;

  const world: World = {
    options,
    config,
    folders,
    store,
    toolbox: createToolbox({
      servers: ownServer(options),
      roots: () => chat?.roots ?? options.roots,
      elicit: (request) => inTurn(() => askForm(terminal, request)),
      warn,
      log: (text) => log.write(text),
      ...(trace ? { trace } : {}),
      env: withoutKeys(config, options.env),
      clientInfo: { name: 'toolcrib-chat', version: options.version },
    }),
    ownTools: (of) => ownTools(of, terminal?.interactive ? createDialog(terminal, inTurn) : undefined),
    person: terminal?.interactive
      ? (of) => askingPerson(terminal, inTurn, (...said) => remember(of, ...said))
      : undefined,
    warn,
    modelOf,
    spent,
    log: (text) => log.write(text),
    providerFor(model): Provider {
      const common = {
        remembered: refusals,
        // What a provider says may repeat what it was sent.
        failed: ({ code, facts }: ProviderFailure) =>
          log.write([nameOf(model), code, ...(facts.status === undefined ? [] : [facts.status])].join(' ')),
      };
      const provider = replay
        ? createProvider(asRecorded(model, replay), {
            ...common,
            key: async () => 'none',
            fetch: replay.fetch,
            sleep: async () => {},
          })
        : createProvider(model, {
            ...common,
            key: () => keyOf(model.endpoint, options.env, runKeyCommand),
            ...(recorder ? { fetch: recorder } : {}),
          });
      return counted(provider, model, spent);
    },
  };

  const profileName = options.profile ?? config.profile;
  const profile = profileName ? await profileNamed(world, profileName, warn) : undefined;
  const session = await openSession(options, store, terminal);
  const before = session.path().findLast(({ type }) => type === 'model');
  // One that is gone from the configuration is no reason not to start: useSession says so.
  const name =
    options.model ?? (before?.type === 'model' && isKnown(before.model) ? before.model : undefined);
  // A recording needs no model, but what was recorded with one looks the same with it.
  const model = replay
    ? replayedModel(name, modelOf)
    : await firstModel({ name, otherwise: profile?.model }, world, terminal);
  chat = createChat(world, session, model);
  chat.useSession(chat.session);
  if (options.model !== undefined && session.path().length === 0)
    session.append({ type: 'model', model: nameOf(model) });
  const mode = session.path().findLast(({ type }) => type === 'mode');
  // Nothing but a flag switches questions off, each time anew.
  if (options.mode && options.mode !== 'yolo' && (mode?.type !== 'mode' || mode.mode !== options.mode))
    session.append({ type: 'mode', mode: options.mode });
  // What is configured is older than what the session says; a flag is newer.
  if (profile) chat.useProfile(profile, { yields: options.profile === undefined });
  log.write(`toolcrib ${options.version} starts: ${nameOf(chat.model)}, mode ${chat.mode}`);
  return chat;
}

/** The profiles there are, by name. Throws ChatError CONFIG_INVALID. */
export async function profilesOf(
  { options, config, folders }: World,
  warn: (text: string) => void,
): Promise<ReadonlyMap<string, Profile>> {
  const { profiles, warnings } = await readProfiles({ config: folders.config, project: options.cwd }, config);
  for (const warning of warnings) warn(warning);
  return profiles;
}

/** A server on this machine knows its model better than any table does: its window, and what it can do. */
export async function askModelItself(chat: Chat): Promise<void> {
  const { model, world } = chat;
  // A recording has no server behind it.
  if (world.options.replay !== undefined) return;
  const better = await askLocalModel(model, fetch);
  if (chat.model === model) chat.useModel(better);
}

/** Takes the profile of that name into use. Throws ChatError USAGE. */
export async function useNamedProfile(chat: Chat, name: string): Promise<void> {
  chat.useProfile(await profileNamed(chat.world, name, chat.warn));
}

async function profileNamed(world: World, name: string, warn: World['warn']): Promise<Profile> {
  const profiles = await profilesOf(world, warn);
  const profile = profiles.get(name);
  if (!profile)
    throw new ChatError(
      'USAGE',
      `There is no profile "${name}". There are: ${[...profiles.keys()].join(', ') || 'none'}.`,
    );
  return profile;
}

function remember(chat: Chat, ...[answer, call, tools]: Parameters<Person['remember']>): void {
  const rule = ruleFor(answer, call, { mode: chat.mode, tools, project: chat.world.options.cwd });
  if (answer === 'session') return void chat.sessionRules.push(rule);
  try {
    addRule(chat.world.folders.config, rule);
    chat.readRulesAgain();
  } catch (error) {
    // What was allowed is allowed, whether or not it can be kept.
    chat.sessionRules.push({ ...rule, source: 'session' });
    chat.warn(`It holds for this session only: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The model, spoken to as the recorded one was: nobody is asked, so that any will do. */
const asRecorded = (model: Model, { wires }: Replay): Model => {
  const [wire = model.endpoint.wire] = wires.includes(model.endpoint.wire) ? [] : wires;
  return { ...model, endpoint: { ...model.endpoint, wire } };
};

function replayedModel(name: string | undefined, modelOf: World['modelOf']): Model {
  try {
    return modelOf(name);
  } catch (error) {
    if (name !== undefined || !(error instanceof ChatError) || error.code !== 'NO_MODEL') throw error;
    return modelOf('openai/replayed');
  }
}

/**
 * The model of that name, or the one the configuration or a key in the environment stands for; `otherwise` the
 * profile's; else one that answers on this machine, if the person wants it. Throws ChatError NO_MODEL, with what to
 * do.
 */
async function firstModel(
  { name, otherwise }: { readonly name: string | undefined; readonly otherwise: string | undefined },
  { modelOf, options }: World,
  terminal: Terminal | undefined,
): Promise<Model> {
  try {
    return modelOf(name);
  } catch (error) {
    if (!(error instanceof ChatError) || error.code !== 'NO_MODEL') throw error;
    if (name === undefined && otherwise !== undefined) return modelOf(otherwise);
    const found = await findLocalEndpoint(fetch, options.env);
    const local = found?.models[0] === undefined ? undefined : `${found.endpoint}/${found.models[0]}`;
    if (local === undefined) throw error;
    if (!terminal?.interactive)
      throw new ChatError('NO_MODEL', `${error.message}\nOne answers on this machine: --model ${local}`);
    terminal.note(printable(error.message));
    const question = `${printable(local)} answers on this machine. Use it? [y]es [n]o`;
    if (!(await askYesOrNo(terminal.ask, question))) throw new ChatError('NO_MODEL', 'No model was chosen.');
    return modelOf(local);
  }
}
