import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, Person } from './turn/agent.ts';
import { parseRule } from './approval/rule-text.ts';
import { readRules } from './approval/rules.ts';
import type { Rule } from './approval/approval.ts';
import type { ChatConfig } from './config/config.ts';
import { surveyOf } from './context/survey.ts';
import { ChatError } from './errors.ts';
import { inProfile, modeIn, profilePrompt, type Profile } from './config/profiles.ts';
import { nameOf, type Model } from './models/model.ts';
import { environmentOf, noteOfChange, type Environment } from './prompt/environment.ts';
import { readInstructions, type Instructions } from './prompt/instructions.ts';
import { systemPrompt } from './prompt/system-prompt.ts';
import type { Provider } from './providers/provider.ts';
import type { ChatOptions } from './options.ts';
import type { Entry, EntryBody } from './session/entry.ts';
import type { Session } from './session/session.ts';
import type { Spent } from './turn/spent.ts';
import type { Store } from './session/store.ts';
import { keepPart, loadPart } from './session/stored-parts.ts';
import type { Tool } from './toolbox/tool.ts';
import type { Toolbox } from './toolbox/toolbox.ts';
import type { Mode } from './turn/turn-event.ts';

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
  /** A line for the person; `log`: for the log file, which has neither keys nor what was said. */
  warn(text: string): void;
  log(text: string): void;
  modelOf(name: string | undefined): Model;
  providerFor(model: Model): Provider;
  readonly spent: Readonly<Spent>;
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
  /** Goes on from another entry of the session, with the settings as they are now. */
  moveTo(id: string | null): void;
  /** `yields`: where the session has a mode or a model of its own, that stays. */
  useProfile(profile: Profile | undefined, how?: { readonly yields: boolean }): void;
  useRoots(roots: readonly string[]): Promise<void>;
  /** Replaces the system prompt of this session; null brings the usual one back. */
  useSystem(text: string | null): void;
  /** Rules that were kept have changed. */
  readRulesAgain(): void;
  /** Reads the instructions where they have changed; returns those that the system prompt has. */
  readInstructions(): Promise<Instructions>;
  /** Instructions and what else has changed since the model was last told; to be said with the next message. */
  news(): Promise<string | undefined>;
  /** Is told to the model with the next message. */
  tell(note: string): void;
}

