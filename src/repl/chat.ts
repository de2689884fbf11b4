import { join } from 'node:path';
import type { Agent, Person } from './agent.ts';
import { parseRule, readRules } from './approval/rules.ts';
import type { Rule } from './approval/approval.ts';
import type { ChatConfig } from './config/config.ts';
import { profilePrompt, type Profile } from './config/profiles.ts';
import { globMatches } from './glob.ts';
import type { Model } from './models/model.ts';
import { environmentOf, noteOfChange, type Environment } from './prompt/environment.ts';
import { readInstructions, type Instructions } from './prompt/instructions.ts';
import { systemPrompt } from './prompt/system-prompt.ts';
import type { Provider } from './providers/provider.ts';
import type { ChatOptions } from './options.ts';
import type { EntryBody, Todo } from './session/entry.ts';
import type { Session } from './session/session.ts';
import type { Store } from './session/store.ts';
import { keepPart, loadPart } from './session/stored-parts.ts';
import type { Tool } from './toolbox/tool.ts';
import type { Toolbox } from './toolbox/toolbox.ts';
import type { Mode } from './turn-event.ts';

/** What a running chat is made of. */
export interface World {
  readonly options: ChatOptions;
  readonly config: ChatConfig;
  /** Where configuration, sessions and the rest are kept. */
  readonly folders: { readonly config: string; readonly state: string };
  readonly store: Store;
  readonly toolbox: Toolbox;
  readonly ownTools: (chat: Chat) => readonly Tool[];
  readonly person: ((chat: Chat) => Person) | undefined;
  /** A line for the person. */
  warn(text: string): void;
  modelOf(name: string | undefined): Model;
  providerFor(model: Model): Provider;
}

/** A conversation with its settings: what commands change and a turn reads. */
export interface Chat extends Agent {
  readonly world: World;
  /** Resolves when every server is there, or has failed, or has had its time. */
  connected: Promise<void>;
  roots: readonly string[];
  profile: Profile | undefined;
  /** Rules made for this session only. */
  readonly sessionRules: Rule[];
  useModel(model: Model): void;
  useMode(mode: Mode): void;
  useSession(session: Session): void;
  useProfile(profile: Profile | undefined): void;
  useRoots(roots: readonly string[]): Promise<void>;
  /** Replaces the system prompt of this session; null brings the usual one back. */
  useSystem(text: string | null): void;
  /** Rules that were kept have changed. */
  readRulesAgain(): void;
  /** Instructions and what else has changed since the model was last told; to be said with the next message. */
  news(): Promise<string | undefined>;
  /** Is told to the model with the next message. */
  tell(note: string): void;
}

