import type { AssistantMessage, ToolCall } from '../message.ts';
import type { ModelEvent } from '../providers/provider.ts';
import type { ClientTool, ToolReply } from '../toolbox/tool.ts';

/** An event of a turn, for whoever shows it: the terminal, or `--output stream-json`. */
export type TurnEvent =
  | Exclude<ModelEvent, { readonly type: 'end' }>
  /** One answer of the model is complete; its calls, if any, follow. */
  | { readonly type: 'answer'; readonly message: AssistantMessage }
  /** `seen`: the person was shown a diff of what it changes. */
  | {
      readonly type: 'call_started';
      readonly call: ToolCall;
      readonly tool?: ClientTool;
      readonly seen?: boolean;
    }
  | { readonly type: 'call_progress'; readonly call: ToolCall; readonly message: string }
  | { readonly type: 'call_ended'; readonly call: ToolCall; readonly reply: ToolReply; readonly ms: number }
  | {
      readonly type: 'compacted';
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly by: 'model' | 'fallback';
    }
  | { readonly type: 'warning'; readonly text: string }
  /** A note of what went as it should: which files a message brought along. */
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'ended'; readonly reason: TurnEnd };

export type TurnEnd =
  | 'done'
  | 'length'
  | 'filtered'
  | 'interrupted'
  | 'rounds'
  | 'stopped'
  | 'failed'
  | 'empty';

/**
 * plan: only what reads; ask: anything else is asked; auto: what cannot destroy or reach out is not; yolo:
 * nothing is.
 */
export type Mode = 'plan' | 'ask' | 'auto' | 'yolo';