/** Puts a chat together; nothing is read or started but the rules. */
export function createChat(world: World, session: Session, model: Model): Chat {
  const { options, config, folders, toolbox } = world;
  const written = (['deny', 'ask', 'allow'] as const).flatMap((effect) =>
    options.rules[effect].map((text) => parseRule(text, effect, 'flag')),
  );
  let kept = readRules(folders.config, options.cwd);
  let instructions: Instructions = { text: '', files: [] };
  /** What the system prompt has of them: it stays as it is, and changes are told in a message, so that prompt caches hold. */
  let first: Instructions | undefined;
  /** What the model was told of its surroundings, and in which words: it knows as long as it can still read them all. */
  let told: { readonly environment: Environment; readonly notes: readonly string[] } | undefined;
  let notes: string[] = [];
  let system: { readonly key: string; readonly text: string } | undefined;

  const last = <T extends EntryBody['type']>(type: T) =>
    chat.session.path().findLast((entry) => entry.type === type) as
      | Extract<EntryBody, { type: T }>
      | undefined;

  /** What the session says of it. Nothing but a flag switches questions off. */
  const ownMode = () => {
    const mode = last('mode')?.mode;
    return mode === 'yolo' ? undefined : mode;
  };

  /** What there was before the profile. */
  let replaced: { mode?: Mode; model?: Model; by?: string } = {};
  const promptOf = (profile: Profile) =>
    profilePrompt(profile, options.variables, { cwd: options.cwd, env: options.env });

  /** A session's own model may be gone from the configuration; without a name, it is the configured one, if there is one. */
  const useNamed = (name: string | undefined) => {
    try {
      const model = world.modelOf(name);
      if (nameOf(model) !== nameOf(chat.model)) chat.useModel(model);
    } catch (error) {
      if (!(error instanceof ChatError)) throw error;
      if (name === undefined && error.code === 'NO_MODEL') return;
      world.warn(`${error.message} ${nameOf(chat.model)} goes on with this session.`);
    }
  };

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
    unasked: [],
    roots: options.roots,
    profile: undefined,
    sessionRules: [],
    ...(options.schema ? { schema: options.schema } : {}),
    tools() {
      const { profile } = chat;
      const all = [...world.ownTools(chat), ...toolbox.tools()];
      const wanted = all.filter((tool) => tool.own || !profile || inProfile(tool, profile));
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
        const profile = chat.profile && promptOf(chat.profile);
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
      chat.mode = mode;
      // The person's own now, even where the profile says the same.
      delete replaced.mode;
      if (last('mode')?.mode !== mode) chat.session.append({ type: 'mode', mode });
    },
    useSession(next) {
      const isNew = next !== chat.session && next.path().length === 0;
      const settings = isNew ? settingsOf(chat.session).filter(({ type }) => type !== 'system') : [];
      if (next !== chat.session) chat.session.close();
      chat.session = next;
      for (const entry of settings) next.append(entry);
      chat.compactionFailed = false;
      chat.sessionRules.length = 0;
      [told, first] = [undefined, undefined];
      notes = [];
      if (!isNew) {
        replaced = {};
        if (options.mode === undefined) chat.mode = ownMode() ?? config.mode ?? 'ask';
        if (options.model === undefined) useNamed(last('model')?.model);
        if (chat.profile) chat.useProfile(chat.profile, { yields: true });
      }
      const wanted = options.rootsGiven ? chat.roots : (last('roots')?.roots ?? options.roots);
      const there = wanted.filter((root) => existsSync(root));
      const gone = wanted.filter((root) => !there.includes(root));
      if (gone.length > 0) world.warn(`No longer there, and left out: ${gone.join(', ')}`);
      const roots = there.length > 0 ? there : options.roots;
      if (roots.join('\n') !== chat.roots.join('\n')) {
        chat.roots = roots;
        void toolbox.rootsChanged();
      }
    },
    moveTo(id) {
      const before = settingsOf(chat.session);
      chat.session.moveTo(id);
      chat.compactionFailed = false;
      // The conversation goes back, and not what the person has set since.
      const now = settingsOf(chat.session);
      for (const entry of before) if (!now.includes(entry)) chat.session.append(entry);
    },
    useProfile(profile, { yields } = { yields: false }) {
      // One that cannot be used throws here, and nothing has changed.
      if (profile) promptOf(profile);
      const keepsModel = options.model !== undefined || (yields && last('model') !== undefined);
      const keepsMode = options.mode !== undefined || (yields && ownMode() !== undefined);
      const model = profile?.model && !keepsModel ? world.modelOf(profile.model) : undefined;
      // What the last one changed goes with it, unless the person has changed it since.
      if (replaced.mode && chat.mode === modeIn(chat.profile, replaced.mode)) chat.mode = replaced.mode;
      if (replaced.model && nameOf(chat.model) === replaced.by) chat.useModel(replaced.model);
      replaced = {};
      chat.profile = profile;
      // One of the same name may have been edited.
      system = undefined;
      if (profile?.mode && !keepsMode) [replaced.mode, chat.mode] = [chat.mode, modeIn(profile, chat.mode)];
      if (!model) return;
      Object.assign(replaced, { model: chat.model, by: nameOf(model) });
      chat.useModel(model);
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
    async readInstructions() {
      const places = { roots: chat.roots, cwd: options.cwd, config: folders.config };
      instructions = await readInstructions(places, instructions);
      first ??= instructions;
      return first;
    },
    async news() {
      const { files } = await chat.readInstructions();
      const now = environmentOf({ roots: chat.roots, mode: chat.mode, instructions, date: new Date() });
      // After /clear, /branch or a summary, it may not be there any more.
      const known = told && told.notes.every(canBeRead(chat.session)) ? told : undefined;
      const change = noteOfChange(known?.environment, now, files);
      told = {
        environment: now,
        notes: [...(known?.notes ?? []), ...(change === undefined ? [] : [change])],
      };
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

/** Whether what is said is written to a file: the first message makes it. */
export const isKept = ({ session, world }: Chat): boolean =>
  session.file !== undefined || world.options.session.kind !== 'none';

/** What the person has set, as the session has it. */
const settingsOf = (session: Session): Entry[] =>
  (['mode', 'model', 'roots', 'system'] as const).flatMap(
    (wanted) => session.path().findLast(({ type }) => type === wanted) ?? [],
  );

/** Whether a note that was told is still among what the model is sent. */
function canBeRead(session: Session): (note: string) => boolean {
  const path = session.path();
  const texts = path
    .slice(surveyOf(path).start)
    .flatMap((entry) => (entry.type === 'user' ? entry.content : []));
  return (note) => texts.some((part) => part.type === 'text' && part.text.includes(note));
}
