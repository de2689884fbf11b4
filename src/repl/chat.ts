import { existsSync } from 'node:fs';
import {
  type CheckedCall,
  type PermissionRule,
  addRule,
  parseRule,
  readRules,
  ruleFor,
} from './approval/rules.ts';
import { inProfile, profileNamed, profilePrompt, type Profile } from './config/config.ts';
import { ChatError } from './errors.ts';
import { askModelServer } from './models/ask-server.ts';
import { nameOf, type Model } from './models/model.ts';
import type { Terminal } from './terminal/terminal.ts';
import { type InstructionLocations, usualPrompt } from './prompt/instructions.ts';
import { ContextUpdates } from './prompt/context-updates.ts';
import type { ModelProvider } from './providers/create-provider.ts';
import type { EntryBody } from './session/entry.ts';
import type { ChatSession } from './session/session.ts';
import type { ClientTool } from './toolbox/tool.ts';
import type { Mode } from './turn/turn-event.ts';
import type { ChatEnvironment } from './environment.ts';

/**
 * A conversation: what commands change and a turn reads. What was set is what the entries of its session say.
 * A sub-agent is made of it with Object.create, which has no fields named with `#`.
 */
export class Chat {
  readonly environment: ChatEnvironment;
  readonly person: Terminal | undefined;
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Answers of the model in one turn. */
  readonly maxIterations: number;
  session: ChatSession;
  model: Model;
  provider: ModelProvider;
  profile: Profile | undefined;
  /** Thinking, switched on or off: true and false are said to the model, undefined leaves it to it. */
  thinking?: boolean;
  /** The person knows that the tools alone fill the window. */
  toolsFill?: boolean;
  /** A line for each call that was refused because nobody could be asked about it. */
  readonly unasked: string[] = [];
  readonly contextUpdates = new ContextUpdates();
  /** Resolves when every server is there, or has failed, or has had its time. */
  connected: Promise<void> = Promise.resolve();
  /** Switched on by the flag alone, and off by whatever sets a mode. */
  private yolo: boolean;
  /** Rules of the command line, those made for this session only, and those that are kept. */
  private readonly flagRules: readonly PermissionRule[];
  private readonly sessionRules: PermissionRule[] = [];
  private savedRules: readonly PermissionRule[];
  private readonly builtInTools: (chat: Chat) => readonly ClientTool[];

  constructor(
    environment: ChatEnvironment,
    session: ChatSession,
    initial: { model: Model; profile: Profile | undefined; builtInTools(chat: Chat): readonly ClientTool[] },
  ) {
    const { options, config, folders } = environment;
    this.environment = environment;
    this.person = environment.person;
    this.session = session;
    this.profile = initial.profile;
    this.builtInTools = initial.builtInTools;
    this.model = initial.model;
    this.provider = environment.providerFor(initial.model);
    this.maxIterations = options.maxTurns ?? config.maxTurns;
    if (options.schema) this.schema = options.schema;
    this.yolo = options.mode === 'yolo';
    this.flagRules = (['deny', 'ask', 'allow'] as const).flatMap((effect) =>
      options.rules[effect].map((text) => parseRule(text, effect, 'flag')),
    );
    this.savedRules = readRules(folders.config, options.cwd);
    // It throws for a variable that is not known.
    this.system();
  }

  get mode(): Mode {
    if (this.yolo) return 'yolo';
    return this.session.state.mode ?? this.profile?.mode ?? this.environment.config.mode ?? 'ask';
  }

  /** Absolute folders that servers may touch. */
  get roots(): readonly string[] {
    const there = this.session.state.roots?.filter((root) => existsSync(root)) ?? [];
    return there.length > 0 ? there : this.environment.roots;
  }

  /** The folder in which relative paths of the person begin. */
  get folder(): string {
    return this.roots[0] ?? this.environment.options.cwd;
  }

  /** True when the conversation is written to a file, which the first message makes. */
  get isKept(): boolean {
    return this.session.file !== undefined || this.environment.options.session !== 'none';
  }

  /** The folders in which instructions for agents are looked for. */
  get instructionLocations(): InstructionLocations {
    return { roots: this.roots, cwd: this.environment.options.cwd, config: this.environment.folders.config };
  }

  rules(): readonly PermissionRule[] {
    return [...this.flagRules, ...this.sessionRules, ...this.savedRules, ...this.environment.config.rules];
  }

