import type { CallPlan, Tool } from '../toolbox/tool.ts';
import type { Mode } from '../turn/turn-event.ts';

/** A call whose tool exists and whose arguments fit its schema: nothing else gets as far as a decision. */
export interface CheckedCall {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  /** What our own server says of it. */
  readonly plan?: CallPlan;
}

/** A standing decision of the person. */
export interface Rule {
  readonly effect: 'allow' | 'ask' | 'deny';
  /** `*` stands for any characters in each of them. */
  readonly server: string;
  readonly tool: string;
  /** For each named argument a pattern with `*` that its value has to fit. */
  readonly args?: Readonly<Record<string, string>>;
  /** A pattern that the act of a plan has to fit, in one line: `npx vitest *`. */
  readonly act?: string;
  /** An allow rule made in `ask` holds in ask and auto; one made in auto only there. Never in plan. */
  readonly mode?: Mode;
  /** Rules made at the prompt hold only for the very server and definition they were made for; written ones for any. */
  readonly identity?: string;
  readonly definition?: string;
  /** The same for a rule that is for a whole server: the tools it had, as they were. */
  readonly definitions?: readonly string[];
  /** Absolute path of the project it is for; without it, everywhere. */
  readonly project?: string;
  readonly source: 'flag' | 'session' | 'project' | 'user';
  /** ISO time it was made at the prompt. */
  readonly at?: string;
}

export interface Verdict {
  readonly effect: 'allow' | 'ask' | 'deny';
  /** The rule, the annotation or the mode that decided. */
  readonly why: string;
  /** The same in a person's words, for the question. */
  readonly told?: string;
  /** Only a person who could be asked was missing. */
  readonly unasked?: true;
}

/** What the person said to a question. */
export type Answer =
  | { readonly answer: 'once' | 'always' | 'session' | 'tool' | 'server' | 'no' | 'stop' }
  /** Not this; the words go to the model. */
  | { readonly answer: 'feedback'; readonly text: string };
