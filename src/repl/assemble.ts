import { join } from 'node:path';
import { Chat, profileEntry, warnAboutMissingRoots } from './chat.ts';
import { openSession } from './commands/sessions.ts';
import { readMcpConfig } from './config/mcp-config.ts';
import { profileNamed } from './config/config.ts';
import { ChatError } from './errors.ts';
import { findModel } from './models/ask-server.ts';
import { endpointsOf, hasKey, localNames } from './models/endpoints.ts';
import { nameOf, type Model } from './models/model.ts';
import { builtInTools } from './built-in-tools/built-in-tools.ts';
import type { ChatSession } from './session/session.ts';
import { printable } from './terminal/printable.ts';
import type { Terminal } from './terminal/terminal.ts';
import { settledWithin } from './turn/event-stream.ts';
import { createEnvironment, type ChatSettings, type ChatEnvironment } from './environment.ts';

/**
 * A chat from the command line and the configuration. No server is started and no model asked yet. `terminal`
 * is the person's side; without it, nobody can be asked. Throws ChatError: NO_MODEL, CONFIG_INVALID,
 * SESSION_UNUSABLE.
 */
export async function assemble(settings: ChatSettings, terminal: Terminal | undefined): Promise<Chat> {
  const { options, config, store } = settings;
  // Set when there is a chat: until then, servers are not started.
  let chat: Chat | undefined;
  const environment = createEnvironment(settings, terminal, () => chat?.roots ?? environment.roots);
  const session = await openSession(options, store, { terminal, warn: environment.warn });
  await applyFlags(session, environment);
  const { profile: named = config.profile, model: known } = session.state;
  const profile = named ? await profileNamed(named, environment) : undefined;
  // An alias knows more of a model than its name does.
  const name = options.model ?? known ?? profile?.model;
  const model = await firstModel(name, environment);
  chat = new Chat(environment, session, { model, profile, builtInTools });
  warnAboutMissingRoots(chat);
  environment.log(`toolcrib ${options.version} starts: ${nameOf(model)}, mode ${chat.mode}`);
  return chat;
}

/**
 * Applies the command line, which is newer than what the session says. Throws USAGE for no profile, or no
 * model.
 */
async function applyFlags(session: ChatSession, environment: ChatEnvironment): Promise<void> {
  const { options, modelOf } = environment;
  const { profile, model, mode, roots } = options;
  if (profile !== undefined) session.append(profileEntry(await profileNamed(profile, environment)));
  if (model !== undefined) session.append({ type: 'set', model: nameOf(modelOf(model)) });
  if (mode && mode !== 'yolo') session.append({ type: 'set', mode });
  if (roots) session.append({ type: 'set', roots });
}

/**
 * The model of that name, or the one the configuration or a key in the environment stands for; else the first
 * of an endpoint that was moved and has a key; else one that answers on this machine, if the person wants it.
 * Throws ChatError NO_MODEL, with what to do.
 */
async function firstModel(name: string | undefined, environment: ChatEnvironment): Promise<Model> {
  const { modelOf, options, warn } = environment;
  try {
    return modelOf(name);
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    if (name !== undefined && options.model === undefined && error.code !== 'CONFIG_INVALID') {
      // A session's own model may be gone from the configuration.
      const other = await firstModel(undefined, environment);
      warn(`${error.message} ${nameOf(other)} goes on with this session.`);
      return other;
    }
    if (error.code !== 'NO_MODEL' || name !== undefined) throw error;
    // A recording needs none that answers.
    if (options.replay !== undefined) return modelOf('openai/replayed');
    return modelOf(await findAnsweringModel(error, environment));
  }
}

async function findAnsweringModel(
  error: ChatError,
  { options: { env }, config, keyFor, person }: ChatEnvironment,
): Promise<string> {
  const endpoints = endpointsOf(config, env);
  const keyed = endpoints.filter((each) => each.keyVariables.length > 0 && hasKey(each, env));
  const own = endpoints.filter((each) => each.local && localNames.includes(each.name));
  const found = await findModel([...keyed, ...own], keyFor);
  if (found === undefined) throw error;
  if (keyed.some((each) => found.startsWith(`${each.name}/`))) return found;
  if (!person)
    throw new ChatError('NO_MODEL', `${error.message}\nOne answers on this machine: --model ${found}`);
  person.note(printable(error.message));
  if (await person.confirm(`${printable(found)} answers on this machine. Use it?`)) return found;
  throw new ChatError('NO_MODEL', 'No model was chosen.');
}

/**
 * Starts the servers: our own, those of the person's mcp.json and of files named on the command line; of one
 * name, the last counts. Resolves when they are there or `patienceMs` are over; what is wrong with one is
 * told.
 */
export async function connect(chat: Chat, patienceMs: number): Promise<void> {
  const { toolbox, ownServers, options, folders, store, warn } = chat.environment;
  const { env, mcpFiles } = options;
  const starting = ownServers.map((server) => toolbox.add(server));
  try {
    const all = await Promise.all([
      readMcpConfig(join(folders.config, 'mcp.json'), { env, needed: false }),
      ...mcpFiles.map((file) => readMcpConfig(file, { env, needed: true })),
    ]);
    const byName = new Map(all.flatMap(({ servers }) => servers).map((server) => [server.name, server]));
    for (const server of byName.values()) starting.push(toolbox.add(server));
    for (const warning of all.flatMap(({ warnings }) => warnings)) warn(warning);
    store.removeExpired();
  } catch (error) {
    // Whatever it is: nobody waits for this, so that it would end the program.
    warn(error instanceof Error ? error.message : String(error));
  }
  await Promise.all([chat.askModel(), settledWithin(patienceMs, Promise.all(starting))]);
  for (const { name, state } of toolbox.servers())
    if (state === 'connecting') warn(`MCP server "${name}" is still starting: its tools come later.`);
  chat.provider.warm();
}