/** Puts a chat together; nothing is read or started but the rules. */
export function createChat(world: World, session: Session, model: Model): Chat {
  const { options, config, folders, toolbox } = world;
  const written = [
    ...options.rules.deny.map((text) => parseRule(text, 'deny', 'flag')),
    ...options.rules.ask.map((text) => parseRule(text, 'ask', 'flag')),
    ...options.rules.allow.map((text) => parseRule(text, 'allow', 'flag')),
  ];
  let kept = readRules(folders.config, options.cwd);
  let instructions: Instructions = { text: '', files: [] };
  /** What the system prompt has of them: it stays as it is, and changes are told in a message, so that prompt caches hold. */
  let first: Instructions | undefined;
  let told: Environment | undefined;
  let notes: string[] = [];
  let system: { readonly key: string; readonly text: string } | undefined;

  const last = <T extends EntryBody['type']>(type: T) =>
    chat.session.path().findLast((entry) => entry.type === type) as
      | Extract<EntryBody, { type: T }>
      | undefined;

  const chat: Chat = {
    world,
    connected: Promise.resolve(),
    warn: world.warn,
    session,
    model,
    provider: world.providerFor(model),
    mode: options.mode ?? config.mode ?? 'ask',
    compactionFailed: false,
    limits: {
      rounds: options.maxTurns ?? config.maxTurns,
      autoCompact: config.compaction.auto,
      ...(config.compaction.window === undefined ? {} : { window: config.compaction.window }),
    },
    hooks: config.hooks,
    person: undefined,
    roots: options.roots,
    profile: undefined,
    sessionRules: [],
    ...(options.schema ? { schema: options.schema } : {}),
    tools() {
      const { profile } = chat;
      const all = [...world.ownTools(chat), ...toolbox.tools()];
      const wanted = all.filter((tool) => tool.server === 'chat' || !profile || inProfile(tool, profile));
      return wanted.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    rules: () => [...written, ...chat.sessionRules, ...kept, ...config.rules],
    system() {
      const own = last('system')?.text ?? undefined;
      const key = JSON.stringify([
        own,
        chat.profile?.name,
        first?.files,
        toolbox.instructions(),
        chat.model.id,
      ]);
      if (system?.key !== key) {
        const profile =
          chat.profile &&
          profilePrompt(chat.profile, options.variables, { cwd: options.cwd, env: options.env });
        const text = systemPrompt({
          ...((own ?? config.systemPrompt) ? { base: own ?? config.systemPrompt } : {}),
          ...(profile ? { profilePrompt: profile } : {}),
          instructions: first?.text ?? '',
          serverInstructions: toolbox.instructions(),
          cwd: options.cwd,
          platform: options.platform,
          model: chat.model.id,
        });
        system = { key, text };
      }
      return system.text;
    },
    load: (stored) => loadPart(join(folders.state, 'attachments'), stored),
    keep: (image, name) =>
      keepPart(join(folders.state, 'attachments'), {
        bytes: Buffer.from(image.data, 'base64'),
        mimeType: image.mimeType,
        name,
      }),
    useModel(next) {
      chat.model = next;
      chat.provider = world.providerFor(next);
    },
    useMode(mode) {
      if (mode === chat.mode) return;
      chat.mode = mode;
      chat.session.append({ type: 'mode', mode });
    },
    useSession(next) {
      if (next !== chat.session) chat.session.close();
      chat.session = next;
      chat.compactionFailed = false;
      chat.sessionRules.length = 0;
      [told, first] = [undefined, undefined];
      notes = [];
      const mode = last('mode')?.mode;
      // Nothing but a flag switches questions off.
      if (mode && mode !== 'yolo' && options.mode === undefined) chat.mode = mode;
      const roots = last('roots')?.roots ?? options.roots;
      if (roots.join('\n') !== chat.roots.join('\n')) {
        chat.roots = roots;
        void toolbox.rootsChanged();
      }
    },
    useProfile(profile) {
      chat.profile = profile;
      if (profile?.mode && options.mode === undefined) chat.mode = profile.mode;
      if (profile?.model && options.model === undefined) chat.useModel(world.modelOf(profile.model));
    },
    async useRoots(roots) {
      chat.roots = roots;
      chat.session.append({ type: 'roots', roots });
      await toolbox.rootsChanged();
    },
    useSystem(text) {
      chat.session.append({ type: 'system', text });
    },
    readRulesAgain() {
      kept = readRules(folders.config, options.cwd);
    },
    async news() {
      instructions = await readInstructions(
        { roots: chat.roots, cwd: options.cwd, config: folders.config },
        instructions,
      );
      first ??= instructions;
      const now = environmentOf({ roots: chat.roots, mode: chat.mode, instructions, date: new Date() });
      const change = noteOfChange(told, now);
      told = now;
      const all = [...(change === undefined ? [] : [change]), ...notes];
      notes = [];
      return all.length === 0 ? undefined : all.join('\n');
    },
    tell(note) {
      notes.push(note);
    },
  };
  return Object.assign(chat, { person: world.person?.(chat) });
}

/** The list of what is to be done, as the model last wrote it on this branch. */
export function todosOf({ session }: Pick<Agent, 'session'>): readonly Todo[] {
  const entry = session.path().findLast(({ type }) => type === 'todos');
  return entry?.type === 'todos' ? entry.todos : [];
}

function inProfile({ name, tool, server }: Tool, { tools, servers }: Profile): boolean {
  if (servers && !servers.includes(server)) return false;
  if (!tools) return true;
  const excluded = tools.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  const included = tools.filter((glob) => !glob.startsWith('!'));
  const fits = (glob: string) => globMatches(glob, tool) || globMatches(glob, name);
  return (included.length === 0 || included.some(fits)) && !excluded.some(fits);
}
