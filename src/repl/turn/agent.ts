import type { CheckedCall, Rule } from '../approval/approval.ts';
import { isDeniedWhole } from '../approval/decide.ts';
import type { ImagePart, Part } from '../message.ts';
import type { Model } from '../models/model.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Provider } from '../providers/provider.ts';
import type { StoredPart } from '../session/entry.ts';
import type { Session } from '../session/session.ts';
import type { Tool } from '../toolbox/tool.ts';
import type { Hooks } from './hooks.ts';
import type { Mode } from './turn-event.ts';

/**
 * Everything a turn needs. What may change while one runs (the mode, by an approved plan) is read when it is
 * needed.
 */
export interface Agent {
  session: Session;
  model: Model;
  provider: Provider;
  readonly mode: Mode;
  /** Whether to think: true and false are said to the model, undefined leaves it to it. */
  thinking?: boolean;
  /** The person knows that the tools alone fill the window. */
  toolsFill?: boolean;
  readonly limits: Limits;
  readonly hooks: Hooks;
  /** Without one, what would have to be asked is refused. */
  readonly person: Terminal | undefined;
  /** Keeps what a lasting answer stands for. `tools`: those there were when it was asked. */
  remember(answer: 'session' | 'tool' | 'server', call: CheckedCall, tools: readonly Tool[]): void;
  /** A line for each call that was refused because nobody could be asked about it. */
  readonly unasked: string[];
  /** All tools there are now, whatever the mode allows; sorted by name. */
  tools(): readonly Tool[];
  rules(): readonly Rule[];
  /** Told to the person, beside the turn. */
  warn(text: string): void;
  system(): string;
  /** The stored bytes as a part, or a note that they are gone. */
  load(stored: StoredPart): Part;
  keep(image: ImagePart, name: string): StoredPart;
  /** JSON Schema of the last answer, in one-shot use. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

export interface Limits {
  /** Answers of the model in one turn. */
  readonly rounds: number;
  readonly autoCompact: boolean;
  /** Tokens of context to be used, when that is less than the model's window. */
  readonly window?: number;
}

/** The tools the model is told of: in plan mode those that read; never one that a rule takes away as a whole. */
export function offeredTools(agent: Pick<Agent, 'tools' | 'mode' | 'rules'>): readonly Tool[] {
  const rules = agent.rules();
  const fitsMode = ({ annotations, own, tool }: Tool) =>
    agent.mode === 'plan' ? annotations.readOnlyHint === true : !own || tool !== 'exit_plan';
  return agent.tools().filter((tool) => fitsMode(tool) && !isDeniedWhole(tool, rules));
}
