import type { CallPlan, Tool } from '../toolbox/tool.ts';

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
  /** A pattern that the act has to fit: of our own server what it says in one line, of others the arguments as JSON. */
  readonly act?: string;
  /** Rules made at the prompt hold only for the very server and tools they were made for; written ones for any. */
  readonly identity?: string;
  readonly definitions?: readonly string[];
  /** Absolute path of the project it is for; without it, everywhere. */
  readonly project?: string;
  readonly source: 'flag' | 'session' | 'project' | 'user';
  /** ISO time it was made at the prompt. */
  readonly at?: string;
}

export interface Verdict {
  readonly effect: 'allow' | 'ask' | 'deny';
  /** The rule, the annotation or the mode that decided; why it is asked about, as the rest of "it …". */
  readonly why: string;
  /** Only a person who could be asked was missing. */
  readonly unasked?: true;
}

/** What the person said to a question. */
export type Answer =
  | { readonly answer: 'once' | 'always' | 'session' | 'tool' | 'server' | 'no' | 'stop' }
  /** Not this; the words go to the model. */
  | { readonly answer: 'feedback'; readonly text: string };