  tools(): readonly ClientTool[] {
    const { profile } = this;
    const all = [...this.builtInTools(this), ...this.environment.toolbox.tools()];
    return all
      .filter((tool) => tool.builtIn || !profile || inProfile(tool, profile))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Builds the system prompt, the same bytes each time so that prompt caches hold: the time and the mode are
   * told in messages.
   */
  system(): string {
    const { options, config, toolbox } = this.environment;
    const texts = (this.contextUpdates.systemInstructions ?? []).map((file) => file.text);
    const follow = 'The person and the project ask you to follow these; the later ones count more:';
    const said = toolbox.instructions();
    const parts = [
      (this.session.state.system ?? config.systemPrompt) || usualPrompt,
      `The working folder is ${options.cwd} (${process.platform}). You are the model ${this.model.id}.`,
      this.profile ? profilePrompt(this.profile, options) : '',
      ...(texts.length > 0 ? [follow, ...texts] : []),
      ...(said === '' ? [] : ['What the servers say about their tools:', said]),
    ];
    return parts.flatMap((part) => part.trim() || []).join('\n\n');
  }

  useMode(mode: Mode): void {
    this.yolo = false;
    if (this.session.state.mode !== mode && mode !== 'yolo') this.session.append({ type: 'set', mode });
  }

  /** A server on this machine knows its model better than any table does: its window, and what it can do. */
  async askModel(): Promise<void> {
    const { model } = this;
    // A recording has no server behind it.
    if (this.environment.options.replay !== undefined) return;
    const better = await askModelServer(model);
    if (this.model === model) this.useModel(better);
  }

  /** Uses a model for now: the session is not told. */
  useModel(model: Model): void {
    this.model = model;
    this.provider = this.environment.providerFor(model);
  }

  /**
   * Takes a profile into use, or none. Throws ChatError for one that cannot be used; nothing has changed
   * then.
   */
  async useProfile(name: string | undefined): Promise<void> {
    const profile = name === undefined ? undefined : await profileNamed(name, this.environment);
    if (profile) profilePrompt(profile, this.environment.options);
    if (profile?.model !== undefined) this.environment.modelOf(profile.model);
    this.session.append(profileEntry(profile));
    await this.followSession();
  }

  /** Goes on with another session. */
  async useSession(next: ChatSession): Promise<void> {
    if (next !== this.session) this.session.close();
    this.session = next;
    this.sessionRules.length = 0;
    this.contextUpdates.reset();
    await this.followSession();
  }

  async useRoots(roots: readonly string[]): Promise<void> {
    this.session.append({ type: 'set', roots });
    await this.environment.toolbox.rootsChanged();
  }

  /** Keeps what a lasting answer stands for. `tools`: those there were when it was asked. */
  remember(answer: 'session' | 'tool' | 'server', call: CheckedCall, tools: readonly ClientTool[]): void {
    const { folders, options } = this.environment;
    const rule = ruleFor(answer, call, { tools, project: options.cwd });
    if (answer === 'session') {
      this.sessionRules.push(rule);
      return;
    }
    try {
      addRule(folders.config, rule);
      this.savedRules = readRules(folders.config, options.cwd);
    } catch (error) {
      // What was allowed is allowed, whether or not it can be kept.
      this.sessionRules.push({ ...rule, source: 'session' });
      this.environment.warn(
        `It holds for this session only: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** Follows what the session says: profile, model, folders. What is gone is told, and left as it is. */
  private async followSession(): Promise<void> {
    const { config, toolbox, modelOf, warn } = this.environment;
    const { profile: named = config.profile } = this.session.state;
    const keepCurrent = (error: unknown): undefined => {
      if (!(error instanceof ChatError)) throw error;
      warn(`${error.message} ${nameOf(this.model)} goes on with this session.`);
    };
    this.profile = named ? await profileNamed(named, this.environment).catch(keepCurrent) : undefined;
    const name = this.session.state.model ?? this.profile?.model;
    try {
      const model = modelOf(name);
      if (nameOf(model) !== nameOf(this.model)) this.useModel(model);
    } catch (error) {
      const isUnset = name === undefined && error instanceof ChatError && error.code === 'NO_MODEL';
      if (!isUnset) keepCurrent(error);
    }
    warnAboutMissingRoots(this);
    void toolbox.rootsChanged();
  }
}

/** The entry of a profile that is taken into use, with what it brings along. */
export function profileEntry(profile: Profile | undefined): EntryBody {
  const { name = null, mode, model } = profile ?? {};
  return { type: 'set', profile: name, ...(mode && { mode }), ...(model !== undefined && { model }) };
}

export function warnAboutMissingRoots(chat: Chat): void {
  const gone = chat.session.state.roots?.filter((root) => !existsSync(root)) ?? [];
  if (gone.length > 0) chat.environment.warn(`No longer there, and left out: ${gone.join(', ')}`);
}
